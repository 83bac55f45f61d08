//! A leader election for operators: at most one leader, as long as clocks keep their rate.
//!
//! Replicas compete for a Lease. The holder renews it; another replica takes it only after it has
//! seen the Lease unchanged for its whole duration on its own monotonic clock, so times written by
//! others decide nothing. Every write names the resource version that it replaces. The rules are
//! core's [`elector`](seatrial_core::elector), which is checked under every schedule.
//!
//! ```no_run
//! # async fn operator(client: kube::Client) -> Result<(), Box<dyn std::error::Error>> {
//! use seatrial_kube::election::LeaderElection;
//!
//! let election = LeaderElection::new(client, "operators", "my-operator");
//! election
//!     .run(|leadership| async move {
//!         // Your controllers, until leadership is lost.
//!         leadership.lost().await;
//!     })
//!     .await?;
//! # Ok(())
//! # }
//! ```
//!
//! # What stops the work
//!
//! A leader that cannot renew loses its leadership *before* another replica may take the Lease.
//! [`Leadership::lost`](seatrial_core::elector::Leadership::lost) is then ready, and the work has
//! [`Bounds::work`] to end, as a controller does with `graceful_shutdown_on`. A task that has not
//! ended by then is aborted. The next leader waits for that time, too.
//!
//! An abort takes effect where the work awaits. Work that blocks its thread, and tasks that it has
//! spawned, may go on. So the Lease is freed only if the work has returned or panicked; otherwise
//! the next leader waits until it expires. Return only when all your tasks have ended, and never
//! block a thread for longer than the Lease lasts.
//!
//! No clock can help if a process pauses between reading the clock and its write. In that case the
//! resource can refuse the write by the [fencing token](seatrial_core::elector::Leadership::fence).
//!
//! # Metrics and health
//!
//! [`set_leader_metrics`] reports the leader to your metrics library, under the name of the Lease.
//! [`LeaderElection::health`] gives a check for your liveness probe.

mod events;
mod store;
mod work;

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use seatrial_core::cancel::CancelToken;
use seatrial_core::elector::{Config, Elector, LeaseLock, Name};
use seatrial_core::runtime::{Ambient, Tokio};

use crate::events::Recorder;

pub use seatrial_core::elector::{
    Bounds, ConfigError, Fence, LeaderMetrics, Timing, Wedged, set_leader_metrics,
};
pub use store::LeaseStore;

/// One term of leadership; cheap to clone. Ask
/// [`is_valid`](seatrial_core::elector::Leadership::is_valid) immediately before you act, or send
/// the [`fence`](seatrial_core::elector::Leadership::fence) along.
pub type Leadership = seatrial_core::elector::Leadership<Tokio>;

/// A check for a liveness probe. It fails if this replica considers itself the leader and has not
/// renewed for longer than the Lease and a tolerance.
pub type HealthCheck = Arc<seatrial_core::elector::HealthCheck<Tokio>>;

/// A replica that takes part in an election.
pub struct LeaderElection {
    client: Client,
    namespace: String,
    runtime: Tokio,
    config: Config,
    labels: BTreeMap<String, String>,
    writes_events: bool,
    health: HealthCheck,
    observer: Option<work::Observer>,
    shutdown: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl LeaderElection {
    /// Takes part in the election for that Lease. The identity is `$POD_NAME` or `$HOSTNAME` with a
    /// random suffix. A Lease lasts 15 seconds, with 10 and 2 to renew; it is freed at the end.
    ///
    /// # Panics
    /// Outside of a tokio runtime: tokio's own panic.
    #[must_use]
    pub fn new(client: Client, namespace: &str, lease: &str) -> Self {
        let runtime = Tokio::current();
        let named = |variable| std::env::var(variable).ok().filter(|name| !name.is_empty());
        let host = named("POD_NAME").or_else(|| named("HOSTNAME"));
        let identity =
            format!("{}_{:016x}", host.as_deref().unwrap_or("replica"), runtime.entropy());
        let config = Config::new(&identity).name(Arc::from(lease)).release_on_cancel(true);
        let tolerance = Duration::from_secs(20);
        Self {
            client,
            namespace: namespace.to_owned(),
            health: Arc::new(seatrial_core::elector::HealthCheck::new(&runtime, tolerance)),
            runtime,
            config,
            labels: BTreeMap::new(),
            writes_events: false,
            observer: None,
            shutdown: Box::pin(std::future::pending()),
        }
    }

    /// Sets the identity. An identity must never be used again, not even by the same pod after a
    /// restart.
    #[must_use]
    pub fn identity(mut self, identity: &str) -> Self {
        self.config.identity = Name::new(identity);
        self
    }

    /// Sets how long a Lease lasts, when a leader gives up and how often it renews.
    #[must_use]
    pub fn timing(mut self, timing: Timing) -> Self {
        self.config.timing = timing;
        self
    }

    /// Sets the bounds that you guarantee. Within them there is at most one leader.
    #[must_use]
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.config.bounds = bounds;
        self
    }

    /// Sets whether the Lease is freed when the work has returned or panicked, so that the next
    /// replica need not wait; the default is yes. Work that must be aborted does not free the
    /// Lease, because its spawned tasks may still run.
    #[must_use]
    pub fn release_on_cancel(mut self, choice: bool) -> Self {
        self.config.release_on_cancel = choice;
        self
    }

    /// Puts these labels on the Lease.
    #[must_use]
    pub fn labels(mut self, labels: BTreeMap<String, String>) -> Self {
        self.labels = labels;
        self
    }

    /// Writes an event when this replica begins or stops leading. The service account must be
    /// allowed to create events in the namespace of the Lease.
    #[must_use]
    pub fn events(mut self) -> Self {
        self.writes_events = true;
        self
    }

    /// Sets a function that is called when a different leader is seen: this replica, another one,
    /// or nobody (the empty name). It must return soon, because the renewal waits for it.
    #[must_use]
    pub fn on_new_leader(mut self, observer: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Ends the election when this future is ready. Running work loses its leadership and has its
    /// time to end; if it ends in time, the Lease is freed.
    #[must_use]
    pub fn graceful_shutdown_on(
        mut self,
        trigger: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        self.shutdown = Box::pin(trigger);
        self
    }

    /// Returns a check of this replica's leadership for a liveness probe.
    #[must_use]
    pub fn health(&self) -> HealthCheck {
        Arc::clone(&self.health)
    }

    /// Competes for the Lease, does the work once while it leads, and returns when the work has
    /// stopped completely. The result is the value of work that ended by itself, or `None` if
    /// leadership was lost or a shutdown was requested before. To compete again, make a new
    /// election, which has its own identity.
    ///
    /// Dropping the future loses leadership at once. The work is told, and aborted after its time,
    /// but nothing waits for it, and the Lease is not freed.
    ///
    /// # Errors
    /// The settings are refused.
    ///
    /// # Panics
    /// If the work panics.
    pub async fn run<F, W, T>(self, work: F) -> Result<Option<T>, ConfigError>
    where
        F: FnOnce(Leadership) -> W + Send + 'static,
        W: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        let Self { client, namespace, runtime, config, shutdown, .. } = self;
        let bounds = config.bounds;
        let runs = work::Runs::default();
        let patience = config.timing.request_timeout();
        let store = LeaseStore::new(client.clone(), patience).protecting(runs.clone());
        let mut lock = LeaseLock::new(store, &namespace, &config.name).with_labels(self.labels);
        if self.writes_events {
            let identity = config.identity.as_str();
            let recorder = Recorder::of_instance(&runtime, client, "seatrial-kube", identity);
            lock = lock.with_recorder(Arc::new(events::Recorder(recorder)));
        }
        let elector = Elector::new(&runtime, lock, config)?;
        self.health.attach(&elector);
        let token = CancelToken::new(&runtime);
        // The last tenth is reserved for the abort itself.
        let work = work::Work::new(work, runs, bounds.work.mul_f64(0.9), self.observer);
        let run = elector.run_async(&token, &work);
        let cancel = async {
            shutdown.await;
            token.cancel();
            std::future::pending::<()>().await;
        };
        let ran = crate::race::first(run, cancel).await;
        debug_assert!(matches!(ran, Some(Ok(_))), "a new elector runs, and the other never ends");
        Ok(work.end().await)
    }
}

impl fmt::Debug for LeaderElection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaderElection")
            .field("namespace", &self.namespace)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
