//! Who leads, as a metric (`election:LE-58` to `LE-60`).

use std::sync::{Arc, OnceLock};

/// Takes what electors report; the conventional gauge is 1 while leading, 0 otherwise. Who panics
/// here misses a report, and no leader ends for it.
pub trait LeaderMetrics: Send + Sync {
    /// The elector of that name leads.
    fn on(&self, name: &str);
    /// It does not lead: at its construction, and whenever it loses leadership.
    fn off(&self, name: &str);
    /// A leader had to read the lock before it renewed.
    fn slow_path(&self, name: &str) {
        let _ = name;
    }
}

static METRICS: OnceLock<Arc<dyn LeaderMetrics>> = OnceLock::new();

/// Sets the metrics of this process. The first call counts, later ones change nothing and return
/// false; electors made before keep reporting to nobody (`election:LE-58`, `LE-59`).
pub fn set_leader_metrics(metrics: Arc<dyn LeaderMetrics>) -> bool {
    METRICS.set(metrics).is_ok()
}

pub(super) fn current() -> Option<Arc<dyn LeaderMetrics>> {
    METRICS.get().map(Arc::clone)
}
