//! Tables of the checks.

use std::fmt::Write as _;

use super::escape;
use crate::engine::{Engine, Kind};
use crate::outcome::Expect;
use crate::report::{
    Coverage, Fate, MutantRow, NOT_HELD, Report, Row, Verdict, counted, thousands,
};

/// Renders a table per component: a line per scenario and exhibit, a column per engine.
pub(super) fn verdicts(report: &Report) -> String {
    if report.rows.is_empty() {
        return String::new();
    }
    let mut text = "<section id=\"verdicts\">\n<h2>What was checked</h2>\n".to_owned();
    let components = distinct(report.rows.iter().map(|row| row.component.as_str()));
    for component in &components {
        let rows: Vec<&Row> =
            report.rows.iter().filter(|row| row.component == *component).collect();
        let names = distinct(rows.iter().map(|row| line_name(row)));
        let exhibits = distinct(rows.iter().filter_map(|row| row.exhibit.as_deref())).len();
        let scenarios = counted((names.len() - exhibits) as u64, "scenario");
        let says = match exhibits as u64 {
            0 => scenarios,
            some => format!("{scenarios}, {}", counted(some, "exhibit")),
        };
        let head = Fold { component, says, anchored: true, alone: components.len() == 1 };
        text.push_str(&head.folded(&of_component(&rows, &names)));
    }
    text.push_str(
        "<p class=\"legend\">Numbers are executions. <em>every schedule</em>: nothing is left to \
         explore within the bound; <em>sampled</em>: it held in all of them. A trace is what is left of \
         a schedule when steps that do not disturb each other have no order; <em>unseen</em> is how \
         likely one more execution would have been a new one.</p>\n</section>\n",
    );
    text
}

fn of_component(rows: &[&Row], names: &[&str]) -> String {
    let engines = present(rows.iter().map(|row| row.engine));
    let mut text = format!("<table class=\"matrix\">\n{}<tbody>", heads("scenario", &engines, ""));
    for name in names {
        let of_line: Vec<&Row> =
            rows.iter().copied().filter(|row| line_name(row) == *name).collect();
        let mark = if of_line[0].exhibit.is_some() { " <small>exhibit</small>" } else { "" };
        let _infallible = write!(text, "<tr><th scope=\"row\">{}{mark}</th>", escape(name));
        for engine in &engines {
            let cell: Vec<&Row> =
                of_line.iter().copied().filter(|row| row.engine == *engine).collect();
            text.push_str(&verdict(&cell));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody>\n</table>\n");
    text
}

/// The details of one component, which open at a click.
pub(super) struct Fold<'a> {
    pub(super) component: &'a str,
    pub(super) says: String,
    /// Whether the table at the top leads here.
    pub(super) anchored: bool,
    /// Whether it is the only one, and so is open from the start.
    pub(super) alone: bool,
}

impl Fold<'_> {
    pub(super) fn folded(&self, table: &str) -> String {
        let name = escape(self.component);
        let id = if self.anchored { format!(" id=\"of-{name}\"") } else { String::new() };
        let open = if self.alone { " open" } else { "" };
        format!(
            "<details{id}{open}>\n<summary>{name} <small>{}</small></summary>\n\
             <div class=\"wide\">\n{table}</div>\n</details>\n",
            escape(&self.says)
        )
    }
}

/// Returns the name of the line of a verdict.
fn line_name(row: &Row) -> &str {
    row.exhibit.as_deref().unwrap_or(&row.scenario)
}

pub(super) fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut distinct = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}

pub(super) fn present(engines: impl Iterator<Item = Engine>) -> Vec<Engine> {
    let mut engines: Vec<_> = engines.collect();
    engines.sort_unstable();
    engines.dedup();
    engines
}

pub(super) fn heads(first: &str, engines: &[Engine], last: &str) -> String {
    let mut text = format!("<thead><tr><th scope=\"col\">{first}</th>");
    for engine in engines {
        let _infallible = write!(
            text,
            "<th scope=\"col\"><abbr title=\"{}\">{engine}</abbr></th>",
            escape(engine.says())
        );
    }
    if !last.is_empty() {
        let _infallible = write!(text, "<th scope=\"col\">{last}</th>");
    }
    text.push_str("</tr></thead>\n");
    text
}

/// Renders the verdicts of one scenario on one engine as one cell.
fn verdict(rows: &[&Row]) -> String {
    let Some(first) = rows.first() else { return "<td class=\"none\"></td>".to_owned() };
    if first.invariant == NOT_HELD {
        let why = first.because.as_deref().unwrap_or_default();
        return format!("<td class=\"none\" title=\"{}\">not run</td>", escape(why));
    }
    let wrong = |row: &&&Row| !row.as_expected() && !row.is_undecided();
    let undecided = |row: &&Row| row.is_undecided();
    let (class, words) = if let Some(row) = rows.iter().find(wrong) {
        match (row.verdict, row.expect) {
            (Verdict::Inadmissible, _) => ("bad", "inadmissible".to_owned()),
            (_, Expect::Holds) => ("bad", format!("violated: {}", escape(&row.invariant))),
            (_, Expect::Violated) => ("bad", format!("blind: {}", escape(&row.invariant))),
        }
    } else if rows.iter().any(undecided) {
        ("doubt", "undecided".to_owned())
    } else if rows.iter().any(|row| row.expect == Expect::Violated) {
        ("good", "found".to_owned())
    } else {
        ("good", "holds".to_owned())
    };
    format!("<td class=\"{class}\"><b>{words}</b><small>{}</small></td>", reach(first))
}

/// Says how far a verdict reaches.
fn reach(row: &Row) -> String {
    let executions = row.executions.map(thousands);
    let how = match (row.engine.runs() == Kind::Simulation, row.coverage) {
        (true, _) => row.steps.map(|steps| format!("{} steps simulated", thousands(steps))),
        (false, Some(Coverage::Exhausted)) => Some("every schedule".to_owned()),
        (false, Some(Coverage::Sampled)) => Some("sampled".to_owned()),
        (false, None) => None,
    };
    let bound = row
        .bounds
        .get("preemptions")
        .map(|most| format!("\u{2264} {}", counted(*most, "preemption")));
    let parts: Vec<_> = [executions, how, bound].into_iter().flatten().collect();
    let mut text = parts.join(" \u{b7} ");
    if row.coverage == Some(Coverage::Sampled) && row.engine.runs() != Kind::Simulation {
        text.push_str(&left(row).map_or(String::new(), |left| format!("<br>{left}")));
    }
    text
}

/// Says how many traces a sample saw, of how many, and how much it is likely to have missed.
fn left(row: &Row) -> Option<String> {
    let seen = thousands(row.traces?);
    let Some(left) = &row.left else { return Some(format!("{seen} traces")) };
    let of = match (left.estimated_traces, left.estimated_traces_interval) {
        (Some(about), Some([low, high])) if high < 1e15 => {
            let [about, low, high] = [about, low, high].map(|number| thousands(number as u64));
            format!(
                " of <abbr title=\"between {low} and {high}, with a confidence of 95 %\">about \
                     {about}</abbr> ({low} to {high})"
            )
        }
        (Some(about), _) => format!(" of some {about:.0e}"),
        _ => String::new(),
    };
    let unseen = left.unseen_mass * 100.0;
    Some(format!("{seen}{of} traces, unseen {unseen:.1} %"))
}

/// Renders the kill matrix: executions until an engine convicts a seeded bug.
pub(super) fn mutants(report: &Report) -> String {
    let tried = |row: &MutantRow| {
        let kills = row.kills.iter().map(|kill| kill.engine);
        kills.chain(row.missed_by.iter().copied()).collect::<Vec<_>>()
    };
    if report.mutants.is_empty() {
        return String::new();
    }
    let mut text = "<section id=\"mutants\">\n<h2>Kill matrix</h2>\n<p>Executions until each \
                    engine convicts a seeded bug.</p>\n"
        .to_owned();
    let components = distinct(report.mutants.iter().map(|row| row.component.as_str()));
    for component in &components {
        let its: Vec<_> = report.mutants.iter().filter(|row| row.component == *component).collect();
        let engines = present(its.iter().flat_map(|row| tried(row)));
        let heads = heads("seeded bug", &engines, "convicted by");
        let lines: String = its.iter().map(|row| mutant(row, &engines)).collect();
        let table =
            format!("<table class=\"matrix kills\">\n{heads}<tbody>{lines}</tbody>\n</table>\n");
        let fold = Fold {
            component,
            says: counted(its.len() as u64, "mutant"),
            anchored: report.rows.iter().all(|row| row.component != *component),
            alone: components.len() == 1,
        };
        text.push_str(&fold.folded(&table));
    }
    text.push_str("</section>\n");
    text
}

fn mutant(row: &MutantRow, engines: &[Engine]) -> String {
    let mut text = format!(
        "<tr><th scope=\"row\" title=\"{}\">{}</th>",
        escape(&row.origin),
        escape(&row.name)
    );
    for engine in engines {
        let kill = row.kills.iter().find(|kill| kill.engine == *engine);
        let cell = match kill {
            Some(kill) => {
                let class = if row.as_expected() { "good" } else { "bad" };
                format!("<td class=\"{class} number\">{}</td>", thousands(kill.executions))
            }
            None => "<td class=\"none number\">\u{2013}</td>".to_owned(),
        };
        text.push_str(&cell);
    }
    let (class, words) = match row.outcome {
        Fate::Survived => ("bad", "survived".to_owned()),
        Fate::Equivalent => {
            ("none", format!("equivalent: {}", row.because.as_deref().unwrap_or_default()))
        }
        Fate::Killed => {
            let class = if row.as_expected() { "" } else { "bad" };
            let by = distinct(row.kills.iter().map(|kill| kill.invariant.as_str()));
            (class, by.join(", "))
        }
    };
    let _infallible = writeln!(text, "<td class=\"{class}\">{}</td></tr>", escape(&words));
    text
}

/// Renders how the recorded traces of the reference replayed.
pub(super) fn traces(report: &Report) -> String {
    if report.conformance.is_empty() {
        return String::new();
    }
    let mut text = "<section id=\"traces\">\n<h2>Recorded traces of the reference</h2>\n\
                    <div class=\"wide\">\n<table class=\"matrix\">\n<thead><tr>\
                    <th scope=\"col\">component</th><th scope=\"col\">replayed</th>\
                    <th scope=\"col\">of</th><th scope=\"col\">predicted departures</th></tr></thead>\n\
                    <tbody>\n"
        .to_owned();
    for row in &report.conformance {
        let class = if row.failures.is_empty() { "good" } else { "bad" };
        let departures: Vec<_> =
            row.departures.iter().map(|(rule, count)| format!("{count} by {rule}")).collect();
        let _infallible = writeln!(
            text,
            "<tr><th scope=\"row\">{}</th><td class=\"{class} number\">{}</td>\
             <td class=\"number\">{}</td><td>{}</td></tr>",
            escape(&row.component),
            thousands(row.replayed),
            thousands(row.traces),
            escape(&departures.join(", ")),
        );
    }
    text.push_str("</tbody>\n</table>\n</div>\n</section>\n");
    text
}
