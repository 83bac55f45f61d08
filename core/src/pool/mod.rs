//! Workers at a queue: the loop that every controller needs, written once.
//!
//! A pool takes items from a rate-limiting or a priority queue and calls your function on them, on
//! several threads, with one delivery of an item at a time. The function's answer decides what
//! happens to the item (`workqueue:CL-1`): it is done, it comes back after a time or when the
//! queue's limiter says so ([`Action`]), or - after an error or a panic - it is tried again, later
//! each time. A function that judges its errors ([`Fault`]) can say that another attempt would not
//! help, or when it might.
//!
//! ```
//! use std::num::NonZeroUsize;
//! use std::sync::Arc;
//! use std::time::Duration;
//! use seatrial_core::limited_queue::LimitedQueue;
//! use seatrial_core::pool::{Failure, Pool, policy};
//! use seatrial_core::runtime::System;
//!
//! let system = System::new();
//! let queue = Arc::new(LimitedQueue::with_default_limiter(&system));
//! let workers = NonZeroUsize::new(2).unwrap();
//! let reconcile = |key: &&str| {
//!     println!("reconcile {key}");
//!     Ok::<(), std::io::Error>(())
//! };
//! let log = |key: &&str, failure: &Failure<std::io::Error>| eprintln!("{key}: {failure}");
//! let reconcile = policy(reconcile).at_most(10).telling(log);
//! let pool = Pool::start(&system, &queue, workers, reconcile);
//! queue.add("default/web");
//! let end = pool.shut_down(Duration::from_secs(10)); // finishes what waits
//! assert!(end.is_complete());
//! ```
//!
//! By default a failed item is retried for ever, and nobody is told of failures. A [`policy`] sets
//! a maximum and adds a listener; the feature `tracing` reports failures as events. [`deciding`]
//! gives the function the number of the attempt.
//!
//! To stop, stop the sources of items first, then the pool (`workqueue:CL-7`). A thread cannot be
//! stopped from outside, so a call of your function that goes on at the deadline is left running.
//! The pool then takes no further item, returns, and reports what is left ([`End`]).
//!
//! With the feature `tracing` every item has a span, `reconcile`, with its key, and every failure
//! is an event in it. [`awaited`] has workers that are tasks, for any executor. The feature `tokio`
//! adds `tasks`, a pool of them.
//!
//! Left out: several functions in one pool, and changing the number of workers.

mod answer;
pub mod awaited;
mod deciding;
mod policy;
mod reconcile;
mod source;
mod span;
#[cfg(feature = "tokio")]
pub mod tasks;
#[cfg(test)]
mod tests;

use std::fmt;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::cancel::CancelToken;
use crate::caught::discard;
use crate::runtime::Runtime;

pub use crate::metrics::GivenUp;
pub use answer::{Action, Answer, Attempt, Cause, Failure, Fate, Fault};
pub use deciding::{Deciding, deciding};
pub use policy::{Policy, Silent, Tell, policy};
pub use reconcile::Reconcile;
use reconcile::Rest;
pub use source::Source;

/// Threads that process the items of a queue.
///
/// Dropping it stops it without waiting: the queue is shut down, and the workers end after the
/// items that they have.
pub struct Pool<Q: Source, R: Runtime> {
    crew: Arc<Crew<Q, R>>,
    threads: Vec<R::Join<()>>,
}

/// How a pool ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[must_use = "it says what was left undone"]
#[non_exhaustive]
pub struct End {
    /// Workers that had not ended at the deadline.
    pub running: usize,
    /// Items that could have been handed out by then but were not.
    pub waiting: usize,
}

impl End {
    /// Tells whether every worker has ended and left no ready item behind. It does not count items
    /// whose time had not come, nor items that failed after the shutdown began: these are gone
    /// (see [`Pool::shut_down`]).
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.running == 0 && self.waiting == 0
    }
}

/// The state that the workers share.
struct Crew<Q, R: Runtime> {
    queue: Arc<Q>,
    /// How many workers have not left.
    running: R::Mutex<usize>,
    /// Ends when the last worker has left.
    left: CancelToken<R>,
    /// Whether to take no further item. Read before every item, so it takes no lock.
    stop: R::Published<bool>,
}

impl<Q: Source, R: Runtime> Pool<Q, R> {
    /// Starts a number of workers.
    ///
    /// # Panics
    /// If the runtime cannot start a thread; then the queue is shut down, so that those that were
    /// started end.
    pub fn start<F: Reconcile<Q::Key>>(
        runtime: &R,
        queue: &Arc<Q>,
        workers: NonZeroUsize,
        reconciler: F,
    ) -> Self {
        let crew = Arc::new(Crew {
            queue: Arc::clone(queue),
            running: runtime.mutex(workers.get()),
            left: CancelToken::new(runtime),
            stop: runtime.published(Arc::new(false)),
        });
        let reconciler = Arc::new(reconciler);
        // If a thread cannot be started, the pool drops, which ends the others.
        let mut pool = Self { crew, threads: Vec::with_capacity(workers.get()) };
        for number in 0..workers.get() {
            let (crew, reconciler) = (Arc::clone(&pool.crew), Arc::clone(&reconciler));
            let work = move || crew.work(&*reconciler);
            pool.threads.push(runtime.spawn(&format!("worker {number}"), work));
        }
        pool
    }

    /// Refuses new items, has waiting items processed, and returns when all workers have ended or
    /// `patience` has passed. Items whose time has not come, and items that fail from now on, are
    /// not tried again: a controller finds them when it lists again.
    ///
    /// A priority queue stops at once (`workqueue:PQ-31`): the workers finish the items that they
    /// have, everything that waits is left, and the result counts it.
    ///
    /// At the deadline the workers stop after the items that they have. A `patience` of zero makes
    /// that immediate.
    pub fn shut_down(mut self, patience: Duration) -> End {
        let crew = Arc::clone(&self.crew);
        let runtime = crew.runtime();
        let deadline = runtime.now() + patience;
        crew.queue.shut_down();
        let left = crew.left.wait_until(deadline);
        crew.stop();
        let running = *runtime.lock(&crew.running);
        if left {
            for thread in self.threads.drain(..) {
                if let Err(panic) = runtime.join(thread) {
                    std::panic::resume_unwind(panic); // a defect of the pool: workers catch the rest
                }
            }
        }
        End { running, waiting: crew.queue.waiting() }
    }

    /// Returns the queue.
    #[must_use]
    pub fn queue(&self) -> &Arc<Q> {
        &self.crew.queue
    }
}

impl<Q: Source, R: Runtime> Drop for Pool<Q, R> {
    fn drop(&mut self) {
        if !self.threads.is_empty() {
            self.crew.stop();
            self.crew.queue.shut_down();
        }
    }
}

impl<Q: Source, R: Runtime> Crew<Q, R> {
    fn runtime(&self) -> &R {
        self.left.runtime()
    }

    fn stop(&self) {
        self.runtime().publish(&self.stop, Arc::new(true));
    }

    fn work<F: Reconcile<Q::Key>>(&self, reconciler: &F) {
        let leaving = Leaving(self);
        let mut rest = Rest::default();
        while !*self.runtime().load(&self.stop) {
            match catch_unwind(AssertUnwindSafe(|| self.process_next(reconciler))) {
                Ok(true) => rest = Rest::default(),
                Ok(false) => break,
                Err(panic) => {
                    discard(panic);
                    self.runtime().block_on(self.queue.rest(rest.next()));
                }
            }
        }
        drop(leaving);
    }

    /// Processes one item. Returns whether there was one.
    fn process_next<F: Reconcile<Q::Key>>(&self, reconciler: &F) -> bool {
        let Some((key, delivery)) = self.queue.next() else { return false };
        reconcile::process(&*self.queue, reconciler, &key, delivery);
        true
    }
}

/// Counts a worker as gone, however it ends.
struct Leaving<'a, Q: Source, R: Runtime>(&'a Crew<Q, R>);

impl<Q: Source, R: Runtime> Drop for Leaving<'_, Q, R> {
    fn drop(&mut self) {
        let runtime = self.0.runtime();
        let mut running = runtime.lock(&self.0.running);
        *running -= 1;
        let last = *running == 0;
        drop(running);
        if last {
            self.0.left.cancel();
        }
    }
}

impl<Q: Source, R: Runtime> fmt::Debug for Pool<Q, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("threads", &self.threads.len()).finish_non_exhaustive()
    }
}
