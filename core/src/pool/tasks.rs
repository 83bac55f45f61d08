//! Workers that are tasks of tokio (feature `tokio`).
//!
//! ```
//! use std::num::NonZeroUsize;
//! use std::sync::Arc;
//! use std::time::Duration;
//! use seatrial_core::limited_queue::LimitedQueue;
//! use seatrial_core::pool::Action;
//! use seatrial_core::pool::tasks::TaskPool;
//! use seatrial_core::runtime::System;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let queue = Arc::new(LimitedQueue::with_default_limiter(&System::new()));
//! let pool = TaskPool::start(&queue, NonZeroUsize::MIN, async |key: &str| {
//!     println!("reconcile {key}");
//!     Ok::<_, std::io::Error>(Action::Done)
//! });
//! queue.add("default/web");
//! assert!(pool.shut_down(Duration::from_secs(10)).await.is_complete());
//! # });
//! ```

use std::fmt;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::task::JoinSet;

use super::reconcile::Held;
use super::span::Span;
use super::{Action, End, Failure, Source};

/// Processes items in tasks. A function `Fn(K) -> impl Future<Output = Result<Action, E>>` is one
/// that says nothing about failures.
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

/// Tasks that process the items of a queue. To drop it is to abort them.
pub struct TaskPool<Q: Source> {
    queue: Arc<Q>,
    tasks: JoinSet<()>,
}

impl<Q: Source> TaskPool<Q> {
    /// Starts so many workers on the runtime of the caller.
    ///
    /// # Panics
    /// If there is none: tokio's own panic.
    pub fn start<F: ReconcileAsync<Q::Key>>(
        queue: &Arc<Q>,
        workers: NonZeroUsize,
        reconciler: F,
    ) -> Self {
        let reconciler = Arc::new(reconciler);
        let mut tasks = JoinSet::new();
        for _ in 0..workers.get() {
            tasks.spawn(work(Arc::clone(queue), Arc::clone(&reconciler)));
        }
        Self { queue: Arc::clone(queue), tasks }
    }

    /// Refuses new items, has those that wait processed, and returns when all workers have ended or
    /// `patience` has passed, by tokio's clock. Items whose time has not come, and those that fail
    /// from now on, are not tried again.
    ///
    /// At the deadline the workers are aborted where they await next, and the items that they had
    /// are done: neither tried again nor forgotten.
    pub async fn shut_down(mut self, patience: Duration) -> End {
        self.queue.shut_down();
        let all = async {
            while let Some(ended) = self.tasks.join_next().await {
                // A worker catches what its items do; a panic here is the queue's.
                if let Err(Ok(panic)) = ended.map_err(tokio::task::JoinError::try_into_panic) {
                    std::panic::resume_unwind(panic);
                }
            }
        };
        let _elapsed = tokio::time::timeout(patience, all).await;
        self.tasks.abort_all();
        End { running: self.tasks.len(), waiting: self.queue.waiting() }
    }

    /// Returns the queue.
    #[must_use]
    pub fn queue(&self) -> &Arc<Q> {
        &self.queue
    }
}

impl<Q: Source> fmt::Debug for TaskPool<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskPool").field("tasks", &self.tasks.len()).finish_non_exhaustive()
    }
}

async fn work<Q: Source, F: ReconcileAsync<Q::Key>>(queue: Arc<Q>, reconciler: Arc<F>) {
    while let Some((key, delivery)) = queue.next_async().await {
        let held = Held { queue: &*queue, delivery: Some(delivery) };
        let span = Span::new(&key);
        let work = Box::pin(async { reconciler.reconcile(&key).await });
        let result = Caught { span: &span, work }.await;
        held.settle(result, |failure| {
            span.failed(&failure);
            reconciler.failed(&key, failure);
        });
        // A queue that is never empty would keep the thread to itself.
        tokio::task::coop::consume_budget().await;
    }
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
