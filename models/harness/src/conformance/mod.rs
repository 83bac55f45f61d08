//! Recorded traces of the reference, replayed on our machines.
//!
//! A trace is a list of calls with the results that the reference gave. Ours must give the same,
//! except where a rule says that it is deliberately better: there the replayer computes what the
//! reference must have given and compares with that, exactly, so a departure is predicted and
//! never waved through. The faithful variant, where a component has one, replays every trace to
//! its end without a departure; it also notices what is changed behind a departure.

mod files;
mod trace;
mod traces;

use std::collections::BTreeMap;

pub use files::{FolderError, read_traces};
pub use trace::{Arguments, Gives, Replayed, Step, Trace, TraceError};
pub use traces::Traces;

/// Replays one trace on one kind of machine.
pub type Replay = fn(&Trace) -> Result<Replayed, TraceError>;

/// How the traces of one file are replayed.
#[derive(Clone, Copy, Debug)]
pub struct Conformance {
    /// The component's name in the traces: `workqueue` for `workqueue.jsonl`.
    pub traces_of: &'static str,
    /// The files that the crate carries; this is one of them.
    pub carried: Traces,
    /// Replays a trace on the machine that ships.
    pub replay: Replay,
    /// Replays a trace on a machine that follows the reference, defects included.
    pub faithful: Option<Replay>,
}

/// A trace that does not replay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The trace.
    pub id: String,
    /// The machine on which it failed.
    pub on: &'static str,
    /// The reason.
    pub error: TraceError,
}

/// The result of replaying a set of traces.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// Traces read.
    pub traces: u64,
    /// Steps in them.
    pub steps: u64,
    /// Traces that replayed, departures included.
    pub replayed: u64,
    /// Traces that show a departure, by the rule that asks for it.
    pub departures: BTreeMap<&'static str, u64>,
    /// Traces that the faithful variant replayed, without a departure.
    pub faithful: Option<u64>,
    /// The traces that failed.
    pub failures: Vec<Failure>,
}

/// Replays a trace; if ours panics, that is why it does not replay.
fn replayed(replay: Replay, trace: &Trace) -> Result<Replayed, TraceError> {
    trace::caught(None, || replay(trace))?
}

impl Conformance {
    /// Returns the traces that the crate carries, one a line; `None` if it carries none.
    pub fn recorded(&self) -> Option<String> {
        self.carried.text(self.traces_of)
    }

    /// Replays lines of JSON, one trace each; empty lines do not count.
    pub fn replay_lines<'a>(&self, lines: impl IntoIterator<Item = &'a str>) -> Outcome {
        let mut outcome = Outcome { faithful: self.faithful.map(|_| 0), ..Outcome::default() };
        for (number, line) in lines.into_iter().enumerate() {
            if !line.trim().is_empty() {
                self.replay_line(number + 1, line, &mut outcome);
            }
        }
        outcome
    }

    fn replay_line(&self, number: usize, line: &str, outcome: &mut Outcome) {
        outcome.traces += 1;
        let trace = match Trace::parse(line) {
            Ok(trace) => trace,
            Err(error) => {
                let id = format!("line {number}");
                outcome.failures.push(Failure { id, on: "reading", error });
                return;
            }
        };
        outcome.steps += trace.steps.len() as u64;
        match replayed(self.replay, &trace) {
            Ok(replayed) => {
                outcome.replayed += 1;
                if let Some(rule) = replayed.departure {
                    *outcome.departures.entry(rule).or_default() += 1;
                }
            }
            Err(error) => {
                outcome.failures.push(Failure { id: trace.id.clone(), on: "ours", error });
            }
        }
        let Some(faithful) = self.faithful else { return };
        match replayed(faithful, &trace) {
            Ok(Replayed { departure: None, .. }) => {
                outcome.faithful = outcome.faithful.map(|count| count + 1);
            }
            Ok(Replayed { steps, departure: Some(rule) }) => {
                let error = TraceError::Departed { step: steps, rule };
                outcome.failures.push(Failure { id: trace.id, on: "faithful", error });
            }
            Err(error) => outcome.failures.push(Failure { id: trace.id, on: "faithful", error }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_TRACES: Traces = Traces(&[]);

    fn conformance(replay: Replay) -> Conformance {
        Conformance { traces_of: "made_up", carried: NO_TRACES, replay, faithful: Some(replay) }
    }

    /// The texts of the failures of two traces, of two steps and of none.
    fn failures(replay: Replay) -> (u64, Vec<String>) {
        let lines =
            [r#"{"id":"two","steps":[{"op":"a"},{"op":"b"}]}"#, r#"{"id":"none","steps":[]}"#];
        let outcome = conformance(replay).replay_lines(lines);
        let text = |failure: &Failure| format!("{} {}: {}", failure.on, failure.id, failure.error);
        (outcome.replayed, outcome.failures.iter().map(text).collect())
    }

    #[test]
    fn a_panic_names_its_trace_and_its_step_and_the_other_traces_are_replayed() {
        let (replayed, failures) = failures(|trace| {
            trace.replay(|step| {
                assert!(step.op != "b", "it does not like b");
                Ok(Gives::Same(serde_json::Value::Null))
            })
        });
        assert_eq!((replayed, failures.len()), (1, 2), "{failures:?}");
        for (failure, on) in failures.iter().zip(["ours", "faithful"]) {
            assert!(failure.starts_with(&format!("{on} two: step 1: panicked at ")), "{failure}");
            assert!(
                failure.contains("mod.rs:") && failure.ends_with("it does not like b"),
                "{failure}"
            );
        }
    }

    #[test]
    fn a_panic_outside_of_all_steps_names_its_trace() {
        let (replayed, failures) = failures(|_| panic!("at once"));
        assert_eq!((replayed, failures.len()), (0, 4), "{failures:?}");
        let named =
            |failure: &String| failure.contains("panicked at") && failure.ends_with("at once");
        assert!(failures.iter().all(named), "{failures:?}");
    }
}
