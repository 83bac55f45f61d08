//! A manager: runs the caches and controllers of an operator, with one election, one address for
//! probes and metrics, and one orderly end.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use k8s_openapi::api::core::v1::{ConfigMap, Secret};
//! # use kube::{Api, Client};
//! use seatrial_kube::cache::Cache;
//! use seatrial_kube::controller::{Action, Controller};
//! use seatrial_kube::election::LeaderElection;
//! use seatrial_kube::manager::Manager;
//! use seatrial_kube::watcher::Config;
//! use tokio::net::TcpListener;
//!
//! # async fn reconcile(_: Arc<ConfigMap>, _: Arc<Client>) -> kube::Result<Action> { Ok(Action::Done) }
//! # async fn of_secret(_: Arc<Secret>, _: Arc<Client>) -> kube::Result<Action> { Ok(Action::Done) }
//! # async fn operator(client: Client) -> Result<(), Box<dyn std::error::Error>> {
//! let maps = Cache::new(Api::<ConfigMap>::all(client.clone()), Config::default());
//! let secrets = Cache::new(Api::<Secret>::all(client.clone()), Config::default());
//! let copier = Controller::of(&maps).owns_of(&secrets).concurrency(4);
//! let keeper = Controller::of(&secrets);
//! let context = Arc::new(client.clone());
//!
//! Manager::new()
//!     .serve(TcpListener::bind("0.0.0.0:8080").await?)
//!     .election(LeaderElection::new(client, "operators", "my-operator"))
//!     .cache(&maps)
//!     .cache(&secrets)
//!     .controller("copier", {
//!         let context = Arc::clone(&context);
//!         |stop| copier.graceful_shutdown_on(stop).run(reconcile, |_, _, _| Action::Requeue, context)
//!     })
//!     .controller("keeper", |stop| {
//!         keeper.graceful_shutdown_on(stop).run(of_secret, |_, _, _| Action::Requeue, context)
//!     })
//!     .run()
//!     .await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Order
//!
//! 1. The address answers: `/healthz` and `/livez` by the checks, `/readyz` with a failure until
//!    step 3, `/metrics` if there are any.
//! 2. The caches are listed, also by a replica that does not lead: it is warm when it does.
//! 3. What runs on every replica begins ([`Manager::always`]), in the order in which it was added.
//! 4. Once this replica leads, or at once without an election, the controllers begin, in order.
//!
//! It ends at `SIGTERM`, at an interrupt, at a future of yours, when a part fails or panics, and
//! when the leadership is lost. The controllers end first, then what runs on every replica, then
//! the Lease is freed and the address is silent. A part that has not ended within the grace is
//! aborted. Leadership that was lost is an error, because the process should start anew.

mod error;
mod group;
mod http;
mod signals;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use kube::Resource;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::cache::{Cache, NotSynced};
use crate::election::LeaderElection;

pub use error::ManagerError;
pub use group::Stop;
use group::{Cause, Flag, Group, Part};
use http::{Check, Pages};

/// How long a cache may take for its first list, as in the reference.
const LISTED: Duration = Duration::from_secs(120);

/// How long the parts may take to end, as in the reference.
const GRACE: Duration = Duration::from_secs(30);

type Listing = Pin<Box<dyn Future<Output = Result<(), NotSynced>> + Send>>;

/// Runs the parts of an operator.
pub struct Manager {
    listener: Option<TcpListener>,
    checks: Vec<Check>,
    metrics: Option<Box<dyn Fn() -> String + Send + Sync>>,
    election: Option<LeaderElection>,
    caches: Vec<Box<dyn FnOnce(Duration) -> Listing + Send>>,
    always: Vec<Part>,
    leading: Vec<Part>,
    sync_timeout: Duration,
    grace: Duration,
    listens_to_signals: bool,
    shutdown: Stop,
}

impl Default for Manager {
    fn default() -> Self {
        Self::new()
    }
}

impl Manager {
    /// Makes a manager of nothing.
    #[must_use]
    pub fn new() -> Self {
        Self {
            listener: None,
            checks: Vec::new(),
            metrics: None,
            election: None,
            caches: Vec::new(),
            always: Vec::new(),
            leading: Vec::new(),
            sync_timeout: LISTED,
            grace: GRACE,
            listens_to_signals: true,
            shutdown: Box::pin(std::future::pending()),
        }
    }

    /// Answers probes and metrics at this address.
    #[must_use]
    pub fn serve(mut self, listener: TcpListener) -> Self {
        self.listener = Some(listener);
        self
    }

    /// Sets the text of `/metrics`, for example what `prometheus-client` encodes.
    #[must_use]
    pub fn metrics(mut self, text: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.metrics = Some(Box::new(text));
        self
    }

    /// Adds a check to `/healthz`. It must return at once. The election has one already.
    #[must_use]
    pub fn check<E: fmt::Display>(
        mut self,
        name: &str,
        check: impl Fn() -> Result<(), E> + Send + Sync + 'static,
    ) -> Self {
        let check = move || check().map_err(|error| error.to_string());
        self.checks.push((name.to_owned(), Box::new(check)));
        self
    }

    /// Runs the controllers only while this replica leads. Do not set a shutdown of the election:
    /// the manager does.
    #[must_use]
    pub fn election(self, election: LeaderElection) -> Self {
        let health = election.health();
        let mut this = self.check("leader election", move || health.check());
        this.election = Some(election);
        this
    }

    /// Lists a cache before anything begins.
    #[must_use]
    pub fn cache<K>(mut self, cache: &Cache<K>) -> Self
    where
        K: Resource + fmt::Debug + Send + Sync + 'static,
    {
        let cache = cache.clone();
        let list = move |limit| -> Listing { Box::pin(async move { cache.sync(limit).await }) };
        self.caches.push(Box::new(list));
        self
    }

    /// Adds a controller, or anything else that runs only on the leader. It ends soon after the
    /// future that it is given is ready.
    #[must_use]
    pub fn controller<W, E>(
        mut self,
        name: &str,
        begin: impl FnOnce(Stop) -> W + Send + 'static,
    ) -> Self
    where
        W: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.leading.push(part(name, begin));
        self
    }

    /// As [`controller`](Self::controller), but on every replica.
    #[must_use]
    pub fn always<W, E>(
        mut self,
        name: &str,
        begin: impl FnOnce(Stop) -> W + Send + 'static,
    ) -> Self
    where
        W: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.always.push(part(name, begin));
        self
    }

    /// Sets how long the caches may take for their first lists; the default is two minutes.
    #[must_use]
    pub fn sync_timeout(mut self, limit: Duration) -> Self {
        self.sync_timeout = limit;
        self
    }

    /// Sets how long the parts may take to end; the default is 30 seconds, which is also how long
    /// Kubernetes waits before it kills a pod.
    #[must_use]
    pub fn grace(mut self, limit: Duration) -> Self {
        self.grace = limit;
        self
    }

    /// Ends when this future is ready, too.
    #[must_use]
    pub fn graceful_shutdown_on(
        mut self,
        trigger: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        let before = self.shutdown;
        self.shutdown = Box::pin(async move {
            let _which = crate::race::first(before, trigger).await;
        });
        self
    }

    /// Does not end at signals, for example because the program handles them itself.
    #[must_use]
    pub fn ignore_signals(mut self) -> Self {
        self.listens_to_signals = false;
        self
    }

    /// Runs until the end; see the [order](self#order). Dropping the future aborts everything.
    ///
    /// # Errors
    /// A cache was not listed in time, a part failed or did not end, or leadership was lost.
    ///
    /// # Panics
    /// Outside of a tokio runtime with IO and time: tokio's own panic.
    pub async fn run(self) -> Result<(), ManagerError> {
        let Self { listener, checks, metrics, election, caches, .. } = self;
        let (asked, ready) = (Flag::new(), Flag::new());
        let mut helpers = JoinSet::new(); // aborted when it drops
        if let Some(listener) = listener {
            let pages = Pages { checks, metrics, ready: ready.clone() };
            helpers.spawn(http::serve(listener, Arc::new(pages)));
        }
        let (shutdown, ask, listens) = (self.shutdown, asked.clone(), self.listens_to_signals);
        helpers.spawn(async move {
            let signal = async {
                if listens { signals::end_asked().await } else { std::future::pending().await }
            };
            let _which = crate::race::first(shutdown, signal).await;
            tracing::info!("the operator is asked to end");
            ask.set();
        });
        let limit = self.sync_timeout;
        let listings: Vec<_> = caches.into_iter().map(|list| list(limit)).collect();
        match crate::race::first(all(listings), asked.wait()).await {
            Some(listed) => listed.map_err(ManagerError::NotSynced)?,
            None => return Ok(()),
        }
        ready.set();
        let lead = lead(self.leading, election, &asked, self.grace);
        let result = both(self.always, lead, asked, self.grace).await;
        helpers.shutdown().await; // the address is silent when this returns
        result
    }
}

/// Runs what runs on every replica, and beside it the leader's parts, which end first.
async fn both(
    always: Vec<Part>,
    lead: impl Future<Output = Result<(), ManagerError>> + Send + 'static,
    asked: Flag,
    grace: Duration,
) -> Result<(), ManagerError> {
    let mut always = Group::begin(always);
    let (ended, ask) = (Flag::new(), asked.clone());
    let (last, led, leader_ends) = (asked.wait(), ended.wait(), ended.wait());
    let mut leader = JoinSet::new(); // aborted when it drops
    leader.spawn(async move {
        let result = lead.await;
        if result.is_err() {
            ask.set();
        }
        ended.set();
        result
    });
    let stop = Box::pin(async move {
        last.await;
        led.await;
    });
    let first = always.until(stop).await;
    if first.is_err() {
        asked.set();
    }
    leader_ends.await;
    let always = always.end(first, grace).await;
    let led = match leader.join_next().await {
        Some(Ok(result)) => result,
        Some(Err(error)) => std::panic::resume_unwind(error.into_panic()), // nobody aborts it
        None => Ok(()),
    };
    led.and(always)
}

fn part<W, E>(name: &str, begin: impl FnOnce(Stop) -> W + Send + 'static) -> Part
where
    W: Future<Output = Result<(), E>> + Send + 'static,
    E: Into<Cause>,
{
    let begin = |stop| -> Pin<Box<dyn Future<Output = Result<(), Cause>> + Send>> {
        let run = begin(stop);
        Box::pin(async move { run.await.map_err(Into::into) })
    };
    Part { name: name.to_owned(), begin: Box::new(begin) }
}

/// Waits for the caches together: the first that is not listed in time is the error.
async fn all(listings: Vec<Listing>) -> Result<(), NotSynced> {
    let mut tasks = JoinSet::new();
    for listing in listings {
        tasks.spawn(listing);
    }
    while let Some(ended) = tasks.join_next().await {
        match ended {
            Ok(listed) => listed?,
            Err(error) => std::panic::resume_unwind(error.into_panic()), // nobody aborts it
        }
    }
    Ok(())
}

/// Runs parts while this replica leads, or at once without an election.
fn lead(
    parts: Vec<Part>,
    election: Option<LeaderElection>,
    asked: &Flag,
    grace: Duration,
) -> impl Future<Output = Result<(), ManagerError>> + Send + 'static + use<> {
    let asked = asked.clone();
    async move {
        match election.filter(|_| !parts.is_empty()) {
            None => Group::begin(parts).run(asked.wait(), grace).await,
            Some(election) => elected(parts, election, asked, grace).await,
        }
    }
}

async fn elected(
    parts: Vec<Part>,
    election: LeaderElection,
    asked: Flag,
    grace: Duration,
) -> Result<(), ManagerError> {
    // While the parts end, the Lease is renewed. A replica that does not lead ends at once.
    let (leads, lost) = (Flag::new(), Flag::new());
    let (begun, ask, loses) = (leads.clone(), asked.clone(), lost.clone());
    let (waits, follows) = (asked.wait(), leads);
    let election = election.graceful_shutdown_on(async move {
        waits.await;
        if follows.is_set() {
            std::future::pending::<()>().await;
        }
    });
    let work = move |leadership: crate::election::Leadership| async move {
        begun.set();
        let stop: Stop = Box::pin(async move {
            if crate::race::first(ask.wait(), leadership.lost()).await.is_none() {
                loses.set();
            }
        });
        Group::begin(parts).run(stop, grace).await
    };
    match election.run(work).await.map_err(ManagerError::Election)? {
        Some(result) if !lost.is_set() => result,
        Some(Err(error)) => Err(error),
        _ if asked.is_set() => Ok(()),
        _ => Err(ManagerError::LostLeadership),
    }
}

impl fmt::Debug for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manager")
            .field("always", &self.always)
            .field("leading", &self.leading)
            .finish_non_exhaustive()
    }
}
