//! A metrics library that remembers what a queue under trial tells it.

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::metrics::{Metrics, Provider, Sink};
use seatrial_core::priority_queue::Label;

use crate::trial::told::{SOMEBODY_LISTENS, Told, tell};

/// Remembers what it is told until somebody takes it.
struct Listener;

impl Sink for Listener {
    fn depth(&self, change: i64) {
        tell(Told::Depth(None, change));
    }

    fn depth_at(&self, label: Label, change: i64) {
        let priority = match label {
            Label::Priority(priority) => Some(priority),
            Label::Other => None,
        };
        tell(Told::Depth(priority, change));
    }

    fn added(&self) {
        tell(Told::Added);
    }

    fn latency(&self, waited: Duration) {
        tell(Told::Latency(waited));
    }

    fn work(&self, took: Duration) {
        tell(Told::Work(took));
    }

    fn retried(&self) {
        tell(Told::Retried);
    }

    fn unfinished(&self, sum: Duration, longest: Duration) {
        tell(Told::Unfinished(sum, longest));
    }
}

impl Provider for Listener {
    /// Shows that this machine is measured, to the code that makes it.
    fn sink(&self, _: &str) -> Option<Arc<dyn Sink>> {
        tell(SOMEBODY_LISTENS);
        Some(Arc::new(Self))
    }
}

/// Measures a machine under trial.
pub(crate) fn metrics() -> Metrics {
    Metrics::named("tried").told_to(Arc::new(Listener))
}
