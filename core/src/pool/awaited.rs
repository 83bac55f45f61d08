//! Workers that are tasks, of any executor.
//!
//! ```
//! use seatrial_core::limited_queue::LimitedQueue;
//! use seatrial_core::pool::{Action, awaited};
//! use seatrial_core::runtime::{Runtime, System};
//!
//! let system = System::new();
//! let queue = LimitedQueue::with_default_limiter(&system);
//! queue.add("default/web");
//! queue.shut_down();
//! let reconciler = async |key: &str| {
//!     println!("reconcile {key}");
//!     Ok::<_, std::io::Error>(Action::Done)
//! };
//! system.block_on(awaited::work(&queue, &reconciler)); // finishes what waits
//! ```
//!
//! A worker ends when its queue is shut down and has no more items for it. Dropping its future
//! stops it where it awaits; the item that it had is done, neither tried again nor forgotten. So
//! do not keep the future of a worker without polling it: it may hold the timer of all workers that
//! are tasks ([`take_async`](crate::limited_queue::LimitedQueue::take_async)).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Source;
use super::answer::{Action, Answer, Attempt, Failure, Fault};
use super::reconcile::{Attempted, Held};
use super::span::Span;

/// Processes items in tasks. A function `Fn(K) -> impl Future<Output = impl Answer>` implements
/// this trait; it is not told of failures. See [`Reconcile`](super::Reconcile).
pub trait ReconcileAsync<K>: Send + Sync + 'static {
    /// The type of error.
    type Error: Send;

    /// Processes an item. A panic is tried again, like an error.
    ///
    /// # Errors
    /// The error of this attempt. The [`Fault`] says whether another attempt is worthwhile.
    fn reconcile(
        &self,
        key: &K,
        attempt: Attempt<'_>,
    ) -> impl Future<Output = Result<Action, Fault<Self::Error>>> + Send;

    /// Returns how often a failed item is tried again at most; `None` means for ever.
    fn max_retries(&self) -> Option<u32> {
        None
    }

    /// Called after a failure, before the item is given back: the place for your log.
    fn failed(&self, key: &K, failure: &Failure<Self::Error>) {
        let _ = (key, failure);
    }
}

impl<K, O, T, F> ReconcileAsync<K> for F
where
    K: Clone + Send + Sync,
    O: Answer<Error: Send>,
    T: Future<Output = O> + Send,
    F: Fn(K) -> T + Send + Sync + 'static,
{
    type Error = O::Error;

    async fn reconcile(&self, key: &K, _: Attempt<'_>) -> Result<Action, Fault<O::Error>> {
        self(key.clone()).await.into_action()
    }
}

/// Processes the items of a queue until it is shut down: the loop of one worker.
///
/// It yields only where the queue or the function awaits.
pub async fn work<Q: Source, F: ReconcileAsync<Q::Key>>(queue: &Q, reconciler: &F) {
    while process_next(queue, reconciler).await {}
}

/// Processes one item and ends its delivery, whatever happens. Returns whether there was one
/// (`workqueue:CL-1` to `CL-3`).
pub(super) async fn process_next<Q: Source, F: ReconcileAsync<Q::Key>>(
    queue: &Q,
    reconciler: &F,
) -> bool {
    let Some((key, delivery)) = queue.next_async().await else { return false };
    let held = Held { queue, delivery: Some(delivery) };
    let span = Span::new(&key);
    let failures = || queue.failures(&key);
    let attempt = Attempt(&failures);
    let work = Box::pin(async { reconciler.reconcile(&key, attempt).await });
    let result = Caught { span: &span, work }.await;
    held.settle(
        result,
        attempt,
        || reconciler.max_retries(),
        |failure| {
            span.failed(failure);
            reconciler.failed(&key, failure);
        },
    );
    true
}

/// A future whose panic is a result.
struct Caught<'a, T> {
    span: &'a Span,
    work: Pin<Box<dyn Future<Output = T> + Send + 'a>>,
}

impl<E> Future for Caught<'_, Result<Action, Fault<E>>> {
    type Output = Attempted<E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { span, work } = &mut *self;
        let poll = || span.within(|| work.as_mut().poll(context));
        match catch_unwind(AssertUnwindSafe(poll)) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}
