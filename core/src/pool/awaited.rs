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
//! A worker ends when its queue is shut down and has nothing for it any more. To drop it is to stop
//! it where it awaits; the item that it had is done, neither tried again nor forgotten.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::reconcile::Held;
use super::span::Span;
use super::{Action, Failure, Source};

/// Processes items in tasks. A function `Fn(K) -> impl Future<Output = Result<Action, E>>` is one
/// that says nothing about failures; [`telling`](super::telling) adds that.
pub trait ReconcileAsync<K>: Send + Sync + 'static {
    /// What goes wrong.
    type Error: Send;

    /// Processes an item. An error, and a panic, means that it is tried again when the queue's
    /// limiter says so.
    ///
    /// # Errors
    /// As you like.
    fn reconcile(&self, key: &K) -> impl Future<Output = Result<Action, Self::Error>> + Send;

    /// Learns of a failure, before the item is given back: the place for your log.
    fn failed(&self, key: &K, failure: Failure<Self::Error>) {
        drop((key, failure));
    }
}

impl<K, E, T, F> ReconcileAsync<K> for F
where
    K: Clone + Send + Sync,
    E: Send,
    T: Future<Output = Result<Action, E>> + Send,
    F: Fn(K) -> T + Send + Sync + 'static,
{
    type Error = E;

    fn reconcile(&self, key: &K) -> impl Future<Output = Result<Action, E>> + Send {
        self(key.clone())
    }
}

/// Processes the items of a queue until it is shut down: the loop of one worker.
///
/// It lets others run where the queue or the function does, and nowhere else.
pub async fn work<Q: Source, F: ReconcileAsync<Q::Key>>(queue: &Q, reconciler: &F) {
    while process_next(queue, reconciler).await {}
}

/// Processes one item and ends its delivery, whatever happens; tells whether there was one
/// (`workqueue:CL-1` to `CL-3`).
pub(super) async fn process_next<Q: Source, F: ReconcileAsync<Q::Key>>(
    queue: &Q,
    reconciler: &F,
) -> bool {
    let Some((key, delivery)) = queue.next_async().await else { return false };
    let held = Held { queue, delivery: Some(delivery) };
    let span = Span::new(&key);
    let work = Box::pin(async { reconciler.reconcile(&key).await });
    let result = Caught { span: &span, work }.await;
    held.settle(result, |failure| {
        span.failed(&failure);
        reconciler.failed(&key, failure);
    });
    true
}

/// A future whose panic is a result.
struct Caught<'a, T> {
    span: &'a Span,
    work: Pin<Box<dyn Future<Output = T> + Send + 'a>>,
}

impl<T, E> Future for Caught<'_, Result<T, E>> {
    type Output = Result<T, Failure<E>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { span, work } = &mut *self;
        let poll = || span.within(|| work.as_mut().poll(context));
        match catch_unwind(AssertUnwindSafe(poll)) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(result)) => Poll::Ready(result.map_err(Failure::Error)),
            Err(panic) => Poll::Ready(Err(Failure::Panic(panic))),
        }
    }
}
