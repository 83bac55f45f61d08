//! A violation with everything that a person needs to understand it.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::digest::digest;
use super::violation::Violation;
use crate::engine::{End, Route};

/// One event, as text.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// The thread's number.
    pub thread: u8,
    /// The thread's name.
    pub name: String,
    /// The time, in nanoseconds of the runtime's clock.
    pub at_nanos: u64,
    /// The event in words.
    pub text: String,
    /// Whether the thread went to sleep here.
    pub sleeps: bool,
    /// The machine inside whose lock it happened, by the order in which the machines were made;
    /// absent outside all locks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<u8>,
    /// Whether the thread keeps that lock until its next step.
    #[serde(default, skip_serializing_if = "is_false")]
    pub keeps_lock: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// One broken promise, in one execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The invariant's name.
    pub invariant: &'static str,
    /// The violation.
    pub violation: Violation,
    /// The number of the execution, from one.
    pub execution: u64,
    /// How many preemptions that execution had, where the engine can tell.
    pub preemptions: Option<u32>,
    /// Whether no execution with fewer preemptions breaks the invariant; `None` if that is not
    /// known.
    pub proved_minimum: Option<bool>,
    /// The way back to it, where there is one.
    pub route: Option<Route>,
    /// The events.
    pub lines: Vec<Line>,
    /// How it ended.
    pub end: End,
    /// The text that a replay is compared by, if it differs from that of `lines` and `end`: the
    /// part of a run that is repeatable apart from the order and the times of its events.
    pub compared: Option<String>,
}

/// Returns the text of a whole history, one line per event. Replays compare it byte by byte.
pub fn transcript(lines: &[Line], end: &End) -> String {
    let mut text = String::new();
    for line in lines {
        let Line { name, at_nanos, text: what, .. } = line;
        let _infallible = writeln!(text, "{at_nanos:>12} {name:<12} {what}");
    }
    let _infallible = match end {
        End::Finished => writeln!(text, "finished"),
        End::Deadlock(who) => writeln!(text, "deadlock: {who}"),
        End::Endless(what) => writeln!(text, "endless: {what}"),
        End::Diverged(why) => writeln!(text, "diverged: {why}"),
        End::Refused(why) => writeln!(text, "refused: {why}"),
        End::Panicked(message) => writeln!(text, "panicked: {message}"),
    };
    text
}

impl Finding {
    /// Returns the text of the history.
    pub fn transcript(&self) -> String {
        transcript(&self.lines, &self.end)
    }

    /// Returns the digest of the history, as a witness carries it.
    pub fn digest(&self) -> u32 {
        match &self.compared {
            Some(text) => digest(text),
            None => digest(&self.transcript()),
        }
    }
}
