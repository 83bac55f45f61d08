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
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::reconcile::Rest;
use super::{End, Source, awaited};

pub use super::awaited::ReconcileAsync;

/// Tasks that process the items of a queue. Dropping it aborts them.
pub struct TaskPool<Q: Source> {
    queue: Arc<Q>,
    tasks: JoinSet<()>,
}

impl<Q: Source> TaskPool<Q> {
    /// Starts a number of workers on the caller's tokio runtime.
    ///
    /// # Panics
    /// If there is no such runtime: tokio's own panic.
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

    /// Refuses new items, has waiting items processed, and returns when all workers have ended or
    /// `patience` has passed, by tokio's clock. Items whose time has not come, and items that fail
    /// from now on, are not tried again; a priority queue stops at once. See
    /// [`Pool::shut_down`](super::Pool::shut_down).
    ///
    /// At the deadline the workers are aborted at their next await, and the items that they had are
    /// done: neither tried again nor forgotten.
    pub async fn shut_down(mut self, patience: Duration) -> End {
        self.queue.shut_down();
        let all = async {
            while let Some(ended) = self.tasks.join_next().await {
                // A defect of the pool: workers catch the rest.
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
    let mut rest = Rest::default();
    while awaited::round(&*queue, &*reconciler, &mut rest).await {
        // Without this, a queue that is never empty would occupy the thread for ever.
        tokio::task::coop::consume_budget().await;
    }
}
