"use strict";
const $ = (id) => document.getElementById(id);
const begins = JSON.parse($("begins").textContent);
const HEIGHT = 24; // of a row, in pixels, as in the style
const NUMBERS = 66; // the width of the first column, in pixels
let wide = 0; // the width of the other columns
let run = null; // the execution that is shown
let rows = []; // its rows: the step of each, its thread and its text
let firsts = []; // the first row of each step, and the number of rows
let at = 0; // how many steps were taken
let noting = 0; // the timer that notes it in the address

function make(tag, text, more) {
  return Object.assign(document.createElement(tag), { textContent: text ?? "" }, more);
}
function link({ text, link }) {
  return make("a", text, { href: link, title: "open in VS Code" });
}
function letter(thread) {
  const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return letters[thread] ?? `[${thread}]`;
}
const named = (thread) => `${letter(thread)} ${run.threads[thread]}`;

// The first choices as text: a number behind a thread says how often in a row.
function written(choices) {
  let text = "";
  for (let i = 0; i < choices.length; ) {
    let end = i + 1;
    const isThread = !/^[.=]/.test(choices[i]);
    while (isThread && choices[end] === choices[i]) end++;
    text += choices[i] + (end - i > 1 ? end - i : "");
    i = end;
  }
  return text;
}

// Other pages know no token, so they neither run nor save anything.
const headers = { "X-Seatrial-Token": begins.token };

// Asks for the execution that begins with these choices.
async function ask(choices, position, isNew) {
  clearTimeout(noting);
  document.body.ariaBusy = "true";
  let answer, text;
  try {
    answer = await fetch("/run?choices=" + encodeURIComponent(choices), { headers });
    text = await answer.text();
  } catch {
    text = "seatrial does not answer: is it still running?";
  }
  document.body.ariaBusy = "false";
  if (!answer?.ok) return tell(text, true);
  run = JSON.parse(text);
  lay();
  const where = `#${Math.min(position, run.steps.length)}:${choices}`;
  if (isNew) history.pushState(null, "", where);
  else history.replaceState(null, "", where);
  $("again").hidden = choices === begins.choices;
  $("saved").replaceChildren();
  go(position);
}

// Lays out the rows of the execution: a step has a row for each of its events, or one.
function lay() {
  rows = [];
  firsts = [];
  const end = (step) => run.steps[step + 1]?.events ?? run.lines.length;
  const add = (step, from, to) => {
    for (let event = from; event < to; event++) {
      const line = run.lines[event];
      rows.push({ step, event, thread: line.thread, text: line.text, inside: line.object !== undefined });
    }
  };
  add(-1, 0, run.steps[0]?.events ?? run.lines.length);
  run.steps.forEach((step, number) => {
    firsts.push(rows.length);
    if (end(number) > step.events) add(number, step.events, end(number));
    else rows.push({ step: number, thread: step.by, text: step.does, quiet: true });
  });
  firsts.push(rows.length);
  const heads = make("div", "", { className: "heads", role: "row" });
  heads.append(make("span", "step", { role: "columnheader" }));
  run.threads.forEach((_, thread) => {
    heads.append(make("span", named(thread), { role: "columnheader", title: named(thread) }));
  });
  $("rows").replaceChildren(heads, make("div", "", { id: "space" }));
  $("rows").ariaRowCount = String(rows.length);
  $("rows").ariaColCount = String(run.threads.length + 1);
  fit();
  $("slide").max = run.steps.length;
  const broken = run.broken[0];
  tell(broken ? `${broken.invariant}: ${broken.because}` : `nothing is violated; ${run.end}`, Boolean(broken));
  const promise = run.promises[0]?.[1];
  if (promise) $("verdict").append(" ", link(promise));
  $("witness").textContent = run.witness;
}

// Gives the columns their width: all of them fill the table, and none is too narrow to read.
function fit() {
  const box = $("rows");
  wide = Math.max(150, Math.floor((box.clientWidth - NUMBERS) / run.threads.length));
  const width = `${NUMBERS + wide * run.threads.length}px`;
  box.querySelector(".heads").style.cssText = `width: ${width}; grid-template-columns: ${columns()}`;
  $("space").style.cssText = `width: ${width}; height: ${rows.length * HEIGHT}px`;
}
const columns = () => `${NUMBERS}px repeat(${run.threads.length}, ${wide}px)`;

function tell(text, isBad) {
  $("verdict").className = isBad ? "bad" : "";
  $("verdict").replaceChildren(text);
}

// Draws the rows and columns that are in sight.
function draw() {
  const box = $("rows");
  const space = $("space");
  if (!space) return;
  const from = Math.max(0, Math.floor(box.scrollTop / HEIGHT) - 10);
  const to = Math.min(rows.length, from + Math.ceil(box.clientHeight / HEIGHT) + 20);
  const left = Math.floor(box.scrollLeft / wide);
  const right = Math.min(run.threads.length, left + Math.ceil(box.clientWidth / wide) + 1);
  const source = at > 0 ? run.steps[at - 1].follows : null;
  const broken = new Set(run.broken.map((one) => one.at));
  const drawn = [];
  for (let number = from; number < to; number++) {
    const { step, event, thread, text, quiet, inside } = rows[number];
    const row = make("div", "", { className: "row", role: "row" });
    row.style.cssText = `top: ${number * HEIGHT}px; grid-template-columns: ${columns()}`;
    row.classList.toggle("now", step === at - 1);
    row.classList.toggle("later", step >= at);
    row.classList.toggle("source", source !== null && step === source);
    row.classList.toggle("broken", event !== undefined && broken.has(event));
    row.dataset.step = step;
    const isFirst = step >= 0 && firsts[step] === number;
    row.append(make("span", isFirst ? String(step + 1) : "", { role: "rowheader" }));
    const look = run.steps[Math.max(step, 0)];
    if (thread === null) {
      const cell = make("span", text, { role: "cell", className: "does quiet" });
      cell.style.gridColumn = "2 / -1";
      row.append(cell);
    }
    for (let column = left; column < right && thread !== null; column++) {
      const cell = make("span", "", { role: "cell" });
      cell.style.gridColumn = column + 2;
      if (column === thread) {
        cell.textContent = cell.title = text;
        cell.className = quiet ? "does quiet" : "does";
      }
      const holds = look?.locks.some((lock) => lock.by.includes(column));
      if (holds || (column === thread && inside)) cell.classList.add("holds");
      else if (look?.options.includes(letter(column))) cell.classList.add("lives");
      else if (step >= 0 && does(step)[column]) cell.classList.add("waits");
      row.append(cell);
    }
    drawn.push(row);
  }
  space.replaceChildren(...drawn);
}

// What each thread does next after this many steps: empty for one that has ended.
let known = { run: null, at: 0, all: [] };
function does(position) {
  if (known.run !== run || known.at > position) known = { run, at: -1, all: [] };
  const all = known.all;
  while (known.at < position) {
    known.at++;
    const look = run.steps[known.at] ?? run.rest;
    for (const { thread, does } of look?.threads ?? []) all[thread] = does;
  }
  return all;
}

// Shows the moment after this many steps.
function go(position) {
  at = Math.max(0, Math.min(position, run.steps.length));
  $("slide").value = at;
  $("at").textContent = `${at} of ${run.steps.length}`;
  $("first").disabled = $("back").disabled = at === 0;
  $("last").disabled = $("forth").disabled = at === run.steps.length;
  reveal();
  draw();
  const look = run.steps[at] ?? run.rest;
  showNext(look);
  showStep();
  showLocks(look);
  showStates(run.steps[at]?.events ?? run.lines.length);
  clearTimeout(noting); // a browser refuses too many notes in a row
  noting = setTimeout(() => history.replaceState(null, "", location.hash.replace(/^#\d*/, "#" + at)), 300);
}

// Scrolls to the last step.
function reveal() {
  const box = $("rows");
  const first = at > 0 ? firsts[at - 1] : 0;
  const last = at > 0 ? firsts[at] : 1;
  const head = HEIGHT + 1;
  if (first * HEIGHT < box.scrollTop) box.scrollTop = (first - 2) * HEIGHT;
  if (last * HEIGHT + head > box.scrollTop + box.clientHeight - HEIGHT) {
    box.scrollTop = (last + 3) * HEIGHT + head - box.clientHeight;
  }
  const thread = at > 0 ? run.steps[at - 1].by : null;
  if (thread === null) return;
  const right = NUMBERS + (thread + 1) * wide - box.clientWidth;
  box.scrollLeft = Math.min(Math.max(box.scrollLeft, right), thread * wide);
}

// Takes this choice here: on this way if it is the next step, else on another one.
function choose(choice) {
  if (run.steps[at]?.taken === choice) return go(at + 1);
  const before = run.steps.slice(0, at).map((step) => step.taken);
  return ask(written([...before, choice]), at + 1, true);
}

function button(choice, title, text) {
  const one = make("button", "", { type: "button", onclick: () => choose(choice) });
  one.dataset.choice = choice;
  one.append(make("b", choice), make("span", title), make("small", text));
  one.classList.toggle("taken", run.steps[at]?.taken === choice);
  return one;
}

function showNext(look) {
  const next = $("next");
  next.replaceChildren();
  const step = run.steps[at];
  $("who").textContent = !step ? "The end" : step.answers ? "Which answer" : "Who goes next";
  if (!step) next.append(make("p", run.end));
  if (step?.answers) {
    const answers = make("div", "", { className: "answers" });
    const most = Math.min(step.answers, 64);
    for (let one = 0; one < most; one++) answers.append(button(`=${one}`, "", ""));
    next.append(answers);
    if (most < step.answers) next.append(make("p", `and ${step.answers - most} more`));
    return;
  }
  const texts = [...does(at)];
  const all = [];
  texts.forEach((text, thread) => {
    if (!text) return;
    const one = button(letter(thread), run.threads[thread], text);
    one.disabled = !look?.options.includes(letter(thread));
    all.push(one);
  });
  if (all.length > 12) all.sort((one, other) => one.disabled - other.disabled); // who can move first
  next.append(...all);
  if (look?.options.includes(".")) next.append(button(".", "the clock", "jumps to the next deadline"));
}

function showStep() {
  const said = $("step");
  said.replaceChildren();
  const step = run.steps[at - 1];
  if (!step) return said.append(make("p", "nothing was decided yet", { className: "quiet" }));
  said.append(make("p", step.by === null ? step.does : `${named(step.by)}: ${step.does}`));
  for (const { event, thread, text } of rows.slice(firsts[at - 1], firsts[at])) {
    if (event !== undefined) said.append(make("p", thread === step.by ? text : `${named(thread)}: ${text}`, { className: "event" }));
  }
  if (step.follows !== null) {
    const from = step.follows;
    const jump = make("button", `step ${from + 1}`, { type: "button", onclick: () => go(from + 1) });
    const line = make("p", "It reads what ");
    line.append(jump, ` of ${named(run.steps[from].by)} left there.`);
    said.append(line);
  }
  const time = run.steps[at]?.at_nanos ?? run.rest?.at_nanos ?? step.at_nanos;
  said.append(make("small", `the clock: ${time / 1e6} ms`));
}

function showLocks(look) {
  const list = (look?.locks ?? []).map(({ lock, by, shared }) =>
    make("p", `${shared ? `lock ${lock}, shared by` : `mutex ${lock}:`} ${by.map(named).join(", ")}`));
  $("locks").replaceChildren(...(list.length ? list : [make("small", "none")]));
}

function showStates(events) {
  const last = new Map();
  for (const one of run.states) {
    if (one.events > events) break;
    last.set(one.object, one);
  }
  $("machines").hidden = run.states.length === 0;
  const before = run.steps[at - 1]?.events ?? 0;
  const shown = [...last.values()].map((one) => {
    const text = last.size > 1 ? `${one.object}: ${one.text}` : one.text;
    return make("pre", text, { className: at > 0 && one.events > before ? "new" : "" });
  });
  $("states").replaceChildren(...shown);
}

$("save").onsubmit = async (event) => {
  event.preventDefault();
  const body = JSON.stringify({ choices: written(run.steps.map((step) => step.taken)), name: $("name").value });
  const saved = $("saved");
  try {
    const answer = await fetch("/save", { method: "POST", headers, body });
    if (answer.ok) saved.replaceChildren("saved: ", link(await answer.json()));
    else saved.replaceChildren(await answer.text());
  } catch {
    saved.replaceChildren("seatrial does not answer: is it still running?");
  }
};
$("first").onclick = () => go(0);
$("back").onclick = () => go(at - 1);
$("forth").onclick = () => go(at + 1);
$("last").onclick = () => go(run.steps.length);
$("slide").oninput = () => go(Number($("slide").value));
$("again").onclick = () => ask(begins.choices, at, true);
$("rows").addEventListener("scroll", draw);
$("rows").onclick = (event) => {
  const step = event.target.closest(".row")?.dataset.step;
  if (step !== undefined) go(Number(step) + 1);
};
addEventListener("resize", () => {
  if (!run) return;
  fit();
  draw();
});
addEventListener("keydown", (event) => {
  if (!run || event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input")) return;
  const to = {
    ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: run.steps.length, PageUp: at - 20, PageDown: at + 20,
  }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  go(to);
});
function fromAddress() {
  const [, position, choices] = location.hash.match(/^#(\d*):(.*)$/) ?? [];
  ask(choices === undefined ? begins.choices : decodeURIComponent(choices), Number(position ?? 0), false);
}
addEventListener("popstate", fromAddress);

document.title = `${begins.subject} - seatrial explore`;
$("subject").textContent = begins.subject;
$("says").append(begins.says, " ");
if (begins.stated) $("says").append(link(begins.stated));
fromAddress();
