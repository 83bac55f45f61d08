//! What workers do with an item, and what becomes of it.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::limited_queue::Outcome;
use crate::runtime::Panic;

use super::Source;
use super::span::Span;

/// What is to become of an item that was processed without an error.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// Nothing: its failures are forgotten.
    Done,
    /// It is processed again after a time; its failures are forgotten (`workqueue:CL-9`).
    RequeueAfter(Duration),
}

/// Why an item is tried again.
pub enum Failure<E> {
    /// Processing returned an error.
    Error(E),
    /// Processing panicked, with this.
    Panic(Panic),
}

impl<E> Failure<E> {
    /// Returns what a panic says, if it says anything.
    pub fn panic_message(&self) -> Option<&str> {
        let Self::Panic(panic) = self else { return None };
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panic.downcast_ref::<&str>().copied())
    }
}

impl<E: fmt::Debug> fmt::Debug for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => f.debug_tuple("Error").field(error).finish(),
            Self::Panic(_) => f.debug_tuple("Panic").field(&self.panic_message()).finish(),
        }
    }
}

/// Processes items on threads. A function `Fn(&K) -> Result<Action, E>` is one that says nothing
/// about failures; [`telling`](super::telling) adds that.
pub trait Reconcile<K>: Send + Sync + 'static {
    /// What goes wrong.
    type Error;

    /// Processes an item. An error, and a panic, means that it is tried again when the queue's
    /// limiter says so.
    ///
    /// # Errors
    /// As you like.
    fn reconcile(&self, key: &K) -> Result<Action, Self::Error>;

    /// Learns of a failure, before the item is given back: the place for your log.
    fn failed(&self, key: &K, failure: Failure<Self::Error>) {
        drop((key, failure));
    }
}

impl<K, E, F: Fn(&K) -> Result<Action, E> + Send + Sync + 'static> Reconcile<K> for F {
    type Error = E;

    fn reconcile(&self, key: &K) -> Result<Action, E> {
        self(key)
    }
}

/// Processes one item and ends its delivery, whatever happens (`workqueue:CL-1` to `CL-3`).
pub(super) fn process<Q: Source, F: Reconcile<Q::Key>>(
    queue: &Q,
    reconciler: &F,
    key: &Q::Key,
    delivery: Q::Delivery,
) {
    let held = Held { queue, delivery: Some(delivery) };
    let span = Span::new(key);
    let result = span.within(|| caught(|| reconciler.reconcile(key)));
    held.settle(result, |failure| {
        span.failed(&failure);
        reconciler.failed(key, failure);
    });
}

/// Runs foreign code. It may leave broken what it shares; that is its own business, and the
/// queue's lock is not held.
pub(super) fn caught<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<T, Failure<E>> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(Failure::Error),
        Err(panic) => Err(Failure::Panic(panic)),
    }
}

/// A delivery that ends in any case.
pub(super) struct Held<'q, Q: Source> {
    pub(super) queue: &'q Q,
    /// `None` once it has ended.
    pub(super) delivery: Option<Q::Delivery>,
}

impl<Q: Source> Held<'_, Q> {
    /// Ends the delivery as a result asks for; whoever is told of a failure may panic.
    pub(super) fn settle<E>(
        mut self,
        result: Result<Action, Failure<E>>,
        failed: impl FnOnce(Failure<E>),
    ) {
        let outcome = match result {
            Ok(Action::Done) => Outcome::Success,
            Ok(Action::RequeueAfter(delay)) => Outcome::RequeueAfter(delay),
            Err(failure) => {
                let told = catch_unwind(AssertUnwindSafe(|| failed(failure)));
                drop(told);
                Outcome::Retry
            }
        };
        if let Some(delivery) = self.delivery.take() {
            self.queue.settle(delivery, outcome);
        }
    }
}

impl<Q: Source> Drop for Held<'_, Q> {
    fn drop(&mut self) {
        if let Some(delivery) = self.delivery.take() {
            self.queue.release(delivery);
        }
    }
}
