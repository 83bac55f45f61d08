//! Metrics of queues in a registry of the crate `prometheus-client`.
//!
//! ```
//! use std::sync::Arc;
//! use prometheus_client::{encoding::text::encode, registry::Registry};
//! use seatrial_core::metrics::{Metrics, prometheus::Prometheus};
//! use seatrial_core::queue::{Fifo, WorkQueue};
//! use seatrial_core::runtime::System;
//!
//! let mut registry = Registry::default();
//! let provider = Arc::new(Prometheus::register(&mut registry));
//! let metrics = Metrics::named("pods").told_to(provider);
//! let queue = WorkQueue::with_metrics(&System::new(), Fifo::default(), &metrics);
//! queue.add("default/web");
//!
//! let mut text = String::new();
//! encode(&mut text, &registry)?;
//! assert!(text.contains("workqueue_adds_total{name=\"pods\"} 1"));
//! # Ok::<(), std::fmt::Error>(())
//! ```

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::{GivenUp, Label};
use super::{Provider, Sink};

type Labels = [(&'static str, String); 1];
/// The name of a queue, and a priority if it has priorities.
type DepthLabels = Vec<(&'static str, String)>;
type Seconds = Gauge<f64, AtomicU64>;

/// Makes histograms with the reference's buckets (`workqueue:MX-4`).
#[derive(Clone)]
struct Buckets;

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new((0..12).map(|power| 1e-8 * 10_f64.powi(power)))
    }
}

/// The seven metrics of queues, with the label `name`, and for the depth of a priority queue also
/// with the label `priority`. In addition two metrics of reconcilers; the one for items that are
/// given up has the label `reason`.
#[derive(Clone)]
pub struct Prometheus {
    depth: Family<DepthLabels, Gauge>,
    adds: Family<Labels, Counter>,
    latency: Family<Labels, Histogram, Buckets>,
    work: Family<Labels, Histogram, Buckets>,
    unfinished: Family<Labels, Seconds>,
    longest: Family<Labels, Seconds>,
    retries: Family<Labels, Counter>,
    failures: Family<Labels, Counter>,
    given_up: Family<[(&'static str, String); 2], Counter>,
}

impl Prometheus {
    /// Registers the metrics. A registry accepts them only once.
    pub fn register(registry: &mut Registry) -> Self {
        let all = Self {
            depth: Family::default(),
            adds: Family::default(),
            latency: Family::new_with_constructor(Buckets),
            work: Family::new_with_constructor(Buckets),
            unfinished: Family::default(),
            longest: Family::default(),
            retries: Family::default(),
            failures: Family::default(),
            given_up: Family::default(),
        };
        // The library adds `_total` to the names of counters, and a full stop to every help text.
        registry.register("workqueue_depth", "Items that need processing", all.depth.clone());
        registry.register("workqueue_adds", "Items that were added", all.adds.clone());
        registry.register(
            "workqueue_queue_duration_seconds",
            "How long items wait before they are handed out",
            all.latency.clone(),
        );
        registry.register(
            "workqueue_work_duration_seconds",
            "How long processing an item takes",
            all.work.clone(),
        );
        registry.register(
            "workqueue_unfinished_work_seconds",
            "How long what is in processing has been there, summed up",
            all.unfinished.clone(),
        );
        registry.register(
            "workqueue_longest_running_processor_seconds",
            "How long the longest of what is in processing has been there",
            all.longest.clone(),
        );
        registry.register(
            "workqueue_retries",
            "Items that were given a delay",
            all.retries.clone(),
        );
        registry.register("workqueue_failures", "Attempts that failed", all.failures.clone());
        registry.register(
            "workqueue_given_up",
            "Items that failed and are not tried again",
            all.given_up.clone(),
        );
        all
    }
}

impl Provider for Prometheus {
    fn sink(&self, queue: &str) -> Option<Arc<dyn Sink>> {
        let labels = [("name", queue.to_owned())];
        Some(Arc::new(OfQueue {
            name: queue.to_owned(),
            depths: self.depth.clone(),
            depth: OnceLock::new(),
            adds: self.adds.get_or_create(&labels).clone(),
            latency: self.latency.get_or_create(&labels).clone(),
            work: self.work.get_or_create(&labels).clone(),
            unfinished: self.unfinished.get_or_create(&labels).clone(),
            longest: self.longest.get_or_create(&labels).clone(),
            retries: self.retries.get_or_create(&labels).clone(),
            of_all: self.clone(),
        }))
    }
}

/// The metrics of one queue.
struct OfQueue {
    name: String,
    depths: Family<DepthLabels, Gauge>,
    /// A priority queue does not use this one: it has a gauge for every priority.
    depth: OnceLock<Gauge>,
    adds: Counter,
    latency: Histogram,
    work: Histogram,
    unfinished: Seconds,
    longest: Seconds,
    retries: Counter,
    /// For metrics that are made only when they are first used.
    of_all: Prometheus,
}

impl Sink for OfQueue {
    fn depth(&self, change: i64) {
        let depth = || self.depths.get_or_create(&vec![("name", self.name.clone())]).clone();
        self.depth.get_or_init(depth).inc_by(change);
    }

    fn depth_at(&self, label: Label, change: i64) {
        let labels = vec![("name", self.name.clone()), ("priority", label.to_string())];
        self.depths.get_or_create(&labels).inc_by(change);
    }

    fn added(&self) {
        self.adds.inc();
    }

    fn latency(&self, waited: Duration) {
        self.latency.observe(waited.as_secs_f64());
    }

    fn work(&self, took: Duration) {
        self.work.observe(took.as_secs_f64());
    }

    fn retried(&self) {
        self.retries.inc();
    }

    fn failed(&self) {
        self.of_all.failures.get_or_create(&[("name", self.name.clone())]).inc();
    }

    fn given_up(&self, why: GivenUp) {
        let labels = [("name", self.name.clone()), ("reason", why.as_str().to_owned())];
        self.of_all.given_up.get_or_create(&labels).inc();
    }

    fn unfinished(&self, sum: Duration, longest: Duration) {
        self.unfinished.set(sum.as_secs_f64());
        self.longest.set(longest.as_secs_f64());
    }
}

impl fmt::Debug for Prometheus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Prometheus")
    }
}
