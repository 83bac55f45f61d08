//! Processing of one item by a worker, and the outcome for the item.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::caught::{self, discard};
use crate::limited_queue::Outcome;
use crate::metrics::GivenUp;
use crate::runtime::Panic;

use super::Source;
use super::answer::{Action, Answer, Attempt, Cause, Failure, Fate, Fault};
use super::span::Span;

/// Processes items on threads. A function `Fn(&K) -> impl Answer`, for example one that returns a
/// `Result<(), E>`, implements this trait; it is not told of failures.
/// [`deciding`](super::deciding) is for functions that need the number of the attempt or decide
/// which errors to retry. [`policy`](super::policy) adds a maximum of retries, metrics and a
/// listener to any reconciler.
pub trait Reconcile<K>: Send + Sync + 'static {
    /// The type of error.
    type Error;

    /// Processes an item. A panic is tried again, like an error.
    ///
    /// # Errors
    /// The error of this attempt. The [`Fault`] says whether another attempt is worthwhile.
    fn reconcile(&self, key: &K, attempt: Attempt<'_>) -> Result<Action, Fault<Self::Error>>;

    /// Returns how often a failed item is tried again at most; `None` means for ever.
    fn max_retries(&self) -> Option<u32> {
        None
    }

    /// Called after a failure, before the item is given back: the place for your log.
    fn failed(&self, key: &K, failure: &Failure<Self::Error>) {
        let _ = (key, failure);
    }
}

impl<K, O: Answer, F: Fn(&K) -> O + Send + Sync + 'static> Reconcile<K> for F {
    type Error = O::Error;

    fn reconcile(&self, key: &K, _: Attempt<'_>) -> Result<Action, Fault<O::Error>> {
        self(key).into_action()
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
    let failures = || queue.failures(key);
    let attempt = Attempt(&failures);
    let work = AssertUnwindSafe(|| reconciler.reconcile(key, attempt));
    let result = span.within(|| catch_unwind(work));
    held.settle(
        result,
        attempt,
        || reconciler.max_retries(),
        |failure| {
            span.failed(failure);
            reconciler.failed(key, failure);
        },
    );
}

/// How long a worker rests after its queue has panicked: longer each time in a row, so that a broken
/// limiter or key does not keep the worker busy.
#[derive(Default)]
pub(super) struct Rest(Duration);

impl Rest {
    const SHORTEST: Duration = Duration::from_millis(5);
    const LONGEST: Duration = Duration::from_millis(100);

    /// Returns the next time to rest.
    pub(super) fn next(&mut self) -> Duration {
        self.0 = (self.0 * 2).clamp(Self::SHORTEST, Self::LONGEST);
        self.0
    }
}

/// The result of an attempt: an answer or a panic. A panic may leave the reconciler's own state
/// broken; the queue's lock is not held.
pub(super) type Attempted<E> = Result<Result<Action, Fault<E>>, Panic>;

/// A delivery that ends in any case, at the latest on drop.
pub(super) struct Held<'q, Q: Source> {
    pub(super) queue: &'q Q,
    /// `None` once it has ended.
    pub(super) delivery: Option<Q::Delivery>,
}

impl<Q: Source> Held<'_, Q> {
    /// Ends the delivery as a result asks for. The listener of failures may panic, which changes
    /// nothing. The count of failures may panic too; then this failure counts as the first.
    pub(super) fn settle<E>(
        mut self,
        result: Attempted<E>,
        attempt: Attempt<'_>,
        max_retries: impl FnOnce() -> Option<u32>,
        failed: impl FnOnce(&Failure<E>),
    ) {
        let (outcome, priority) = match judged(result) {
            Ok(action) => asked_for(action),
            Err((cause, fate)) => {
                let asked = catch_unwind(AssertUnwindSafe(|| {
                    let attempt = attempt.number(); // the limiter's
                    (attempt, limited(fate, attempt, max_retries()))
                }));
                let (attempt, fate) = asked.unwrap_or_else(|panic| {
                    discard(panic);
                    (1, fate)
                });
                let failure = Failure { cause, attempt, fate };
                caught::tell(|| failed(&failure));
                caught::tell(|| drop(failure)); // the destructor is foreign code, too
                (deserved(fate), None)
            }
        };
        if let Some(delivery) = self.delivery.take() {
            self.queue.settle(delivery, outcome, priority);
        }
    }
}

fn judged<E>(result: Attempted<E>) -> Result<Action, (Cause<E>, Fate)> {
    let (cause, fate) = match result {
        Ok(Ok(action)) => return Ok(action),
        Err(panic) => (Cause::Panic(panic), Fate::Retry),
        Ok(Err(Fault::Retry(error))) => (Cause::Error(error), Fate::Retry),
        Ok(Err(Fault::RetryAfter(error, delay))) => (Cause::Error(error), Fate::RetryAfter(delay)),
        Ok(Err(Fault::Terminal(error))) => (Cause::Error(error), Fate::GivenUp(GivenUp::Terminal)),
    };
    Err((cause, fate))
}

/// Gives up an item that has failed more often than it may be tried again.
fn limited(fate: Fate, attempt: u32, max_retries: Option<u32>) -> Fate {
    match (fate, max_retries) {
        (Fate::GivenUp(_), _) => fate,
        (_, Some(max)) if attempt > max => Fate::GivenUp(GivenUp::TooOften),
        _ => fate,
    }
}

fn asked_for(action: Action) -> (Outcome, Option<i32>) {
    let again = |after: Option<Duration>| after.map_or(Outcome::Retry, Outcome::RequeueAfter);
    match action {
        Action::Done => (Outcome::Success, None),
        Action::RequeueAfter(delay) => (again(Some(delay)), None),
        Action::Requeue => (again(None), None),
        Action::Priority(priority, after) => (again(after), Some(priority)),
    }
}

fn deserved(fate: Fate) -> Outcome {
    match fate {
        Fate::Retry => Outcome::Retry,
        Fate::RetryAfter(delay) => Outcome::RetryAfter(delay),
        Fate::GivenUp(_) => Outcome::GiveUp,
    }
}

impl<Q: Source> Drop for Held<'_, Q> {
    fn drop(&mut self) {
        if let Some(delivery) = self.delivery.take() {
            self.queue.release(delivery);
        }
    }
}
