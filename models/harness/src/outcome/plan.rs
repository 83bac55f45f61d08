//! What a trial is asked for.

use std::time::Duration;

use super::budget::Budget;
use crate::engine::Engine;

/// What is to be run: an engine, how much of it, and from which seed.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The engine.
    pub engine: Engine,
    /// How much.
    pub budget: Budget,
    /// Where randomness starts.
    pub seed: u64,
    /// When to end early.
    pub stop_at: StopAt,
    /// Whether findings are made small, where the engine can.
    pub minimise: bool,
    /// The share of the time budget that this case gets, where time is the budget.
    pub time: Option<Duration>,
}

/// When a trial may end before the budget is spent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopAt {
    /// As soon as any invariant is violated.
    FirstViolation,
    /// Never: every invariant gets its own verdict.
    End,
}
