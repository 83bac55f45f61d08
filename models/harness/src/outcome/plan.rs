//! Plans of trials.

use std::time::Duration;

use super::budget::Budget;
use crate::engine::Engine;

/// The plan of a trial: an engine, a budget, and a seed.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The engine.
    pub engine: Engine,
    /// The budget.
    pub budget: Budget,
    /// The seed of the random numbers.
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
