//! A controller with the interface of kube's, on core's informer, priority queue and pool.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use std::time::Duration;
//! # use k8s_openapi::api::apps::v1::Deployment;
//! # use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::{Api, Client};
//! use seatrial_kube::controller::{Action, Controller};
//! use seatrial_kube::watcher::Config;
//!
//! # struct Context { client: Client }
//! async fn reconcile(web: Arc<Deployment>, context: Arc<Context>) -> kube::Result<Action> {
//!     // Compare what is there with what should be, and write what differs.
//!     Ok(Action::RequeueAfter(Duration::from_secs(3600)))
//! }
//!
//! # async fn operator(client: Client) {
//! Controller::new(Api::<Deployment>::all(client.clone()), Config::default())
//!     .owns(Api::<ConfigMap>::all(client.clone()), Config::default())
//!     .concurrency(4)
//!     .run(reconcile, |_, _, _| Action::Requeue, Arc::new(Context { client }))
//!     .await;
//! # }
//! ```
//!
//! # Guarantees
//!
//! * **One at a time**: an object is reconciled by one worker at a time, with its newest state in
//!   the store. Changes during that time cause one more run.
//! * **No starvation**: workers take the key that became ready first. Objects from the first list,
//!   and
//!   objects that are shown again, come after changes for at most six seconds; then they are in the
//!   same line. So a key waits only until the keys that were ready before it have had a worker.
//! * **Back-off by key**: an [`Action::Requeue`] of the error policy waits 5 ms, 10 ms and so on,
//!   up
//!   to 1000 s; a success resets that.
//! * **No state before a write**: if a write was noted by the [`Writes`] of a controller, its
//!   object is
//!   reconciled with that state or a later one.
//! * **Complete lists first**: the first reconcile begins when all collections have been listed.
//!
//! Queue metrics go to the provider of the process
//! ([`set_provider`](seatrial_core::metrics::set_provider)), under the kind's name.

mod queue;
mod source;
mod worker;
mod writes;

use std::fmt;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{Api, Resource};
use seatrial_core::cancel::CancelToken;
use seatrial_core::informer::Informer;
use seatrial_core::limiter::Exponential;
use seatrial_core::metrics::Metrics;
use seatrial_core::pool::policy;
use seatrial_core::pool::tasks::TaskPool;
use seatrial_core::runtime::Tokio;
use seatrial_core::store::IndexedStore;
use serde::de::DeserializeOwned;
use tokio::task::{JoinError, JoinSet};

use crate::object::Object;
use crate::shards::Shard;
use crate::watcher::{Config, informer};

pub use crate::object_ref::ObjectRef;
pub use seatrial_core::informer::Predicate;
pub use seatrial_core::pool::Action;

use queue::FairQueue;
use source::Source;
use worker::Worker;
pub use writes::Writes;

/// The store of a controller: its objects by `namespace/name`.
pub type Store<K> = Arc<IndexedStore<String, Object<K>, Tokio>>;

/// Reconciles the objects of a kind when they change, or when objects that belong to them change.
pub struct Controller<K: Resource + fmt::Debug + Send + Sync + 'static> {
    runtime: Tokio,
    main: Arc<Informer<Object<K>, Tokio>>,
    /// Selects the updates of its own objects that cause a reconcile; `None` means all.
    wanted: Option<Predicate<Object<K>>>,
    sources: Vec<Source>,
    workers: NonZeroUsize,
    backoff: (Duration, Duration),
    metrics: Metrics,
    shard: Option<Shard>,
    shutdown: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl<K> Controller<K>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + fmt::Debug + Send + Sync + 'static,
{
    /// Makes a controller for the objects of a collection that match `config`.
    ///
    /// # Panics
    /// Outside of a tokio runtime: tokio's own panic.
    #[must_use]
    pub fn new(api: Api<K>, config: Config) -> Self {
        Self::on(&Tokio::current(), api, config)
    }

    /// As [`new`](Self::new), on an existing runtime. In a test, use [`Tokio::seeded`]: then the
    /// times of watches and back-offs are the same in every run.
    #[must_use]
    pub fn on(runtime: &Tokio, api: Api<K>, config: Config) -> Self {
        let main = Arc::new(informer(runtime, api, &config));
        Self {
            runtime: runtime.clone(),
            main,
            wanted: None,
            sources: Vec::new(),
            workers: NonZeroUsize::MIN,
            backoff: (Duration::from_millis(5), Duration::from_secs(1000)),
            metrics: Metrics::named(K::kind(&()).to_lowercase()),
            shard: None,
            shutdown: Box::pin(std::future::pending()),
        }
    }

    /// Also follows objects that have one of ours as an owner: a change of them counts as one of
    /// it.
    #[must_use]
    pub fn owns<Child>(self, api: Api<Child>, config: Config) -> Self
    where
        Child: Resource<DynamicType = ()> + Clone + DeserializeOwned + fmt::Debug,
        Child: Send + Sync + 'static,
    {
        self.watches(api, config, |child: Arc<Child>| {
            let metadata = child.meta();
            let owners = metadata.owner_references.iter().flatten().filter(|it| is_of::<K>(it));
            let named = |owner: &OwnerReference| {
                let namespace = metadata.namespace.clone();
                ObjectRef { namespace, name: owner.name.clone() }
            };
            owners.map(named).collect::<Vec<_>>()
        })
    }

    /// Also follows other objects and maps them to ours. Both states of an update are mapped, so
    /// that an object also learns that another one no longer belongs to it.
    #[must_use]
    pub fn watches<Other, I>(
        mut self,
        api: Api<Other>,
        config: Config,
        mapper: impl Fn(Arc<Other>) -> I + Send + Sync + 'static,
    ) -> Self
    where
        Other: Resource<DynamicType = ()> + Clone + DeserializeOwned + fmt::Debug,
        Other: Send + Sync + 'static,
        I: IntoIterator<Item = ObjectRef>,
    {
        let others = Arc::new(informer(&self.runtime, api, &config));
        let store = Arc::clone(self.main.store());
        let keys = move |other: &Object<Other>| {
            let known = mapper(Arc::clone(&other.0)).into_iter();
            known.filter_map(|key| stored(&store, key)).collect::<Vec<_>>()
        };
        self.sources.push(Source::new(others, None, keys));
        self
    }

    /// Skips unwanted updates of the controller's own objects. [`Predicate::generation`], for
    /// example, skips updates of the status and objects that are shown again ([`Config::resync`]).
    /// Additions, deletions, and updates that hide a deletion are never skipped.
    #[must_use]
    pub fn filter_updates(mut self, wanted: Predicate<Object<K>>) -> Self {
        self.wanted = Some(wanted);
        self
    }

    /// Sets how many objects are reconciled at once; the default is one.
    #[must_use]
    pub fn concurrency(mut self, workers: u16) -> Self {
        self.workers = NonZeroUsize::new(workers.into()).unwrap_or(NonZeroUsize::MIN);
        self
    }

    /// Sets how long a failed object waits: the first time, doubling up to the longest.
    #[must_use]
    pub fn backoff(mut self, first: Duration, longest: Duration) -> Self {
        self.backoff = (first, longest);
        self
    }

    /// Sets where the metrics of the queue are reported, and under which name.
    #[must_use]
    pub fn metrics(mut self, metrics: Metrics) -> Self {
        self.metrics = metrics;
        self
    }

    /// Reconciles only the objects whose names belong to this shard; see [`shards`](crate::shards).
    #[must_use]
    pub fn shard(mut self, shard: Shard) -> Self {
        self.shard = Some(shard);
        self
    }

    /// Stops the controller when this future is ready: running reconciles finish, and no further
    /// ones begin. A leader passes `leadership.lost()`.
    #[must_use]
    pub fn graceful_shutdown_on(
        mut self,
        trigger: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        self.shutdown = Box::pin(trigger);
        self
    }

    /// Returns a handle that notes writes, so that no object is reconciled in a state before them.
    #[must_use]
    pub fn writes(&self) -> Writes<K> {
        Writes(Arc::clone(&self.main))
    }

    /// Returns the store, for reading and indexing while the controller runs.
    #[must_use]
    pub fn store(&self) -> Store<K> {
        Arc::clone(self.main.store())
    }

    /// Reconciles until the shutdown. Keys that still wait then are dropped; the next start lists
    /// their objects.
    ///
    /// The error policy decides about an object that failed: [`Action::Requeue`] tries it again,
    /// later each time, [`Action::RequeueAfter`] after that time, [`Action::Done`] when it changes.
    /// A panic is tried again, like an error. Dropping the future stops everything at once,
    /// wherever the reconcile function awaits.
    ///
    /// # Panics
    /// If a mapper panics.
    pub async fn run<F, W, E, P, C>(self, reconcile: F, error_policy: P, context: Arc<C>)
    where
        F: Fn(Arc<K>, Arc<C>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Action, E>> + Send,
        E: Send + 'static,
        P: Fn(Arc<K>, &E, Arc<C>) -> Action + Send + Sync + 'static,
        C: Send + Sync + 'static,
    {
        let backoff = Exponential::new(self.backoff.0, self.backoff.1);
        let queue = Arc::new(FairQueue::new(&self.runtime, backoff, &self.metrics, self.shard));
        let token = CancelToken::new(&self.runtime);
        let mut helpers = JoinSet::new(); // aborted when it drops
        let mut synced = Vec::new();
        let its = |object: &Object<K>| Some(ObjectRef::from_obj(&**object));
        let its = Source::new(Arc::clone(&self.main), self.wanted, its);
        for source in self.sources.into_iter().chain(Some(its)) {
            helpers.spawn((source.run)(Arc::clone(&queue), token.clone()));
            synced.push(source.synced);
        }
        let (ages, measures) = (Arc::clone(&queue), Arc::clone(&queue));
        helpers.spawn(async move { ages.age().await });
        helpers.spawn(async move { measures.refresh_metrics().await });
        let mut shutdown = self.shutdown;
        let all = async {
            for list in synced {
                list.await;
            }
        };
        let all = async { crate::race::first(all, unless_it_panics(&mut helpers)).await };
        if crate::race::first(all, &mut shutdown).await.is_none() {
            return;
        }
        let (runtime, main) = (self.runtime, self.main);
        let worker = Worker { runtime, main, reconcile, error_policy, context };
        let worker = policy(worker).counting(&self.metrics);
        let pool = TaskPool::start(&queue, self.workers, worker);
        crate::race::first(shutdown, unless_it_panics(&mut helpers)).await;
        // The queue stops first, so that the end of the informers starts no reconcile.
        seatrial_core::pool::Source::shut_down(&*queue);
        token.cancel();
        let end = pool.shut_down(Duration::MAX).await;
        tracing::info!(waiting = end.waiting, "the controller has stopped");
    }
}

/// Runs for ever, unless a task panics: a controller without one of its sources would miss changes.
async fn unless_it_panics(tasks: &mut JoinSet<()>) {
    while let Some(ended) = tasks.join_next().await {
        if let Err(Ok(panic)) = ended.map_err(JoinError::try_into_panic) {
            std::panic::resume_unwind(panic);
        }
    }
    std::future::pending::<()>().await;
}

/// Tells whether an owner is of the kind.
fn is_of<K: Resource<DynamicType = ()>>(owner: &OwnerReference) -> bool {
    let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
    owner.kind == K::kind(&()) && group == K::group(&())
}

/// Returns the key under which an object is stored. `None` if it is not stored: it will be
/// reconciled when it is added. An owner without a match in the namespace may be cluster-scoped.
fn stored<K>(store: &Store<K>, key: ObjectRef) -> Option<ObjectRef>
where
    K: Resource + fmt::Debug + Send + Sync + 'static,
{
    if store.get(&key.to_string()).is_some() {
        return Some(key);
    }
    let of_cluster = ObjectRef { namespace: None, ..key };
    store.get(&of_cluster.name).map(|_| of_cluster)
}

impl<K: Resource + fmt::Debug + Send + Sync + 'static> fmt::Debug for Controller<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller").field("workers", &self.workers).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::Client;
    use kube::client::Body;

    use super::*;

    #[tokio::test]
    async fn what_a_mapper_names_is_a_key_if_it_is_stored() {
        let silent = tower::service_fn(|_: http::Request<Body>| {
            std::future::pending::<Result<http::Response<Body>, Infallible>>()
        });
        let api: Api<ConfigMap> = Api::all(Client::new(silent, "default"));
        let store = Controller::new(api, Config::default()).store();
        let near = ObjectRef::new("both").within("default");
        let far = ObjectRef::new("far");
        for key in [&near, &ObjectRef::new("both"), &far] {
            let mut map = ConfigMap::default();
            (map.metadata.name, map.metadata.namespace) =
                (Some(key.name.clone()), key.namespace.clone());
            store.add(Object(Arc::new(map))).unwrap();
        }
        assert_eq!(stored(&store, near.clone()), Some(near), "it comes before the cluster's");
        assert_eq!(stored(&store, far.clone().within("default")), Some(far), "the cluster's");
        assert_eq!(stored(&store, ObjectRef::new("missing").within("default")), None);
    }
}
