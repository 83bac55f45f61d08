//! Plans and runs of a controller in the words of the harness.

use seatrial::trial::Line;

use crate::simulation::{Column, Event, Plan, is_exact};

/// The plan without faults, as the way back to it.
const NO_FAULT: &str = "none";

/// A plan as one word.
pub(super) fn route(plan: &Plan) -> String {
    match plan.faults.is_empty() {
        true => NO_FAULT.to_owned(),
        false => plan.to_string().replace(' ', "+"),
    }
}

/// The plan of a word; none if the word is not a plan.
pub(super) fn route_back(word: &str) -> Option<Plan> {
    match word {
        NO_FAULT => Some(Plan::default()),
        _ => word.replace('+', " ").parse().ok(),
    }
}

/// The reason why a plan fails, in one line.
pub(super) fn reason(plan: &Plan, text: &[String]) -> String {
    let text: Vec<_> = text.iter().map(|line| line.trim()).collect();
    let plan = plan.to_string();
    let plan = if plan.is_empty() { "without faults" } else { &plan };
    format!("{plan}: {}", text.join("; "))
}

/// The text that a replay is compared by.
pub(super) fn history(lines: &[String]) -> String {
    format!("{}\nfinished\n", lines.join("\n"))
}

/// The events of a run, a thread for each column. Times are told if they are the same in every run.
pub(super) fn lines(events: &[Event]) -> Vec<Line> {
    let line = |event: &Event| {
        let (thread, name) = match event.column {
            Column::Server => (0, "server"),
            Column::Watch => (1, "watch"),
            Column::Controller => (2, "controller"),
            Column::Fault => (3, "FAULT"),
        };
        let at_nanos = if is_exact() { event.at.as_nanos() as u64 } else { 0 };
        // Of several processes, it is told whose event it is; the server's text says so itself.
        let is_named = event.column != Column::Server && !event.process.is_empty();
        let text = match is_named {
            true => format!("{}: {}", event.process, event.text),
            false => event.text.clone(),
        };
        let name = name.to_owned();
        Line { thread, name, at_nanos, text, ..Line::default() }
    };
    events.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial::engine::{Engine, Route};

    #[test]
    fn of_several_processes_a_line_says_whose_it_is() {
        let text = |column, process: &str| {
            let at = std::time::Duration::ZERO;
            let (process, text) = (process.to_owned(), "get pods".to_owned());
            lines(&[Event { at, column, process, text }])[0].text.clone()
        };
        assert_eq!(text(Column::Controller, "a"), "a: get pods");
        assert_eq!(text(Column::Controller, ""), "get pods");
        assert_eq!(text(Column::Server, "a"), "get pods");
    }

    #[test]
    fn a_plan_is_a_word_that_a_witness_can_carry() {
        for text in ["", "crash(1)", "stale(statefulsets.apps,7,2) lost(2) jitter(9)"] {
            let plan: Plan = text.parse().expect("a plan");
            let word = route(&plan);
            let carried = Route::parse(Engine::Cluster, &word).expect("a word").to_string();
            assert_eq!(route_back(&carried), Some(plan), "{word}");
        }
        assert_eq!(route_back("hail(1)"), None);
    }
}
