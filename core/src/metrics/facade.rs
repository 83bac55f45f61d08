//! Metrics of queues through the crate `metrics`.
//!
//! The recorder chooses the buckets of its histograms; those of the reference are [`BUCKETS`].

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ::metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};

use super::{GivenUp, Label};
use super::{Provider, Sink};

/// The reference's buckets, for recorders that can be configured (`workqueue:MX-4`).
pub const BUCKETS: [f64; 12] = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3];

/// Uses the recorder that is installed when a queue is made, or, for the depth by priority, at the
/// first report. So install the recorder first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facade;

impl Provider for Facade {
    fn sink(&self, queue: &str) -> Option<Arc<dyn Sink>> {
        let name = queue.to_owned();
        Some(Arc::new(OfQueue {
            name: name.clone(),
            depth: OnceLock::new(),
            adds: counter!("workqueue_adds_total", "name" => name.clone()),
            latency: histogram!("workqueue_queue_duration_seconds", "name" => name.clone()),
            work: histogram!("workqueue_work_duration_seconds", "name" => name.clone()),
            unfinished: gauge!("workqueue_unfinished_work_seconds", "name" => name.clone()),
            longest: gauge!(
                "workqueue_longest_running_processor_seconds", "name" => name.clone()
            ),
            retries: counter!("workqueue_retries_total", "name" => name),
        }))
    }
}

/// The metrics of one queue.
struct OfQueue {
    name: String,
    /// A priority queue does not use this one: it has a gauge for every priority.
    depth: OnceLock<Gauge>,
    adds: Counter,
    latency: Histogram,
    work: Histogram,
    unfinished: Gauge,
    longest: Gauge,
    retries: Counter,
}

impl Sink for OfQueue {
    fn depth(&self, change: i64) {
        let depth = || gauge!("workqueue_depth", "name" => self.name.clone());
        self.depth.get_or_init(depth).increment(change as f64);
    }

    fn depth_at(&self, label: Label, change: i64) {
        let (name, priority) = (self.name.clone(), label.to_string());
        gauge!("workqueue_depth", "name" => name, "priority" => priority).increment(change as f64);
    }

    fn added(&self) {
        self.adds.increment(1);
    }

    fn latency(&self, waited: Duration) {
        self.latency.record(waited);
    }

    fn work(&self, took: Duration) {
        self.work.record(took);
    }

    fn retried(&self) {
        self.retries.increment(1);
    }

    fn failed(&self) {
        counter!("workqueue_failures_total", "name" => self.name.clone()).increment(1);
    }

    fn given_up(&self, why: GivenUp) {
        let (name, why) = (self.name.clone(), why.as_str());
        counter!("workqueue_given_up_total", "name" => name, "reason" => why).increment(1);
    }

    fn unfinished(&self, sum: Duration, longest: Duration) {
        self.unfinished.set(sum);
        self.longest.set(longest);
    }
}
