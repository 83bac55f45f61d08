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

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll};

use crate::caught::discard;
use crate::runtime::Panic;

use super::Source;
use super::answer::{Action, Answer, Attempt, Failure, Fault};
use super::reconcile::{Held, Rest};
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
    let mut rest = Rest::default();
    while round(queue, reconciler, &mut rest).await {}
}

/// Processes one item, or rests if the queue panics. Returns whether there may be another item.
pub(super) async fn round<Q: Source, F: ReconcileAsync<Q::Key>>(
    queue: &Q,
    reconciler: &F,
    rest: &mut Rest,
) -> bool {
    let mut process = pin!(process_next(queue, reconciler));
    match caught(|context| process.as_mut().poll(context)).await {
        Ok(more) => {
            *rest = Rest::default();
            more
        }
        Err(panic) => {
            discard(panic);
            queue.rest(rest.next()).await;
            true
        }
    }
}

/// Processes one item and ends its delivery, whatever happens. Returns whether there was one
/// (`workqueue:CL-1` to `CL-3`).
async fn process_next<Q: Source, F: ReconcileAsync<Q::Key>>(queue: &Q, reconciler: &F) -> bool {
    let Some((key, delivery)) = queue.next_async().await else { return false };
    let held = Held { queue, delivery: Some(delivery) };
    let span = Span::new(&key);
    let failures = || queue.failures(&key);
    let attempt = Attempt(&failures);
    let mut work = pin!(async { reconciler.reconcile(&key, attempt).await });
    let result = caught(|context| span.within(|| work.as_mut().poll(context))).await;
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

/// Makes the panic of a future a result.
fn caught<T>(
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
) -> impl Future<Output = Result<T, Panic>> {
    poll_fn(move |context| match catch_unwind(AssertUnwindSafe(|| poll(context))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    })
}
