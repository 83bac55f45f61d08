//! Runs made-up programs on our server and on one that listens, and tells where they differ:
//! `compare ADDRESS:PORT AUTHORITY.pem TOKEN PROGRAMS|FIRST..LAST [FILE.jsonl...]`. Traces from
//! files are replayed on the listening server as well; they hold the answers of another server. If
//! `DIFFERENCES` names a file, the request of each difference is written there. With `PACE=N`, the
//! first N programs are run once more on both, to tell how many requests a second each answers.
//! `FIELDS=all` tries each field of the built-in kinds instead, or of one kind, and prints a table.
//! Watches, and reads of a version that is yet to come, are not counted. With `TRIPLES=N`, that many schemas,
//! objects and changes are judged on both before.

mod triples;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write as _;
use std::ops::Range;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use seatrial_sim::apiserver::{Answer, Events, Request, WatchId};
use seatrial_sim::conformance::{
    DEFINITIONS, Live, Report, Simulated, Step, Target, Trace, fields, program, replay_on, world,
};
use seatrial_sim::http::{Face, Listen, Tls};

const STEPS: usize = 30;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, authority, token, programs, files @ ..] = &arguments[..] else {
        eprintln!("compare ADDRESS:PORT AUTHORITY.pem TOKEN PROGRAMS|FIRST..LAST [FILE.jsonl...]");
        return Ok(ExitCode::from(2));
    };
    let mut live = Live::new(address.parse()?, &std::fs::read_to_string(authority)?, token)?;
    declare(&mut live)?;
    if let Ok(only) = std::env::var("FIELDS") {
        return try_fields(&mut live, &only);
    }
    let triples = std::env::var("TRIPLES").map_or(Ok(0), |it| it.parse())?;
    let wrong = if triples > 0 { triples::judge(&mut live, triples)? } else { 0 };
    if triples > 0 && programs == "0" && files.is_empty() {
        return Ok(ExitCode::from(u8::from(wrong > 0)));
    }
    let mut traces = Vec::new();
    for seed in seeds(programs)? {
        traces.push(("ours", program(seed, STEPS)?));
    }
    for file in files {
        let text = std::fs::read_to_string(file)?;
        for line in text.lines() {
            traces.push(("recorded", Trace::parse(line)?));
        }
    }
    if traces.is_empty() {
        return Err("there is nothing to compare: say how many programs, or name files".into());
    }
    let (begin, mut requests, mut differ) = (Instant::now(), 0, 0);
    let (mut texts, mut notes) = (BTreeMap::new(), String::new());
    for (index, (by, trace)) in traces.iter().enumerate() {
        let namespaces = format!("compared-{}-{index}", std::process::id());
        let report = replay_on(trace, &mut live, &namespaces, &mut |_| requests += 1);
        differ += usize::from(tell(by, trace, &report, &mut notes));
        for (ours, there) in report.texts {
            texts.entry(ours).or_insert(there);
        }
    }
    if let Ok(file) = std::env::var("DIFFERENCES") {
        for (ours, there) in &texts {
            writeln!(notes, "text\n  ours     {ours}\n  there    {there}")?;
        }
        std::fs::write(file, notes)?;
    }
    let seconds = begin.elapsed().as_secs_f64();
    let all = traces.len();
    println!("{differ} of {all} programs and traces differ; {requests} requests in {seconds:.1} s");
    if let Ok(count) = std::env::var("PACE") {
        let traces: Vec<_> = traces.iter().map(|(_, it)| it).take(count.parse()?).collect();
        race(&traces, live)?;
    }
    Ok(ExitCode::from(u8::from(differ + wrong > 0)))
}

/// How often each field of a kind was tried by a verb, how often that was accepted there, and how often
/// ours differed.
type Tally = BTreeMap<(String, String), [usize; 3]>;

/// Tries the fields of the built-in kinds, prints the first difference of each, and a table of what was
/// tried. With a name, only that kind's.
fn try_fields(live: &mut Live, only: &str) -> Result<ExitCode, Box<dyn Error>> {
    let mut tally = Tally::new();
    for (index, tried) in fields()?.iter().enumerate() {
        if !matches!(only, "all" | "") && tried.kind != only {
            continue;
        }
        let namespaces = format!("fields-{}-{index}", std::process::id());
        let report = replay_on(&tried.trace, live, &namespaces, &mut |_| {});
        let differ: BTreeSet<usize> =
            report.departures.iter().filter(|it| !is_chosen(&it.path)).map(|it| it.step).collect();
        for it in report.departures.iter().filter(|it| differ.contains(&it.step)) {
            let (kind, field, path) = (&tried.kind, &tried.field, &it.path);
            let (ours, there) = (&it.recorded, &it.ours);
            println!(
                "{kind} {field} step {} {path}: ours {ours:.150}, there {there:.300}",
                it.step
            );
        }
        for (step, what) in tried.trace.steps.iter().enumerate() {
            let Step::Call { request, response } = what else { continue };
            // The second of three is the valid object that is then changed.
            if step % 3 == 1 && step > 1 {
                continue;
            }
            let verb = request["method"].as_str().unwrap_or("");
            let count = tally.entry((tried.kind.clone(), verb.to_owned())).or_default();
            count[0] += 1;
            count[1] += usize::from(response["status"].as_u64().is_some_and(|it| it < 300));
            count[2] += usize::from(differ.contains(&step));
        }
    }
    println!("| kind | verb | tried | accepted | differ |\n|---|---|--:|--:|--:|");
    for ((kind, verb), [tried, accepted, differ]) in &tally {
        println!("| {kind} | {verb} | {tried} | {accepted} | {differ} |");
    }
    Ok(ExitCode::from(u8::from(tally.values().any(|it| it[2] > 0))))
}

/// Values that a server makes up: addresses, ports of nodes.
fn is_chosen(path: &str) -> bool {
    // A controller takes the finalizers of storage away; without one they would stay for ever.
    let last = path.trim_end_matches("/0").rsplit('/').next().unwrap_or("");
    matches!(last, "clusterIP" | "clusterIPs" | "nodePort" | "healthCheckNodePort" | "finalizers")
}

/// A server that is asked for everything but watches, and for how long.
struct Timed<'a> {
    target: &'a mut dyn Target,
    asked: usize,
    took: Duration,
}

impl Target for Timed<'_> {
    fn pass(&mut self, _: Duration) {}

    fn send(&mut self, request: &Request) -> Answer {
        if request.parameter("watch").is_some() || request.path.contains("/watch/") {
            return Answer::Lost;
        }
        let begin = Instant::now();
        let answer = self.target.send(request);
        // A server waits three seconds for a version that is yet to come, as it must.
        if !matches!(&answer, Answer::Response(it) if it.status == 504) {
            self.took += begin.elapsed();
            self.asked += 1;
        }
        answer
    }

    fn events(&mut self, _: WatchId) -> Events {
        Events::default()
    }

    fn close(&mut self, _: WatchId) {}

    fn compact(&mut self) -> bool {
        false
    }
}

/// Prints how many requests of the traces a server answers in a second.
fn pace(who: &str, target: &mut dyn Target, traces: &[&Trace]) -> f64 {
    let mut timed = Timed { target, asked: 0, took: Duration::ZERO };
    for (index, trace) in traces.iter().enumerate() {
        let namespaces = format!("paced-{}-{index}", std::process::id());
        replay_on(trace, &mut timed, &namespaces, &mut |_| {});
    }
    let rate = timed.asked as f64 / timed.took.as_secs_f64();
    println!("{who:<24} {rate:>10.0} requests/s, {} requests", timed.asked);
    rate
}

/// Measures the other server and ours over one connection each, and ours in this process.
fn race(traces: &[&Trace], live: Live) -> Result<(), Box<dyn Error>> {
    let there = pace("there", &mut live.hasty(), traces);
    let tls = Tls::generate([127, 0, 0, 1].into())?;
    let listen = Listen { tls: Some(tls.clone()), ..Listen::default() };
    let face = Face::listen(world(1), &listen)?;
    let mut own = Live::new(face.address(), tls.authority(), "")?.hasty();
    let ours = pace("ours", &mut own, traces);
    pace("ours, in this process", &mut Simulated::new(world(1)), traces);
    println!("over one connection, ours answers {:.1} times as many", ours / there);
    Ok(())
}

/// A number counts from nothing.
fn seeds(text: &str) -> Result<Range<u64>, Box<dyn Error>> {
    Ok(match text.split_once("..") {
        Some((first, last)) => first.parse()?..last.parse()?,
        None => 0..text.parse()?,
    })
}

/// The custom resources that programs and traces use.
fn declare(live: &mut Live) -> Result<(), Box<dyn Error>> {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for definition in DEFINITIONS {
        match live.send(&Request::new("POST", path).content("application/json", definition)) {
            // It is there from an earlier run.
            Answer::Response(answer) if matches!(answer.status, 201 | 409) => {}
            other => {
                let why = format!("the server does not take the custom resource: {other:?}");
                return Err(why.into());
            }
        }
    }
    Ok(())
}

/// Prints the first difference between the answers of a trace, which `by` gave, and those of the
/// listening server; false if there is none.
fn tell(by: &str, trace: &Trace, report: &Report, notes: &mut String) -> bool {
    let Some(first) = report.departures.first() else { return false };
    println!("{}, step {}, {} (rules of `{}`)", trace.name, first.step, first.path, first.rules);
    println!("  {by:<8} {}\n  {:<8} {}", first.recorded, "there", first.ours);
    for it in report.departures.iter().filter(|it| it.step == first.step) {
        let _ = writeln!(
            notes,
            "{} step {} {}: {} / {}",
            trace.name, it.step, it.path, it.recorded, it.ours
        );
    }
    if let Some(Step::Read { watch: read, events, .. }) = trace.steps.get(first.step) {
        for step in &trace.steps[..first.step] {
            if let Step::Open { watch, request, .. } = step
                && watch == read
            {
                let _ = writeln!(notes, "  asked    {request}\n  {by:<8} {events}\n");
            }
        }
    }
    if let Some(Step::Call { request, response } | Step::Open { request, response, .. }) =
        trace.steps.get(first.step)
    {
        let _ = writeln!(notes, "  asked    {request}\n  {by:<8} {response}\n");
    }
    true
}
