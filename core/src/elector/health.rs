//! The health check of a leader that neither renews nor stops (`election:LE-55` to `LE-57`).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::monitor::Monitor;
use crate::runtime::{Runtime, System};

use super::Elector;
use super::operations::Check;
use super::state::Election;

/// A leader has not renewed for longer than its lease and the tolerance.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Wedged {
    /// The name of the elector.
    pub lease: Arc<str>,
}

impl Wedged {
    /// Says that the leader of that name is wedged.
    #[must_use]
    pub const fn new(lease: Arc<str>) -> Self {
        Self { lease }
    }
}

impl fmt::Display for Wedged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed election to renew leadership on lease {}", self.lease)
    }
}

impl std::error::Error for Wedged {}

struct Watched<R: Runtime> {
    monitor: Arc<Monitor<Election, R>>,
    name: Arc<str>,
}

/// Watches the attached elector, if any. It may be called from any thread.
pub struct HealthCheck<R: Runtime = System> {
    runtime: R,
    tolerance: Duration,
    watched: R::Mutex<Option<Watched<R>>>,
}

impl<R: Runtime> HealthCheck<R> {
    /// The name of the check.
    pub const NAME: &'static str = "leaderElection";

    /// Makes a check that allows a leader to be late by `tolerance` beyond its lease.
    pub fn new(runtime: &R, tolerance: Duration) -> Self {
        Self { runtime: runtime.clone(), tolerance, watched: runtime.mutex(None) }
    }

    /// Watches this elector from now on.
    pub fn attach<L: Send + 'static>(&self, elector: &Elector<L, R>) {
        let watched =
            Watched { monitor: Arc::clone(&elector.monitor), name: Arc::clone(&elector.name) };
        let previous = self.runtime.lock(&self.watched).replace(watched);
        drop(previous);
    }

    /// Checks the elector.
    ///
    /// # Errors
    /// It leads and has not renewed for too long.
    pub fn check(&self) -> Result<(), Wedged> {
        let watched = self.runtime.lock(&self.watched);
        match &*watched {
            Some(watched) if !watched.monitor.call(Check { tolerance: self.tolerance }) => {
                Err(Wedged { lease: Arc::clone(&watched.name) })
            }
            _ => Ok(()),
        }
    }
}

impl<L: Send + 'static, R: Runtime> Elector<L, R> {
    /// Checks whether this elector is wedged (`election:LE-55`).
    ///
    /// # Errors
    /// It leads and has not renewed for longer than its lease and `tolerance`.
    pub fn check(&self, tolerance: Duration) -> Result<(), Wedged> {
        if self.monitor.call(Check { tolerance }) {
            Ok(())
        } else {
            Err(Wedged { lease: Arc::clone(&self.name) })
        }
    }
}

impl<R: Runtime> fmt::Debug for HealthCheck<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HealthCheck").field("tolerance", &self.tolerance).finish_non_exhaustive()
    }
}
