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
//! # async fn operator(client: Client) -> Result<(), seatrial_kube::cache::NotSynced> {
//! Controller::new(Api::<Deployment>::all(client.clone()), Config::default())
//!     .owns(Api::<ConfigMap>::all(client.clone()), Config::default())
//!     .concurrency(4)
//!     .run(reconcile, |_, _, _| Action::Requeue, Arc::new(Context { client }))
//!     .await
//! # }
//! ```
//!
//! # Guarantees
//!
//! * **One at a time**: an object is reconciled by one worker at a time, with its newest state in
//!   the store. Changes during that time cause one more run.
//! * **No starvation**: workers take the key that became ready first. Objects from the first list,
//!   and objects that are shown again, come after changes for at most five seconds, and the second
//!   until the next look; then they are in the same line. So a key waits only until the keys that
//!   were ready before it have had a worker.
//! * **Back-off by key**: an [`Action::Requeue`] of the error policy waits 5 ms, 10 ms and so on,
//!   up to 1000 s; a success resets that.
//! * **No state before a write**: if a write was noted by the [`Writes`] of a controller, its
//!   object is reconciled with that state or a later one. Until then its key holds no worker. A
//!   server that went back to an older version, as one that was restored from a copy, may have lost
//!   the write: then it is waited for five seconds more.
//! * **Complete lists first**: the first reconcile begins when all collections have been listed. If
//!   that takes too long, [`Controller::run`] ends with an error, or goes on without the rest
//!   ([`Controller::without_unlisted`]).
//!
//! Queue metrics go to the provider of the process
//! ([`set_provider`](seatrial_core::metrics::set_provider)), under the kind's name.

mod jitter;
mod parked;
mod queue;
mod run;
mod source;
mod worker;

use std::fmt;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{Api, Resource};
use seatrial_core::limiter::{Exponential, Limiter};
use seatrial_core::metrics::Metrics;
use seatrial_core::runtime::Tokio;
use serde::de::DeserializeOwned;

use crate::cache::{Cache, Kind};
use crate::object::Object;
use crate::shards::Shard;
use crate::watcher::Config;

pub use crate::cache::Store;
pub use crate::object_ref::ObjectRef;
pub use crate::writes::Writes;
pub use seatrial_core::informer::Predicate;
pub use seatrial_core::pool::Action;

use queue::KeyLimiter;
use source::Source;

/// How long the first lists may take, as in the reference.
const LISTED: Duration = Duration::from_secs(120);

/// Reconciles the objects of a kind when they change, or when objects that belong to them change.
pub struct Controller<K: Resource + fmt::Debug + Send + Sync + 'static> {
    main: Cache<K>,
    sources: Vec<Source>,
    workers: NonZeroUsize,
    limiter: KeyLimiter,
    jitter: f64,
    metrics: Metrics,
    shard: Option<Shard>,
    /// How long the first lists may take, and whether it begins without those that take longer.
    listed: (Duration, bool),
    shutdown: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl<K> Controller<K>
where
    K: Resource + Clone + DeserializeOwned + fmt::Debug + Send + Sync + 'static,
{
    /// Makes a controller for the objects of a collection that match `config`, with a cache of its
    /// own.
    ///
    /// # Panics
    /// Outside of a tokio runtime: tokio's own panic.
    #[must_use]
    pub fn new(api: Api<K>, config: Config) -> Self
    where
        K::DynamicType: Default,
    {
        Self::of(&Cache::new(api, config))
    }

    /// As [`new`](Self::new), on an existing runtime. In a test, use [`Tokio::seeded`]: then the
    /// times of watches and back-offs are the same in every run.
    #[must_use]
    pub fn on(runtime: &Tokio, api: Api<K>, config: Config) -> Self
    where
        K::DynamicType: Default,
    {
        Self::of(&Cache::on(runtime, api, config, &K::DynamicType::default()))
    }
}

impl<K: Resource + fmt::Debug + Send + Sync + 'static> Controller<K> {
    /// Makes a controller for the objects of a cache, which others may use as well.
    #[must_use]
    pub fn of(cache: &Cache<K>) -> Self {
        let backoff = Exponential::new(Duration::from_millis(5), Duration::from_secs(1000));
        Self {
            main: cache.clone(),
            sources: Vec::new(),
            workers: NonZeroUsize::MIN,
            limiter: Box::new(backoff),
            jitter: 0.0,
            metrics: Metrics::named(cache.shared.kind.name.to_lowercase()),
            shard: None,
            listed: (LISTED, false),
            shutdown: Box::pin(std::future::pending()),
        }
    }

    /// Also follows objects that have one of ours as an owner: a change of them counts as one of
    /// it.
    #[must_use]
    pub fn owns<Child>(self, api: Api<Child>, config: Config) -> Self
    where
        Child: Resource + Clone + DeserializeOwned + fmt::Debug + Send + Sync + 'static,
        Child::DynamicType: Default,
    {
        let cache = self.cache_of(api, config);
        self.owns_of(&cache)
    }

    /// As [`owns`](Self::owns), for the objects of a cache, and for the updates that this handle of
    /// it passes on ([`Cache::filter_updates`]).
    #[must_use]
    pub fn owns_of<Child>(self, cache: &Cache<Child>) -> Self
    where
        Child: Resource + fmt::Debug + Send + Sync + 'static,
    {
        let kind = self.main.shared.kind.clone();
        self.watches_of(cache, move |child: Arc<Child>| {
            let metadata = child.meta();
            let owners = metadata.owner_references.iter().flatten().filter(|it| is_of(&kind, it));
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
        self,
        api: Api<Other>,
        config: Config,
        mapper: impl Fn(Arc<Other>) -> I + Send + Sync + 'static,
    ) -> Self
    where
        Other: Resource + Clone + DeserializeOwned + fmt::Debug + Send + Sync + 'static,
        Other::DynamicType: Default,
        I: IntoIterator<Item = ObjectRef>,
    {
        let cache = self.cache_of(api, config);
        self.watches_of(&cache, mapper)
    }

    /// As [`watches`](Self::watches), for the objects of a cache, and for the updates that this
    /// handle of it passes on ([`Cache::filter_updates`]). A mapper that needs other objects can
    /// keep the [store](Cache::store) of any cache.
    #[must_use]
    pub fn watches_of<Other, I>(
        mut self,
        cache: &Cache<Other>,
        mapper: impl Fn(Arc<Other>) -> I + Send + Sync + 'static,
    ) -> Self
    where
        Other: Resource + fmt::Debug + Send + Sync + 'static,
        I: IntoIterator<Item = ObjectRef>,
    {
        let store = self.main.store();
        let keys = move |other: &Object<Other>| {
            let known = mapper(Arc::clone(&other.0)).into_iter();
            known.filter_map(|key| stored(&store, key)).collect::<Vec<_>>()
        };
        self.sources.push(Source::new(cache.clone(), keys));
        self
    }

    fn cache_of<Other>(&self, api: Api<Other>, config: Config) -> Cache<Other>
    where
        Other: Resource + Clone + DeserializeOwned + fmt::Debug + Send + Sync + 'static,
        Other::DynamicType: Default,
    {
        Cache::on(&self.main.shared.runtime, api, config, &Other::DynamicType::default())
    }

    /// Skips unwanted updates of the controller's own objects. [`Predicate::generation`], for
    /// example, skips updates of the status and objects that are shown again ([`Config::resync`]).
    /// Additions, deletions, and updates that hide a deletion are never skipped.
    #[must_use]
    pub fn filter_updates(mut self, wanted: Predicate<Object<K>>) -> Self {
        self.main = self.main.filter_updates(wanted);
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
    pub fn backoff(self, first: Duration, longest: Duration) -> Self {
        self.limiter(Exponential::new(first, longest))
    }

    /// Sets the limiter that says how long a failed object waits, for example
    /// [`default_controller`](seatrial_core::limiter::default_controller), which also limits how
    /// many of all objects are tried again in a second.
    #[must_use]
    pub fn limiter(mut self, limiter: impl Limiter<ObjectRef>) -> Self {
        self.limiter = Box::new(limiter);
        self
    }

    /// Lets a failed object wait longer by a random part of its time, at most by this factor: 0.1
    /// for up to a tenth. So objects that failed together are not tried again together.
    #[must_use]
    pub fn jitter(mut self, factor: f64) -> Self {
        self.jitter = factor;
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

    /// Sets how long the first lists may take; the default is two minutes. A kind that cannot be
    /// listed until then, for example because the service account may not, ends the controller.
    #[must_use]
    pub fn sync_timeout(mut self, limit: Duration) -> Self {
        self.listed.0 = limit;
        self
    }

    /// Begins without the kinds that cannot be listed in time, in place of an error. Their objects
    /// cause reconciles once they are listed.
    #[must_use]
    pub fn without_unlisted(mut self) -> Self {
        self.listed.1 = true;
        self
    }

    /// Stops the controller when this future is ready: running reconciles finish, and no further
    /// ones begin. A leader passes `leadership.lost()`. If it is called again, the first of the
    /// futures to be ready stops it.
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

    /// Returns a handle that notes writes, so that no object is reconciled in a state before them.
    #[must_use]
    pub fn writes(&self) -> Writes<K> {
        self.main.writes()
    }

    /// Returns the store, for reading and indexing while the controller runs.
    #[must_use]
    pub fn store(&self) -> Store<K> {
        self.main.store()
    }
}

/// Tells whether an owner is of the kind.
fn is_of(kind: &Kind, owner: &OwnerReference) -> bool {
    let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
    owner.kind == kind.name && group == kind.group
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
