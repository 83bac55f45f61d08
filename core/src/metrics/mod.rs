//! What queues tell about themselves (client-go `util/workqueue`, `metrics.go`).
//!
//! A queue that has a name and somebody to tell says what is added, handed out, done and tried
//! again, how long items waited and how long they took; and, again and again, how much is
//! unfinished, so that a worker that hangs shows (`workqueue:MX-3`). One without either has no
//! metrics at all, and pays with a look at a pointer (`MX-1`).
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//! use seatrial_core::metrics::{Metrics, Provider, Sink, Updater};
//! use seatrial_core::queue::{Fifo, WorkQueue};
//! use seatrial_core::runtime::System;
//!
//! struct Print;
//! impl Sink for Print {
//!     fn latency(&self, waited: Duration) {
//!         println!("an item waited {waited:?}");
//!     }
//! }
//! impl Provider for Print {
//!     fn sink(&self, queue: &str) -> Option<Arc<dyn Sink>> {
//!         (queue == "pods").then(|| Arc::new(Print) as Arc<dyn Sink>)
//!     }
//! }
//!
//! let metrics = Metrics::named("pods").told_to(Arc::new(Print));
//! let system = System::new();
//! let queue = Arc::new(WorkQueue::with_metrics(&system, Fifo::default(), &metrics));
//! let updater = Updater::start(&system, &queue);
//! queue.add("default/web");
//! drop(queue.get());
//! queue.shut_down();
//! updater.join(); // it has ended
//! ```
//!
//! Features `metrics` and `prometheus-client` bring providers for those libraries, under the
//! reference's names (`MX-4`).
//!
//! Sinks are called under the queue's lock and must not call back (`MX-11`). All times are the
//! queue's (`MX-13`).
//!
//! Other than in the reference, a queue starts no thread of its own accord: an [`Updater`] is one,
//! and a task that awaits `refresh_metrics_async` is none.

mod busy;
#[cfg(feature = "metrics")]
pub mod facade;
mod figures;
mod meter;
#[cfg(feature = "prometheus-client")]
pub mod prometheus;
#[cfg(test)]
mod tests;
mod updater;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub(crate) use busy::Busy;
pub use figures::{GivenUp, Label};
pub(crate) use meter::Meter;
pub use updater::{EVERY, Updater};

for_harness! {
    use figures::Figures;
    use updater::Measured;
}

/// Where the figures of one queue go.
pub trait Sink: Send + Sync + 'static {
    /// The number of items that need processing changed by `change`. Items added while they are
    /// processed count (`workqueue:MX-8`).
    fn depth(&self, change: i64) {
        let _ = change;
    }

    /// As [`depth`](Self::depth), of a priority queue, under the label of a priority. A
    /// provider without labels counts them together (`workqueue:PQ-37`).
    fn depth_at(&self, label: Label, change: i64) {
        let _ = label;
        self.depth(change);
    }

    /// An item was added that did not need processing before (`workqueue:MX-5`).
    fn added(&self) {}

    /// An item was handed out, so long after it was added (`workqueue:MX-6`).
    fn latency(&self, waited: Duration) {
        let _ = waited;
    }

    /// An item is done, so long after it was handed out (`workqueue:MX-7`).
    fn work(&self, took: Duration) {
        let _ = took;
    }

    /// An item was given a delay.
    fn retried(&self) {}

    /// A reconcile function returned an error or panicked
    /// ([`Policy::counting`](crate::pool::Policy::counting)). Told outside of every lock.
    fn failed(&self) {}

    /// An item is not tried again. Told outside of every lock.
    fn given_up(&self, why: GivenUp) {
        let _ = why;
    }

    /// How long what is in processing has been there, summed up and at most (`workqueue:MX-10`).
    fn unfinished(&self, sum: Duration, longest: Duration) {
        let _ = (sum, longest);
    }
}

/// Makes sinks: a metrics library of your choice.
pub trait Provider: Send + Sync + 'static {
    /// Returns where the figures of a queue go; `None` if they go nowhere.
    fn sink(&self, queue: &str) -> Option<Arc<dyn Sink>>;
}

/// The provider of queues that name none (`workqueue:MX-2`).
static PROVIDER: OnceLock<Arc<dyn Provider>> = OnceLock::new();

/// Sets the provider of all queues that are made afterwards and name none of their own. The first
/// call counts; returns whether this was it (`workqueue:MX-2`).
pub fn set_provider(provider: Arc<dyn Provider>) -> bool {
    PROVIDER.set(provider).is_ok()
}

/// A queue's name, and whom to tell.
#[derive(Clone, Default)]
pub struct Metrics {
    name: String,
    provider: Option<Arc<dyn Provider>>,
}

impl Metrics {
    /// Names a queue; its figures go to the process's provider. A queue without a name is not
    /// measured (`workqueue:MX-1`).
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), provider: None }
    }

    /// Chooses a provider of this queue's own, for all of its figures (`workqueue:MX-2`).
    #[must_use]
    pub fn told_to(self, provider: Arc<dyn Provider>) -> Self {
        Self { provider: Some(provider), ..self }
    }

    /// Returns where the figures go, `None` if nowhere.
    #[must_use]
    pub fn sink(&self) -> Option<Arc<dyn Sink>> {
        if self.name.is_empty() {
            return None;
        }
        self.provider.as_ref().or_else(|| PROVIDER.get())?.sink(&self.name)
    }

    pub(crate) fn meter(&self) -> Option<Meter> {
        self.sink().map(Meter::new)
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Figures of a priority queue, as
/// [`PriorityQueue::with_metrics`](crate::priority_queue::PriorityQueue::with_metrics) tells them.
impl Figures for Arc<dyn Sink> {
    fn more(&mut self, label: Label) {
        self.depth_at(label, 1);
    }

    fn less(&mut self, label: Label) {
        self.depth_at(label, -1);
    }

    fn added(&mut self) {
        Sink::added(&**self);
    }

    fn latency(&mut self, ready: Duration) {
        Sink::latency(&**self, ready);
    }

    fn work(&mut self, took: Duration) {
        Sink::work(&**self, took);
    }

    fn retried(&mut self) {
        Sink::retried(&**self);
    }

    fn unfinished(&mut self, sum: Duration, longest: Duration) {
        Sink::unfinished(&**self, sum, longest);
    }
}
