//! One page for a person, in one file: no script, no font, no picture from elsewhere.
//!
//! It opens with the verdict in one line and a grid of every component on every engine. Then come,
//! folded per component, the checks, the results of simulations and the kill matrix; then the
//! recorded traces, and each violation as an interleaving.

mod grid;
mod interleaving;
mod matrix;
mod pictures;
mod speeds;

use std::fmt::Write as _;

use super::text::{conclusion, counts};
use super::{Problem, Report, Row, Severity, Summary, Verdict};

const STYLE: &str = include_str!("style.css");

/// Renders a report as a page.
pub fn html(report: &Report) -> String {
    let problems = report.problems();
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}: {}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        escape(&report.program),
        conclusion(report.outcome),
    );
    page.push_str(&head(report, &problems));
    page.push_str("<main>\n");
    page.push_str(&grid::overview(report));
    page.push_str(&matrix::verdicts(report));
    page.push_str(&pictures::pictures(report));
    page.push_str(&matrix::mutants(report));
    page.push_str(&speeds::speeds(report));
    page.push_str(&matrix::traces(report));
    page.push_str(&violations(report, &problems));
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

/// Writes a text so that it is text.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(letter),
        }
    }
    escaped
}

fn head(report: &Report, problems: &[Problem<'_>]) -> String {
    let good = report.outcome == Summary::Holds;
    let (class, mark) = if good { ("good", "\u{2713}") } else { ("bad", "\u{2717}") };
    let mut head = format!(
        "<header>\n<h1 id=\"verdict\" class=\"{class}\"><span aria-hidden=\"true\">{mark}</span> \
         {}: {}</h1>\n<p>{}.</p>\n",
        escape(&report.program),
        conclusion(report.outcome),
        escape(&counts(report)),
    );
    if !problems.is_empty() {
        head.push_str("<ul class=\"problems\">\n");
        for (number, problem) in problems.iter().enumerate() {
            let class = if problem.severity == Severity::Failure { "bad" } else { "doubt" };
            let on = problem.row.map_or(String::new(), |row| format!(" on {}", row.engine));
            let _infallible = writeln!(
                head,
                "<li class=\"{class}\"><a href=\"#problem-{number}\">{}</a>{on}: {}</li>",
                escape(&problem.id),
                escape(&problem.because),
            );
        }
        head.push_str("</ul>\n");
    }
    let seconds = report.timing.get("total_seconds").and_then(serde_json::Value::as_f64);
    let took = seconds.map_or(String::new(), |seconds| format!(" \u{b7} {seconds:.1} s"));
    let _infallible = writeln!(
        head,
        "<p class=\"facts\">commit <code>{}</code> \u{b7} {} \u{b7} seed {}{took}</p>\n</header>",
        escape(&report.commit),
        escape(&report.toolchain),
        report.seed,
    );
    head
}

/// Renders the unexpected results, and then, folded up, the violations that were expected and
/// found.
fn violations(report: &Report, problems: &[Problem<'_>]) -> String {
    let mut section = String::new();
    if !problems.is_empty() {
        section.push_str("<section id=\"violations\">\n<h2>What is not as expected</h2>\n");
        for (number, problem) in problems.iter().enumerate() {
            section.push_str(&described(problem, number, &report.program));
        }
        section.push_str("</section>\n");
    }
    let known = |row: &&Row| row.as_expected() && row.verdict == Verdict::Violated;
    let found: Vec<_> =
        report.rows.iter().filter(known).filter(|row| !row.history.is_empty()).collect();
    if !found.is_empty() {
        section.push_str(
            "<section id=\"found\">\n<h2>Violations that had to be found</h2>\n<p>The canary and \
             the exhibits are broken on purpose: an engine that finds nothing there is \
             blind.</p>\n",
        );
        for row in found {
            let _infallible = writeln!(
                section,
                "<details>\n<summary>{} on {}: {}</summary>\n{}</details>",
                escape(&row.case()),
                row.engine,
                escape(&row.invariant),
                execution(row, &report.program),
            );
        }
        section.push_str("</section>\n");
    }
    section
}

fn described(problem: &Problem<'_>, number: usize, program: &str) -> String {
    let Problem { id, says, because, .. } = problem;
    let on = problem.row.map_or(String::new(), |row| format!(" on {}", row.engine));
    let body = match problem.row {
        Some(row) if !row.history.is_empty() => execution(row, program),
        _ => format!("<p>{}: {}</p>\n", escape(says), escape(because)),
    };
    format!(
        "<article id=\"problem-{number}\">\n<h3>{}<small>{on}</small></h3>\n{body}</article>\n",
        escape(id),
    )
}

/// Renders one violating execution: the promise, how it broke, the picture, the way back.
fn execution(row: &Row, program: &str) -> String {
    let says = row.says.clone().unwrap_or_else(|| row.invariant.replace('_', " "));
    let rules = if row.rules.is_empty() {
        String::new()
    } else {
        format!(" <span class=\"rules\">{}</span>", escape(&row.rules.join(", ")))
    };
    let because = row.because.as_deref().unwrap_or("violated");
    let scenario = row
        .scenario_says
        .as_ref()
        .map_or(String::new(), |says| format!("<dt>where</dt><dd>{}</dd>\n", escape(says)));
    let mut text = format!(
        "<dl>\n{scenario}<dt>must hold</dt><dd>{}{rules}</dd>\n<dt>but</dt><dd>{}</dd>\n",
        escape(&says),
        escape(because)
    );
    if let Some(preemptions) = row.preemptions {
        let least =
            if row.proved_minimum == Some(true) { "; no execution needs fewer" } else { "" };
        let plural = if preemptions == 1 { "" } else { "s" };
        let _infallible =
            writeln!(text, "<dt>takes</dt><dd>{preemptions} preemption{plural}{least}</dd>");
    }
    text.push_str("</dl>\n");
    text.push_str(&interleaving::picture(&row.history, row.at));
    if let Some(witness) = &row.witness {
        let _infallible = writeln!(
            text,
            "<p class=\"again\">See it again: <code>{} replay {}</code></p>",
            escape(program),
            escape(witness)
        );
    }
    text
}
