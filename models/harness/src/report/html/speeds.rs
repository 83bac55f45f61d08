//! How many executions convictions take, as tables.

use std::fmt::Write as _;

use super::escape;
use super::matrix::{Fold, distinct};
use crate::report::{MutantRow, Report, Speed, counted, thousands};

/// Renders the medians, a table per component; nothing if they were not measured.
pub(super) fn speeds(report: &Report) -> String {
    let measured: Vec<&MutantRow> =
        report.mutants.iter().filter(|row| !row.speeds.is_empty()).collect();
    if measured.is_empty() {
        return String::new();
    }
    let all = || measured.iter().flat_map(|row| &row.speeds);
    let ways = distinct(all().map(|speed| speed.by.as_str()));
    let seeds = all().map(|speed| speed.seeds).max().unwrap_or_default();
    let mut text = format!(
        "<section id=\"speeds\">\n<h2>How soon</h2>\n<p>Executions until a conviction, on the one \
         scenario that shows it best: the median of {seeds} seeds. <em>Plain</em> is the checker as \
         it comes.</p>\n"
    );
    let mut heads = "<thead><tr><th scope=\"col\">seeded bug</th>".to_owned();
    for way in &ways {
        let _infallible = write!(heads, "<th scope=\"col\">{}</th>", escape(way));
    }
    heads.push_str("</tr></thead>\n");
    let components = distinct(measured.iter().map(|row| row.component.as_str()));
    for component in &components {
        let its: Vec<_> = measured.iter().filter(|row| row.component == *component).collect();
        let lines: String = its.iter().map(|row| line(row, &ways)).collect();
        let table = format!("<table class=\"matrix\">\n{heads}<tbody>{lines}</tbody>\n</table>\n");
        let says = counted(its.len() as u64, "mutant");
        let alone = components.len() == 1;
        text.push_str(&Fold { component, says, anchored: false, alone }.folded(&table));
    }
    text.push_str("</section>\n");
    text
}

fn line(row: &MutantRow, ways: &[&str]) -> String {
    let mut text = format!("<tr><th scope=\"row\">{}</th>", escape(&row.name));
    for way in ways {
        let (class, cell) = match row.speeds.iter().find(|speed| speed.by == *way) {
            None => ("none", "\u{2013}".to_owned()),
            Some(Speed { median: Some(median), .. }) => ("good", thousands(*median)),
            Some(speed) => ("doubt", format!("&gt; {}", thousands(speed.at_most))),
        };
        let _infallible = write!(text, "<td class=\"{class} number\">{cell}</td>");
    }
    text.push_str("</tr>\n");
    text
}
