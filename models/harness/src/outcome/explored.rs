//! One execution to look at, step by step.

use serde::Serialize;

use super::finding::Line;
use crate::engine::Watched;

/// One execution, with everything that can be seen in it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Explored {
    /// Its decisions, and what was there at each of them.
    #[serde(flatten)]
    pub watched: Watched,
    /// All decisions, as text.
    pub schedule: String,
    /// Its events.
    pub lines: Vec<Line>,
    /// The states of its machines, where they can say them.
    pub states: Vec<Shown>,
    /// How it ended.
    pub end: String,
    /// How many switches away from a thread that could have gone on it has.
    pub preemptions: Option<u32>,
    /// The promises that it breaks.
    pub broken: Vec<Broken>,
    /// The digest of its history.
    #[serde(skip)]
    pub history: u32,
}

/// The state of a machine in words.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Shown {
    /// The machine, by the order in which they were made.
    pub object: u8,
    /// How many events there were by then.
    pub events: usize,
    /// The state.
    pub text: String,
}

/// A broken promise.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Broken {
    /// The invariant.
    pub invariant: String,
    /// Why.
    pub because: String,
    /// The event at which it shows, if it is one event.
    pub at: Option<usize>,
}
