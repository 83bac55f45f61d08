//! What the parts of a search find, and how it is put together.

use std::ops::ControlFlow;

use super::session;
use super::trace::Yield;
use crate::engine::{Execution, Exploration};

/// Judges the executions of a part of a search, one after the other.
pub trait Judging: Send {
    /// Looks at an execution and says whether to go on.
    fn judge(&mut self, execution: &Execution<'_>) -> ControlFlow<()>;

    /// Adds what was found in the part that comes next; `before` executions were before it.
    fn absorb(&mut self, next: Self, before: u64);
}

/// What a part has led to.
pub(super) struct Part<J> {
    pub(super) exploration: Exploration,
    pub(super) judging: J,
    pub(super) leaves: Yield,
    /// Whether the judge broke off.
    pub(super) broke_off: bool,
}

/// What the executions so far have led to.
pub(super) struct Found<J> {
    pub(super) exploration: Exploration,
    pub(super) judging: J,
}

impl<J: Judging> Found<J> {
    /// Takes the results of a part over, if they are here and are all that it has.
    pub(super) fn take_over(&mut self, part: Option<Part<J>>) -> ControlFlow<()> {
        let left = session::with(|session| session.chooser.left());
        let is_all = |part: &Part<J>| {
            (part.broke_off || part.leaves.is_whole) && part.exploration.executions <= left
        };
        let Some(part) = part.filter(is_all) else {
            session::with(|session| session.chooser.go_on(None));
            return ControlFlow::Continue(());
        };
        let Part { exploration, judging, leaves, broke_off } = part;
        self.judging.absorb(judging, self.exploration.executions);
        self.exploration.executions += exploration.executions;
        self.exploration.steps += exploration.steps;
        let leaves = Some((leaves, exploration.executions));
        session::with(|session| session.chooser.go_on(leaves));
        if broke_off { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
