//! A metric that tells who leads (`election:LE-58` to `LE-60`).

use std::sync::{Arc, OnceLock};

/// Receives the reports of electors. The conventional gauge is 1 while leading and 0 otherwise. A
/// panic in here loses the report, but does not end leadership.
pub trait LeaderMetrics: Send + Sync {
    /// The elector of that name leads.
    fn on(&self, name: &str);
    /// The elector does not lead: called when it is made, and when it loses leadership, also if the
    /// run is cancelled or dropped while it leads (`election:LE-39`).
    fn off(&self, name: &str);
    /// A leader had to read the lock before it renewed.
    fn slow_path(&self, name: &str) {
        let _ = name;
    }
}

static METRICS: OnceLock<Arc<dyn LeaderMetrics>> = OnceLock::new();

/// Sets the metrics of this process. Only the first call has an effect; later ones return false.
/// Electors made before do not report to it (`election:LE-58`, `LE-59`).
pub fn set_leader_metrics(metrics: Arc<dyn LeaderMetrics>) -> bool {
    METRICS.set(metrics).is_ok()
}

pub(super) fn current() -> Option<Arc<dyn LeaderMetrics>> {
    METRICS.get().map(Arc::clone)
}
