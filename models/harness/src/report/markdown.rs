//! A summary of a CI job: the result, the unexpected results, and the scope of the checks.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::text::{conclusion, counts};
use super::{Fate, NOT_HELD, Problem, Report, Summary, thousands};
use crate::engine::Engine;
use crate::picture::picture;

/// Violations that are drawn; more of them are listed. A job's summary has a limit of length.
const DRAWN: usize = 10;

/// Renders a report as Markdown.
pub fn markdown(report: &Report) -> String {
    let mark = if report.outcome == Summary::Holds { "\u{2705}" } else { "\u{274c}" };
    let mut text = format!("## {mark} {}: {}\n\n", report.program, conclusion(report.outcome));
    let _infallible = writeln!(text, "{}\n", counts(report));
    let problems = report.problems();
    for (number, problem) in problems.iter().enumerate() {
        text.push_str(&described(problem, &report.program, number < DRAWN));
    }
    text.push_str(&verdicts(report));
    text.push_str(&mutants(report));
    text.push_str(&traces(report));
    let _infallible = writeln!(
        text,
        "<sub>commit {}, {}, seed {}</sub>",
        cell(&report.commit),
        cell(&report.toolchain),
        report.seed
    );
    text
}

fn described(problem: &Problem<'_>, program: &str, drawn: bool) -> String {
    let Problem { id, says, because, .. } = problem;
    let mut text = format!("### `{id}`\n\n{says}: {}\n\n", cell(because));
    let Some(row) = problem.row else { return text };
    if drawn && !row.history.is_empty() {
        let _infallible = writeln!(text, "```text\n{}```\n", picture(&row.history, row.at));
    }
    if let Some(witness) = &row.witness {
        let _infallible = writeln!(text, "```sh\n{program} replay {witness}\n```\n");
    }
    text
}

/// Writes a text so that it stays in its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('\n', " ")
}

/// Renders one line per component and engine.
fn verdicts(report: &Report) -> String {
    #[derive(Default)]
    struct Tally {
        expected: u64,
        unexpected: u64,
        executions: BTreeMap<(String, Option<String>), u64>,
    }
    let mut tallies: BTreeMap<(&str, Engine), Tally> = BTreeMap::new();
    for row in report.rows.iter().filter(|row| row.invariant != NOT_HELD) {
        let tally = tallies.entry((&row.component, row.engine)).or_default();
        if row.as_expected() {
            tally.expected += 1;
        } else {
            tally.unexpected += 1;
        }
        let case = (row.scenario.clone(), row.exhibit.clone());
        tally.executions.insert(case, row.executions.unwrap_or(0));
    }
    if tallies.is_empty() {
        return String::new();
    }
    let mut text =
        "| component | engine | as expected | not | executions |\n|---|---|--:|--:|--:|\n"
            .to_owned();
    for ((component, engine), tally) in tallies {
        let executions = match tally.executions.values().sum() {
            0 => String::new(), // real threads report none
            some => thousands(some),
        };
        let Tally { expected, unexpected, .. } = tally;
        let _infallible =
            writeln!(text, "| {component} | {engine} | {expected} | {unexpected} | {executions} |");
    }
    text.push('\n');
    text
}

fn mutants(report: &Report) -> String {
    let mut tallies: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for row in &report.mutants {
        let tally = tallies.entry(&row.component).or_default();
        tally[match row.outcome {
            Fate::Killed => 0,
            Fate::Survived => 1,
            Fate::Equivalent => 2,
        }] += 1;
    }
    if tallies.is_empty() {
        return String::new();
    }
    let mut text =
        "| seeded bugs of | convicted | survived | equivalent |\n|---|--:|--:|--:|\n".to_owned();
    for (component, [killed, survived, equivalent]) in tallies {
        let _infallible = writeln!(text, "| {component} | {killed} | {survived} | {equivalent} |");
    }
    text.push('\n');
    text
}

fn traces(report: &Report) -> String {
    if report.conformance.is_empty() {
        return String::new();
    }
    let mut text = "| recorded traces of | replayed | of |\n|---|--:|--:|\n".to_owned();
    for row in &report.conformance {
        let (replayed, traces) = (thousands(row.replayed), thousands(row.traces));
        let _infallible = writeln!(text, "| {} | {replayed} | {traces} |", row.component);
    }
    text.push('\n');
    text
}
