//! How many executions convictions take, as tables.

use std::fmt::Write as _;

use super::escape;
use super::matrix::distinct;
use crate::report::{MutantRow, Report, Speed, thousands};

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
         it comes.</p>\n<div class=\"wide\">\n<table class=\"matrix\">\n<thead><tr>\
         <th scope=\"col\">seeded bug</th>"
    );
    for way in &ways {
        let _infallible = write!(text, "<th scope=\"col\">{}</th>", escape(way));
    }
    text.push_str("</tr></thead>\n");
    for component in distinct(measured.iter().map(|row| row.component.as_str())) {
        let _infallible = writeln!(
            text,
            "<tbody><tr class=\"component\"><th colspan=\"{}\" scope=\"rowgroup\">{}</th></tr>",
            ways.len() + 1,
            escape(component),
        );
        for row in measured.iter().filter(|row| row.component == component) {
            text.push_str(&line(row, &ways));
        }
        text.push_str("</tbody>\n");
    }
    text.push_str("</table>\n</div>\n</section>\n");
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
