//! The report for a person at a terminal.

use std::fmt::Write as _;

use super::grid::{Standing, tally};
use super::{
    Coverage, Fate, Kill, MutantRow, Partition, Place, Report, Row, Speed, Summary, Verdict,
};
use crate::engine::Engine;
use crate::picture::picture;
use crate::trial::{Expect, MADE_UP_CALLS};

/// Stands in the place of an invariant where an engine cannot hold a scenario.
pub const NOT_HELD: &str = "not_held";

/// Whether text is coloured.
#[derive(Clone, Copy, Debug)]
pub struct Colour(pub bool);

impl Colour {
    fn paint(self, code: &str, text: &str) -> String {
        if self.0 { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// Paints what is as it should be.
    pub fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Paints what is not.
    pub fn bad(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// Paints what is of less interest.
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// Paints a heading.
    pub fn head(self, text: &str) -> String {
        self.paint("1", text)
    }
}

/// Returns a number with its thousands apart.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number with what it counts: "1 case", "2 cases".
pub fn counted(number: u64, what: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{} {what}{s}", thousands(number))
}

/// Returns how wide a column of names is: as the longest, so that what follows them lines up, and
/// as in most reports at least, so that they look the same.
fn width_of(names: impl Iterator<Item = String>) -> usize {
    names.map(|name| name.chars().count()).max().unwrap_or(0).max(42)
}

/// Renders verdicts, one line per scenario and engine, violations below it.
pub fn rows_text(rows: &[Row], program: &str, colour: Colour) -> String {
    let width = width_of(rows.iter().map(case_name));
    let mut text = String::new();
    let mut component = "";
    for group in rows.chunk_by(Row::same_case) {
        let first = &group[0];
        if first.component != component {
            component = &first.component;
            let _infallible = writeln!(text, "{}", colour.head(component));
        }
        text.push_str(&group_line(group, width, colour));
        for row in group.iter().filter(|row| !row.as_expected()) {
            text.push_str(&violation(row, program, true, colour));
        }
    }
    text
}

fn case_name(row: &Row) -> String {
    match &row.exhibit {
        Some(exhibit) => format!("{exhibit} (exhibit)"),
        None => row.scenario.clone(),
    }
}

fn group_line(group: &[Row], width: usize, colour: Colour) -> String {
    let first = &group[0];
    let name = case_name(first);
    let executions = first.executions.map_or(String::new(), thousands);
    let (word, detail) = verdict_words(group);
    let word = match Standing::of(word) {
        Standing::Good => colour.good(word),
        Standing::NotRun => colour.dim(word),
        Standing::Doubt | Standing::Bad => colour.bad(word),
    };
    let line = format!("  {name:<width$} {:<8} {executions:>11}  {word}{detail}", first.engine);
    format!("{}\n", line.trim_end())
}

pub(super) fn verdict_words(group: &[Row]) -> (&'static str, String) {
    let first = &group[0];
    if first.invariant == NOT_HELD {
        return ("not run", format!(": {}", first.because.as_deref().unwrap_or_default()));
    }
    let found = |wanted: fn(&&Row) -> bool| group.iter().find(wanted);
    if let Some(row) = found(|row| row.expect == Expect::Holds && row.verdict == Verdict::Violated)
    {
        return ("VIOLATED", format!(": {}", row.invariant));
    }
    if let Some(row) = found(|row| row.verdict == Verdict::Inadmissible) {
        return ("INADMISSIBLE", format!(": {}", row.because.as_deref().unwrap_or_default()));
    }
    if let Some(row) = found(|row| row.expect == Expect::Violated && row.verdict == Verdict::Holds)
    {
        return ("BLIND", format!(": {} was expected to break and held", row.invariant));
    }
    if let Some(row) = found(|row| row.is_undecided()) {
        return ("UNDECIDED", format!(": {}", row.doubt()));
    }
    if let Some(row) = found(|row| row.expect == Expect::Violated) {
        return ("violated as expected", format!(": {}", row.invariant));
    }
    let how = match (first.engine, first.coverage) {
        (Engine::Loom, _) => match first.bounds.get("preemptions") {
            Some(bound) => {
                format!(", every schedule with at most {}", counted(*bound, "preemption"))
            }
            None => ", every schedule".to_owned(),
        },
        (Engine::Cluster, _) => {
            format!(", {} steps simulated", thousands(first.steps.unwrap_or_default()))
        }
        (Engine::Fuzz, _) => {
            format!(", {} sequences of calls", thousands(first.executions.unwrap_or_default()))
        }
        (Engine::State, _) => {
            format!(", every state, {} steps", thousands(first.steps.unwrap_or_default()))
        }
        (_, Some(Coverage::Exhausted)) => ", every schedule".to_owned(),
        (_, Some(Coverage::Sampled)) => sampled(first),
        (_, None) => String::new(),
    };
    ("holds", how)
}

/// Tells how much a sample has seen, and how much is left.
fn sampled(row: &Row) -> String {
    let Some(traces) = row.traces else { return String::new() };
    let mut text = format!(", {} distinct traces", thousands(traces));
    let Some(left) = &row.left else { return text };
    match (left.estimated_traces, left.estimated_traces_interval) {
        (Some(about), Some([low, high])) if high < 1e15 => {
            let [about, low, high] = [about, low, high].map(|number| thousands(number as u64));
            let _infallible = write!(text, " of about {about} ({low} to {high})");
        }
        (Some(about), _) => {
            let _infallible = write!(text, " of some {about:.0e}");
        }
        _ => {}
    }
    let _infallible = write!(text, ", unseen {:.1} %", left.unseen_mass * 100.0);
    text
}

/// Renders a violation: its accusation, its picture if that is wanted, and the way back to it.
pub(super) fn violation(row: &Row, program: &str, draws: bool, colour: Colour) -> String {
    let mut text = String::new();
    if row.verdict != Verdict::Violated {
        return text;
    }
    let because = row.because.as_deref().unwrap_or("violated").trim_end();
    let because = because.replace('\n', "\n      "); // an assertion tells both sides below
    let _infallible = writeln!(text, "    {}: {because}", colour.bad(&row.invariant));
    let at = |place: &Place| format!(" ({}:{})", place.file, place.line);
    if let Some(says) = &row.says {
        let stated = row.stated.as_ref().map_or(String::new(), at);
        let _infallible = writeln!(text, "    must hold: {says}{}", colour.dim(&stated));
    }
    if let Some(says) = &row.scenario_says {
        let _infallible = writeln!(text, "    the scenario: {says}");
    }
    if !row.rules.is_empty() {
        let _infallible = writeln!(text, "    {}", colour.dim(&row.rules.join(", ")));
    }
    let picture = if draws { picture(&row.history, row.at) } else { String::new() };
    for line in picture.lines() {
        let _infallible = writeln!(text, "      {line}");
    }
    if let Some(witness) = &row.witness {
        let _infallible = writeln!(text, "    see it again: {program} replay {witness}");
    }
    text
}

/// Renders the kill matrix: executions to conviction per engine.
pub fn mutants_text(rows: &[MutantRow], colour: Colour) -> String {
    let width = width_of(rows.iter().map(mutant_name));
    let mut text = String::new();
    for group in rows.chunk_by(|a, b| a.component == b.component) {
        let tried = |engine: &Engine| {
            let on = |row: &MutantRow| {
                row.missed_by.contains(engine)
                    || row.kills.iter().any(|kill| kill.engine == *engine)
            };
            group.iter().any(on)
        };
        let engines: Vec<_> = Engine::ALL.iter().copied().filter(tried).collect();
        let heads: String = engines.iter().map(|engine| format!(" {:>9}", engine.name())).collect();
        let head = format!("{:<1$}{heads}  convicted by", group[0].component, width + 2);
        let _infallible = writeln!(text, "{}", colour.head(&head));
        for row in group {
            text.push_str(&mutant_line(row, &engines, width, colour));
        }
        if engines.contains(&Engine::Fuzz) {
            let _infallible = writeln!(text, "  {}", colour.dim(&fuzzed(group)));
        }
    }
    text
}

/// Renders how many executions convictions take: medians over the seeds.
pub fn speeds_text(rows: &[MutantRow], colour: Colour) -> String {
    let mut text = String::new();
    let measured: Vec<_> = rows.iter().filter(|row| !row.speeds.is_empty()).collect();
    let width = width_of(measured.iter().map(|row| row.name.clone()));
    for group in measured.chunk_by(|a, b| a.component == b.component) {
        let mut ways: Vec<&str> = Vec::new();
        for speed in group.iter().flat_map(|row| &row.speeds) {
            if !ways.contains(&speed.by.as_str()) {
                ways.push(&speed.by);
            }
        }
        let heads: String = ways.iter().map(|way| format!(" {way:>12}")).collect();
        let seeds = group.iter().flat_map(|row| &row.speeds).map(|speed| speed.seeds).max();
        let title = format!("{}, median of {}", group[0].component, seeds.unwrap_or_default());
        let _infallible = writeln!(
            text,
            "{}",
            colour.head(&format!("{title:<0$}{heads}  on the scenario", width + 2))
        );
        for row in group {
            let _infallible = writeln!(text, "{}", speeds_line(row, &ways, width));
        }
    }
    text
}

fn speeds_line(row: &MutantRow, ways: &[&str], width: usize) -> String {
    let mut line = format!("  {:<width$}", row.name);
    for way in ways {
        let cell = match row.speeds.iter().find(|speed| speed.by == *way) {
            None => "-".to_owned(),
            Some(Speed { median: Some(median), .. }) => thousands(*median),
            Some(speed) => format!(">{}", thousands(speed.at_most)),
        };
        let _infallible = write!(line, " {cell:>12}");
    }
    let with_schedule = row.speeds.iter().find(|speed| speed.scenario != MADE_UP_CALLS);
    let scenario = with_schedule.map_or("", |speed| speed.scenario.as_str());
    format!("{line}  {scenario}")
}

/// Says how many bugs of the rules made-up calls convict; of those of waking they hardly can.
fn fuzzed(group: &[MutantRow]) -> String {
    let convicted = |row: &MutantRow| row.kills.iter().any(|kill| kill.engine == Engine::Fuzz);
    let count = |of_waking: bool| {
        let of_kind = |row: &&MutantRow| row.of_waking == of_waking && row.kind != "equivalent";
        let all: Vec<_> = group.iter().filter(of_kind).collect();
        (all.iter().filter(|row| convicted(row)).count(), all.len())
    };
    let ((rules, of_rules), (wakes, of_wakes)) = (count(false), count(true));
    let share = (rules * 100).checked_div(of_rules).unwrap_or(100);
    format!(
        "fuzz convicts {rules} of {of_rules} bugs of the rules ({share} %), {wakes} of {of_wakes} of waking"
    )
}

fn mutant_name(row: &MutantRow) -> String {
    let mark = if row.kind == "exhibit" { " (exhibit)" } else { "" };
    format!("{}{mark}", row.name)
}

fn mutant_line(row: &MutantRow, engines: &[Engine], width: usize, colour: Colour) -> String {
    let mut line = format!("  {:<width$}", mutant_name(row));
    for engine in engines {
        let kill = row.kills.iter().find(|kill| kill.engine == *engine);
        let cell = kill.map_or("-".to_owned(), |kill| thousands(kill.executions));
        let _infallible = write!(line, " {cell:>9}");
    }
    let verdict = match (row.outcome, row.kills.first()) {
        (Fate::Equivalent, _) => {
            colour.dim(&format!("equivalent: {}", row.because.as_deref().unwrap_or_default()))
        }
        (Fate::Killed, Some(_)) if row.as_expected() => convicted_by(row),
        (Fate::Killed, kill) => {
            let by = kill.map_or("", |kill| kill.invariant.as_str());
            colour.bad(&format!("CONVICTED although listed as equivalent: {by}"))
        }
        (Fate::Survived, _) => colour.bad("SURVIVED"),
    };
    format!("{line}  {verdict}\n")
}

/// Says what convicted a mutant, and how few preemptions that takes.
fn convicted_by(row: &MutantRow) -> String {
    let size = |kill: &&Kill| (kill.preemptions.unwrap_or(u32::MAX), !kill.is_least());
    let least = row.kills.iter().min_by_key(size);
    let Some(kill) = least else { return String::new() };
    let preemptions = match kill.preemptions {
        Some(0) => ", without a preemption".to_owned(),
        Some(count) => format!(", {}", counted(count.into(), "preemption")),
        None => String::new(),
    };
    let least = if kill.is_least() { ", the least" } else { "" };
    format!("{} in {}{preemptions}{least}", kill.invariant, kill.scenario)
}

/// Renders the last lines: the missing parts, and the overall result.
pub fn summary(report: &Report, colour: Colour) -> String {
    let mut text = String::new();
    for lack in report.lacks() {
        let _infallible = writeln!(text, "{}", colour.bad(&lack));
    }
    let (words, parts) = (conclusion(report.outcome), counts(report));
    let words =
        if report.outcome == Summary::Holds { colour.good(words) } else { colour.bad(words) };
    let parts = if parts.is_empty() { String::new() } else { format!(": {parts}") };
    let seconds = report.timing.get("total_seconds").and_then(serde_json::Value::as_f64);
    let took = seconds.map_or(String::new(), |seconds| format!(" ({seconds:.1} s)"));
    let _infallible = writeln!(text, "{words}{parts}{took}");
    text
}

/// Says what an outcome means.
pub(super) fn conclusion(outcome: Summary) -> &'static str {
    match outcome {
        Summary::Holds => "all as expected",
        Summary::Violated => "violated",
        Summary::Inadmissible => "inadmissible: the same did not happen again",
        Summary::Blind => "blind: something that must be found was not",
        Summary::Inconclusive => "inconclusive",
        Summary::Empty => "nothing ran",
    }
}

/// Counts what a report holds, in words.
pub(super) fn counts(report: &Report) -> String {
    let mut parts = Vec::new();
    // The same words as in the table, and as often.
    let words: Vec<_> =
        report.rows.chunk_by(Row::same_case).map(|group| verdict_words(group).0).collect();
    for (count, word) in tally(&words) {
        parts.push(if parts.is_empty() {
            format!("{} {word}", counted(count, "case"))
        } else {
            format!("{} {word}", thousands(count))
        });
    }
    if !report.mutants.is_empty() {
        let count = |fate| report.mutants.iter().filter(|row| row.outcome == fate).count() as u64;
        let (killed, equivalent) = (count(Fate::Killed), count(Fate::Equivalent));
        parts.push(format!("{} convicted, {equivalent} equivalent", counted(killed, "mutant")));
        if count(Fate::Survived) > 0 {
            parts.push(format!("{} SURVIVED", count(Fate::Survived)));
        }
    }
    if !report.conformance.is_empty() {
        let replayed: u64 = report.conformance.iter().map(|row| row.replayed).sum();
        let traces: u64 = report.conformance.iter().map(|row| row.traces).sum();
        parts.push(format!("{} of {} traces replayed", thousands(replayed), thousands(traces)));
    }
    if let Partition { index, count: 2.. } = report.partition {
        parts.push(format!("shard {index} of {}", report.partition.count));
    }
    parts.join(", ")
}
