//! A thread that reports how much is unfinished.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::runtime::Runtime;

/// How often the reference refreshes the gauges.
pub const EVERY: Duration = Duration::from_millis(500);

/// A queue that can report how much is unfinished.
pub trait Measured: Send + Sync + 'static {
    /// Reports it at this interval, until the queue is shut down.
    fn refresh_metrics(&self, every: Duration);
}

/// A thread that reports every half second how much of a queue is unfinished, until the queue is
/// shut down (`workqueue:MX-10`, `MX-12`).
pub struct Updater<R: Runtime> {
    runtime: R,
    thread: R::Join<()>,
}

impl<R: Runtime> Updater<R> {
    /// Starts the thread.
    pub fn start<Q: Measured>(runtime: &R, queue: &Arc<Q>) -> Self {
        let queue = Arc::clone(queue);
        let thread = runtime.spawn("queue metrics", move || queue.refresh_metrics(EVERY));
        Self { runtime: runtime.clone(), thread }
    }

    /// Waits until the thread has ended, which it does when the queue is shut down.
    ///
    /// # Panics
    /// If a queue of your own has panicked, with the same payload. A panic of a sink ends
    /// nothing: it only misses a report.
    pub fn join(self) {
        if let Err(panic) = self.runtime.join(self.thread) {
            std::panic::resume_unwind(panic);
        }
    }
}

impl<R: Runtime> fmt::Debug for Updater<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Updater")
    }
}
