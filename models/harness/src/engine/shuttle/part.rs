//! What the parts of a search find, and how it is put together.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::session;
use super::trace::{Trace, Yield};
use crate::engine::{Execution, Exploration};

/// Judges the executions of a part of a search, one after the other.
pub trait Judging: Send {
    /// Looks at an execution and says whether to go on.
    fn judge(&mut self, execution: &Execution<'_>) -> ControlFlow<()>;

    /// Adds what was found in the part that comes next; `before` executions were before it.
    fn absorb(&mut self, next: Self, before: u64);
}

/// When parts are lent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lends {
    /// When somebody waits for one.
    WhenWanted,
    /// Every part that there is, which is explored at once: so every loan that can end does.
    #[cfg(test)]
    AtOnce,
    /// Every part of the whole, which goes on when another thread has begun that part.
    #[cfg(test)]
    ToAnother,
}

/// What a part has led to.
pub(super) struct Part<J> {
    pub(super) found: Found<J>,
    pub(super) leaves: Yield,
    /// Whether the judge broke off, or an execution diverged.
    pub(super) broke_off: bool,
}

/// What a part owes, in steps, as a share of what all owe.
pub(super) struct Debt {
    own: usize,
    all: Arc<AtomicUsize>,
}

impl Debt {
    pub(super) fn new(all: &Arc<AtomicUsize>) -> Self {
        Self { own: 0, all: Arc::clone(all) }
    }

    /// Notes how much it is now.
    pub(super) fn set(&mut self, owes: usize) {
        self.all.fetch_add(owes.wrapping_sub(self.own), Ordering::Relaxed);
        self.own = owes;
    }
}

impl Drop for Debt {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// Looks at the search of the session that is entered.
pub(super) fn search<T>(look: impl FnOnce(&mut Trace) -> T) -> T {
    session::with(|session| look(session.chooser.trace().expect("it searches all traces")))
}

/// What the executions so far have led to.
pub(super) struct Found<J> {
    pub(super) exploration: Exploration,
    pub(super) judging: J,
    pub(super) debt: Debt,
}

impl<J: Judging> Found<J> {
    /// Takes the results of a part over, if they are here and are all that it has.
    pub(super) fn take_over(&mut self, part: Option<Part<J>>) -> ControlFlow<()> {
        let left = search(|search| search.left());
        let is_all = |part: &Part<J>| {
            (part.broke_off || part.leaves.is_whole) && part.found.exploration.executions <= left
        };
        let Some(part) = part.filter(is_all) else {
            search(|search| search.go_on(None));
            return ControlFlow::Continue(());
        };
        let Part { found: Self { exploration, judging, .. }, leaves, broke_off } = part;
        self.judging.absorb(judging, self.exploration.executions);
        self.exploration.executions += exploration.executions;
        self.exploration.steps += exploration.steps;
        let leaves = Some((leaves, exploration.executions));
        search(|search| search.go_on(leaves));
        if broke_off { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
