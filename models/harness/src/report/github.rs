//! Annotations, as a hosted workflow reads them from its output: one line each.

use std::fmt::Write as _;

use super::{Problem, Report, Severity};

/// Renders the unexpected results as workflow commands. If there are none, it says so.
pub fn github(report: &Report) -> String {
    let mut text = String::new();
    let problems = report.problems();
    for problem in &problems {
        let _infallible = writeln!(text, "{}", annotation(problem, &report.program));
    }
    if problems.is_empty() {
        let counts = super::text::counts(report);
        let _infallible = writeln!(text, "::notice title=seatrial::{}", message(&counts));
    }
    text
}

fn annotation(problem: &Problem<'_>, program: &str) -> String {
    let level = match problem.severity {
        Severity::Failure => "error",
        Severity::Doubt => "warning",
    };
    let place = problem.place().map_or(String::new(), |place| {
        format!("file={},line={},", property(&place.file), place.line)
    });
    let mut says = problem.because.clone();
    if let Some(row) = problem.row {
        let _infallible =
            write!(says, "\nwhat must be so: {}\nengine: {}", problem.says, row.engine);
        if let Some(witness) = &row.witness {
            let _infallible = write!(says, "\n{program} replay {witness}");
        }
    }
    format!("::{level} {place}title={}::{}", property(&problem.id), message(&says))
}

/// Writes a text so that it stays one line.
fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Writes a text so that it ends neither the property nor the list of them.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
