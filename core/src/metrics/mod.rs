//! Metrics of queues (client-go `util/workqueue`, `metrics.go`).
//!
//! A queue with a name and a provider reports when items are added, handed out, done and retried,
//! how long they waited and how long they took. It also reports, again and again, how much is
//! unfinished, so that a worker that hangs is visible (`workqueue:MX-3`). A queue without a name or
//! provider has no metrics, and only checks a pointer (`MX-1`).
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
//! Sinks are called under the queue's lock and must not call back (`MX-11`). All times come from
//! the queue's clock (`MX-13`).
//!
//! Unlike in the reference, a queue never starts a thread by itself: an [`Updater`] is a thread,
//! and a task that awaits `refresh_metrics_async` needs none.

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

/// The receiver of the metrics of one queue.
pub trait Sink: Send + Sync + 'static {
    /// The number of items that need processing changed by `change`. Items added while they are
    /// processed count (`workqueue:MX-8`).
    fn depth(&self, change: i64) {
        let _ = change;
    }

    /// As [`depth`](Self::depth), for one priority of a priority queue. A provider without labels
    /// counts all priorities together (`workqueue:PQ-37`).
    fn depth_at(&self, label: Label, change: i64) {
        let _ = label;
        self.depth(change);
    }

    /// An item was added that did not need processing before (`workqueue:MX-5`).
    fn added(&self) {}

    /// An item was handed out, this long after it was added (`workqueue:MX-6`).
    fn latency(&self, waited: Duration) {
        let _ = waited;
    }

    /// An item is done, this long after it was handed out (`workqueue:MX-7`).
    fn work(&self, took: Duration) {
        let _ = took;
    }

    /// An item was given a delay.
    fn retried(&self) {}

    /// A reconcile function returned an error or panicked
    /// ([`Policy::counting`](crate::pool::Policy::counting)). Called outside of every lock.
    fn failed(&self) {}

    /// An item is not tried again. Called outside of every lock.
    fn given_up(&self, why: GivenUp) {
        let _ = why;
    }

    /// How long the items in processing have been there: the sum, and the longest time
    /// (`workqueue:MX-10`).
    fn unfinished(&self, sum: Duration, longest: Duration) {
        let _ = (sum, longest);
    }
}

/// Makes sinks: a metrics library of your choice.
pub trait Provider: Send + Sync + 'static {
    /// Returns the sink for a queue; `None` for no metrics.
    fn sink(&self, queue: &str) -> Option<Arc<dyn Sink>>;
}

/// The provider of queues that choose none (`workqueue:MX-2`).
static PROVIDER: OnceLock<Arc<dyn Provider>> = OnceLock::new();

/// Sets the provider of all queues that are made afterwards and choose none. Only the first call
/// has an effect; returns whether this was the first (`workqueue:MX-2`).
pub fn set_provider(provider: Arc<dyn Provider>) -> bool {
    PROVIDER.set(provider).is_ok()
}

/// A queue's name and provider.
#[derive(Clone, Default)]
pub struct Metrics {
    name: String,
    provider: Option<Arc<dyn Provider>>,
}

impl Metrics {
    /// Names a queue, whose metrics go to the process's provider. A queue without a name is not
    /// measured (`workqueue:MX-1`).
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), provider: None }
    }

    /// Sets a provider for all metrics of this queue (`workqueue:MX-2`).
    #[must_use]
    pub fn told_to(self, provider: Arc<dyn Provider>) -> Self {
        Self { provider: Some(provider), ..self }
    }

    /// Returns the sink; `None` for no metrics.
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

/// Metrics of a priority queue, for
/// [`PriorityQueue::with_metrics`](crate::priority_queue::PriorityQueue::with_metrics).
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
