//! `conformance`: recorded traces of the reference.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Instant;

use serde_json::json;

use super::args::{ColorChoice, ConformanceArguments, Witnesses};
use super::output::{check_reports, colour, deliver};
use super::{Failure, Outcome};
use crate::catalogue::Catalogue;
use crate::conformance::{self, Conformance, read_traces};
use crate::report::{Colour, ConformanceRow, Part, Report, summary};

pub(super) fn conformance(
    catalogue: &Catalogue,
    arguments: &ConformanceArguments,
    color: ColorChoice,
) -> Outcome {
    check_reports(&arguments.reports)?;
    let began = Instant::now();
    let all: Vec<Conformance> = catalogue.conformance().collect();
    let mut report = catalogue.report(0);
    let mut unknown = Unknown::default();
    if arguments.paths.is_empty() {
        for conformance in &all {
            let text = conformance.recorded().ok_or_else(|| {
                Failure::usage(format!("no traces of {} are carried", conformance.traces_of))
            })?;
            report.conformance.push(row(conformance, &text));
        }
        let is_known = |name: &str| all.iter().any(|it| it.traces_of == name);
        let carried: BTreeMap<_, _> =
            all.iter().flat_map(|it| it.carried.names().map(|name| (name, it.carried))).collect();
        for (name, traces) in carried.into_iter().filter(|(name, _)| !is_known(name)) {
            unknown.add(name, &traces.text(name).unwrap_or_default());
        }
    }
    let files = read_traces(&arguments.paths).map_err(|error| Failure::usage(error.to_string()))?;
    for (name, text) in files {
        match all.iter().find(|conformance| conformance.traces_of == name) {
            Some(conformance) => report.conformance.push(row(conformance, &text)),
            None => unknown.add(&name, &text),
        }
    }
    report.parts.push(Part::whole("conformance", report.conformance.len() as u64));
    let seconds = (began.elapsed().as_secs_f64() * 1e3).round() / 1e3;
    report.timing.insert("total_seconds".to_owned(), json!(seconds));
    report.conclude();
    let colour = colour(color);
    deliver(&report, &arguments.reports, &Witnesses::default(), || text(&report, &unknown, colour))
}

fn row(conformance: &Conformance, text: &str) -> ConformanceRow {
    let outcome = conformance.replay_lines(text.lines());
    let failure = |failure: &conformance::Failure| {
        format!("{} ({}): {}", failure.id, failure.on, failure.error)
    };
    let departures: BTreeMap<String, u64> =
        outcome.departures.iter().map(|(rule, count)| ((*rule).to_owned(), *count)).collect();
    ConformanceRow {
        component: conformance.traces_of.to_owned(),
        traces: outcome.traces,
        steps: outcome.steps,
        replayed: outcome.replayed,
        faithful: outcome.faithful,
        departures,
        failures: outcome.failures.iter().map(failure).collect(),
    }
}

/// Traces that nothing here replays: parts of the reference that are not here, or a slip of the pen.
#[derive(Default)]
struct Unknown {
    names: Vec<String>,
    traces: usize,
}

impl Unknown {
    fn add(&mut self, name: &str, text: &str) {
        self.names.push(name.to_owned());
        self.traces += text.lines().count();
    }
}

fn text(report: &Report, unknown: &Unknown, colour: Colour) -> String {
    const SHOWN: usize = 5;
    let mut text = String::new();
    for row in &report.conformance {
        let faithful = row.faithful.map_or(String::new(), |count| format!(", faithful {count}"));
        let departures: Vec<_> =
            row.departures.iter().map(|(rule, count)| format!("{count} by {rule}")).collect();
        let departures = if departures.is_empty() {
            String::new()
        } else {
            format!(", predicted departures: {}", departures.join(", "))
        };
        let words = format!("{} of {} traces", row.replayed, row.traces);
        let words = if row.failures.is_empty() { colour.good(&words) } else { colour.bad(&words) };
        let _infallible = writeln!(text, "  {:<24} {words}{faithful}{departures}", row.component);
        for failure in row.failures.iter().take(SHOWN) {
            let _infallible = writeln!(text, "    {failure}");
        }
        if row.failures.len() > SHOWN {
            let _infallible = writeln!(text, "    and {} more", row.failures.len() - SHOWN);
        }
    }
    if !unknown.names.is_empty() {
        let (names, traces) = (unknown.names.join(", "), unknown.traces);
        let left = format!("left out, {traces} traces that nothing here replays: {names}");
        let _infallible = writeln!(text, "  {}", colour.dim(&left));
    }
    text.push_str(&summary(report, colour));
    text
}
