//! Leader election (client-go `tools/leaderelection`).
//!
//! Participants compete for a lease that is kept in one object of a versioned store. The holder
//! renews it; the others take it once they have seen it unchanged for its whole duration *on their
//! own clock*. Clocks may differ by any amount; timestamps in the record decide nothing.
//!
//! A run blocks its thread ([`Elector::run`]) or is awaited on any executor
//! ([`Elector::run_async`]); the protected work runs beside it.
//!
//! There is at most one leader, whatever the latency of the store, as long as clocks keep their
//! stated rate and work stops within its stated time ([`Bounds`], `election:SF-10`). A store that
//! goes back to an older state makes no second leader either, as long as the leader reaches it and
//! the other participants knew the lock. No clock can help if a process pauses between its check
//! and its action; for that case the resource refuses outdated effects by the term's [`Fence`].
//!
//! The reference's rules are weaker: late replies, drift and some orders of release lead to two
//! leaders (`election:SF-9`, `CX-1` to `CX-15`). The pages of checks rebuild them as an exhibit.
//!
//! ```
//! use std::sync::Arc;
//! use seatrial_core::cancel::CancelToken;
//! use seatrial_core::elector::{
//!     Callbacks, Config, Elector, LeaseLock, Leadership, MemoryStore,
//! };
//! use seatrial_core::runtime::System;
//!
//! struct Worker(CancelToken);
//!
//! impl Callbacks<System> for Worker {
//!     fn started_leading(&self, leadership: &Leadership<System>) {
//!         assert!(leadership.is_valid());
//!         println!("leading with token {:?}", leadership.fence());
//!         self.0.cancel(); // enough for an example
//!     }
//!     fn stopped_leading(&self) {
//!         println!("no longer leading");
//!     }
//! }
//!
//! let system = System::new();
//! let store = Arc::new(MemoryStore::new(&system));
//! let lock = LeaseLock::new(store, "default", "controller");
//! let elector = Elector::new(&system, lock, Config::new("pod-1_4711")).unwrap();
//! let token = CancelToken::new(&system);
//! let led = elector.run(&token, &Arc::new(Worker(token.clone()))).unwrap();
//! assert!(led);
//! ```

/// Makes a setter for each field, because configurations and records may get more fields.
macro_rules! setters {
    ($name:ident { $($field:ident: $type:ty),+ $(,)? }) => {
        impl $name {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
                #[must_use]
                pub fn $field(mut self, $field: $type) -> Self {
                    self.$field = $field;
                    self
                }
            )+
        }
    };
}

mod async_driver;
mod attempt;
pub mod candidate;
mod config;
mod driver;
mod fence;
mod health;
mod leadership;
mod lent;
mod lock;
mod metrics;
mod operations;
mod record;
mod release;
mod run;
mod sighting;
mod state;
mod turn;
mod watchdog;
mod work;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use crate::caught::tell;
use crate::machine::{Hosted, Operation};
use crate::monitor::Monitor;
use crate::runtime::{Runtime, System};

pub use async_driver::AsyncCallbacks;
pub use config::{Bounds, Config, ConfigError, Timing, Versions, validate_nanos};
pub use driver::{AlreadyRunning, Callbacks};
pub use fence::{Fence, Gate};
pub use health::{HealthCheck, Wedged};
pub use leadership::Leadership;
pub use lock::{
    AnnotationLock, AsyncLock, AsyncObjectStore, Call, ConfigMap, ConfigMapLock, Content,
    Endpoints, EndpointsLock, EventRecorder, Kind, LeaseLock, LeaseSpec, Lock, LockEvent, LockKind,
    LockKindError, MemoryStore, Meta, Object, ObjectName, ObjectStore, PairLock, StoreError,
    Stored, Token, Version,
};
pub use metrics::{LeaderMetrics, set_leader_metrics};
pub use record::{Fields, JsonError, Name, Record, Timestamp};

for_harness! {
    use config::JITTER;
    use lock::{ANNOTATION, UNKNOWN_HOLDER};
    use operations::{
        Abort, Begin, Cancel, Check, GiveUp, Holds, IsLeader, Leader, Look, Op, Reply, Report, Rest,
        Ret, Runs, Try, Watch, WorkEnded,
    };
    use sighting::Observed;
    use state::{Election, RUN, TERM};
    use turn::{Io, Next, Notes, Turn};
}

use driver::Reporter;

/// A participant in an election. Shared by reference or in an `Arc`.
///
/// `L` is the lock, a [`Lock`] or an [`AsyncLock`], `R` the runtime.
pub struct Elector<L: Send + 'static, R: Runtime = System> {
    monitor: Arc<Monitor<Election, R>>,
    /// Lent during one run, attempt or release; a second one is refused meanwhile.
    lock: R::Mutex<Option<L>>,
    reporter: R::Mutex<Reporter<R>>,
    identity: Name,
    name: Arc<str>,
    metrics: Option<Arc<dyn LeaderMetrics>>,
}

impl<L: Send + 'static, R: Runtime> Elector<L, R> {
    /// Makes a participant. It makes no call before it runs (`election:LE-6`).
    ///
    /// # Errors
    /// The settings are refused ([`Config::validate`]).
    pub fn new(runtime: &R, lock: L, config: Config) -> Result<Self, ConfigError> {
        let election = Election::new(config.clone())?;
        Ok(Self::with_host(runtime, lock, &config, election))
    }

    /// Makes a participant around a given state.
    ///
    /// # For harnesses
    /// The state must have been made from the same settings, and these must be
    /// [valid](Config::validate). This is not checked: the participant would use the durations of
    /// the state, and report under the names of `config`.
    #[cfg_attr(not(feature = "harness"), doc(hidden))]
    pub fn with_host(
        runtime: &R,
        lock: L,
        config: &Config,
        host: impl Into<Hosted<Election>>,
    ) -> Self {
        let elector = Self {
            monitor: Arc::new(Monitor::new(runtime, host)),
            lock: runtime.mutex(Some(lock)),
            reporter: runtime.mutex(Reporter::default()),
            identity: config.identity.clone(),
            name: Arc::clone(&config.name),
            metrics: metrics::current(),
        };
        if let Some(metrics) = &elector.metrics {
            tell(|| metrics.off(&elector.name));
        }
        elector
    }

    /// Returns the runtime of the elector.
    pub fn runtime(&self) -> &R {
        self.monitor.runtime()
    }

    /// Makes a call in a separate stack frame. A turn is large, and a caller that takes many would
    /// need space for each of them in its own frame.
    #[inline(never)]
    fn ask<O: Operation<Election>>(&self, op: O) -> O::Ret {
        self.monitor.call(op)
    }

    /// Returns the participant's own identity.
    pub fn identity(&self) -> &Name {
        &self.identity
    }

    /// Tells whether this participant leads at this moment (`election:LE-12`).
    pub fn is_leader(&self) -> bool {
        self.monitor.call(IsLeader)
    }

    /// Returns the current leader, as far as this participant has seen (`election:LE-15`).
    pub fn leader(&self) -> Name {
        self.monitor.call(Leader)
    }

    /// Returns the record that the participant relies on, with the local time from which it counts.
    pub fn observed(&self) -> Observed {
        self.monitor.call(Look)
    }
}

impl<L: Send + 'static, R: Runtime> fmt::Debug for Elector<L, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Elector").field("identity", &self.identity).finish_non_exhaustive()
    }
}
