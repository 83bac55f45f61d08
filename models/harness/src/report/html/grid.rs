//! The first table of the page: every component on every engine, and how many bugs were convicted.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::escape;
use super::matrix::{distinct, heads, present};
use crate::engine::Engine;
use crate::report::grid::{Cell, Standing, grid};
use crate::report::{Coverage, MutantRow, NOT_HELD, Report, Row, counted, thousands};

/// Renders the grid: a line per component with its kill score, a column per engine.
pub(super) fn overview(report: &Report) -> String {
    let cells = grid(&report.rows);
    let engines = present(cells.iter().map(|cell| cell.engine));
    let of_rows = cells.iter().map(|cell| cell.component);
    let of_mutants = report.mutants.iter().map(|row| row.component.as_str());
    let components = distinct(of_rows.chain(of_mutants));
    if components.is_empty() {
        return String::new();
    }
    let score = if report.mutants.is_empty() { "" } else { "bugs convicted" };
    let mut text = format!(
        "<section id=\"grid\">\n<h2>At a glance</h2>\n<p>{}</p>\n<div class=\"wide\">\n\
         <table class=\"matrix\">\n{}<tbody>\n",
        [coverage(&report.rows), kill_score(&report.mutants)].concat(),
        heads("component", &engines, score),
    );
    let cells: BTreeMap<_, _> =
        cells.iter().map(|cell| ((cell.component, cell.engine), cell)).collect();
    for component in components {
        let name = escape(component);
        let _infallible =
            write!(text, "<tr><th scope=\"row\"><a href=\"#of-{name}\">{name}</a></th>");
        for engine in &engines {
            text.push_str(&square(cells.get(&(component, *engine)).copied()));
        }
        if !report.mutants.is_empty() {
            let its = report.mutants.iter().filter(|row| row.component == component);
            text.push_str(&score_cell(&its.collect::<Vec<_>>()));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody>\n</table>\n</div>\n</section>\n");
    text
}

fn square(cell: Option<&Cell<'_>>) -> String {
    let Some(cell) = cell else { return "<td class=\"none\"></td>".to_owned() };
    let class = match cell.standing {
        Standing::Good => "good",
        Standing::Doubt => "doubt",
        Standing::Bad => "bad",
        Standing::NotRun => "none",
    };
    let scenarios = (cell.scenarios > 0).then(|| counted(cell.scenarios, "scenario"));
    let executions = (cell.executions > 0).then(|| counted(cell.executions, "execution"));
    let reach = (!cell.reach.is_empty()).then(|| cell.reach.clone());
    let parts: Vec<_> = [scenarios, executions, reach].into_iter().flatten().collect();
    let (verdict, parts) = (escape(&cell.verdict), escape(&parts.join(" \u{b7} ")));
    format!("<td class=\"{class}\"><b>{verdict}</b><small>{parts}</small></td>")
}

/// Says of how many cases everything was seen.
fn coverage(rows: &[Row]) -> String {
    let cases = rows.chunk_by(Row::same_case).map(|group| &group[0]);
    let ran: Vec<_> = cases.filter(|row| row.invariant != NOT_HELD).collect();
    if ran.is_empty() {
        return String::new();
    }
    let count = |coverage| ran.iter().filter(|row| row.coverage == Some(coverage)).count() as u64;
    let (whole, part) = (count(Coverage::Exhausted), count(Coverage::Sampled));
    format!(
        "Everything within the bounds was seen in {} of {}, a sample in {}. ",
        thousands(whole),
        counted(ran.len() as u64, "case"),
        thousands(part)
    )
}

/// Counts the bugs that were convicted, and the bugs that should be.
fn killed<'a>(rows: impl Iterator<Item = &'a MutantRow>) -> (u64, u64) {
    rows.filter(|row| row.kind != "equivalent")
        .fold((0, 0), |(killed, all), row| (killed + u64::from(!row.kills.is_empty()), all + 1))
}

fn kill_score(rows: &[MutantRow]) -> String {
    let (killed, all) = killed(rows.iter());
    if all == 0 {
        return String::new();
    }
    let share = killed as f64 * 100.0 / all as f64;
    format!("Kill score: {} of {} ({share:.1} %).", thousands(killed), counted(all, "seeded bug"))
}

fn score_cell(rows: &[&MutantRow]) -> String {
    let (killed, all) = killed(rows.iter().copied());
    if rows.is_empty() {
        return "<td class=\"none\"></td>".to_owned();
    }
    let class = if rows.iter().all(|row| row.as_expected()) { "good" } else { "bad" };
    let by = |engine: Engine| {
        let count = rows.iter().filter(|row| row.kills.iter().any(|kill| kill.engine == engine));
        (count.count(), engine)
    };
    let engines = present(rows.iter().flat_map(|row| row.kills.iter().map(|kill| kill.engine)));
    let by: Vec<_> = engines.into_iter().map(by).collect();
    let by: Vec<_> = by.iter().map(|(count, engine)| format!("{engine} {count}")).collect();
    format!("<td class=\"{class}\"><b>{killed} of {all}</b><small>{}</small></td>", by.join(", "))
}
