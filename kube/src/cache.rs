//! Caches: collections of a server in memory, each of which any number of controllers may share.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use k8s_openapi::api::core::v1::{ConfigMap, Secret};
//! # use kube::{Api, Client};
//! use seatrial_kube::cache::Cache;
//! use seatrial_kube::controller::{Action, Controller, Predicate};
//! use seatrial_kube::watcher::Config;
//!
//! # async fn reconcile(_: Arc<ConfigMap>, _: Arc<()>) -> kube::Result<Action> { Ok(Action::Done) }
//! # async fn of_secret(_: Arc<Secret>, _: Arc<()>) -> kube::Result<Action> { Ok(Action::Done) }
//! # async fn operator(client: Client) -> Result<(), seatrial_kube::cache::NotSynced> {
//! let maps = Cache::new(Api::<ConfigMap>::all(client.clone()), Config::default());
//! let secrets = Cache::new(Api::<Secret>::all(client), Config::default());
//! // One list and one watch of the Secrets, for both controllers.
//! let owner = Controller::of(&maps).owns_of(&secrets.filter_updates(Predicate::generation()));
//! let other = Controller::of(&secrets);
//! let owner = owner.run(reconcile, |_, _, _| Action::Requeue, Arc::new(()));
//! let other = other.run(of_secret, |_, _, _| Action::Requeue, Arc::new(()));
//! tokio::try_join!(owner, other)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Kinds
//!
//! [`Cache::new`] takes every type that knows its kind: those of `k8s-openapi`, derived ones, and
//! [`PartialObjectMeta`](kube::core::PartialObjectMeta) of them, which lists and watches only the
//! metadata. [`Cache::of_kind`] takes types that are told their kind, such as
//! [`DynamicObject`](kube::core::DynamicObject).

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kube::{Api, Resource};
use seatrial_core::cancel::CancelToken;
use seatrial_core::informer::{Informer, Predicate};
use seatrial_core::runtime::{Ambient, Tokio};
use seatrial_core::store::IndexedStore;
use serde::de::DeserializeOwned;
use tokio::task::JoinHandle;

use crate::object::Object;
use crate::watcher::{Collection, Config, LastError, follow};
use crate::writes::Writes;

/// The objects of a collection by `namespace/name`.
pub type Store<K> = Arc<IndexedStore<String, Object<K>, Tokio>>;

/// A collection in memory, kept up to date by one watch. Cheap to clone; the clones share it. It
/// stops when the last of them is dropped, and the last controller that uses it has ended.
pub struct Cache<K: Resource + fmt::Debug + Send + Sync + 'static> {
    pub(crate) shared: Arc<Shared<K>>,
    /// Selects the updates that this handle passes on; `None` means all.
    pub(crate) wanted: Option<Predicate<Object<K>>>,
}

/// The parts of a cache that its clones share.
pub(crate) struct Shared<K: Resource + fmt::Debug + Send + Sync + 'static> {
    pub(crate) runtime: Tokio,
    pub(crate) informer: Arc<Informer<Object<K>, Tokio>>,
    pub(crate) kind: Kind,
    last_error: LastError,
    /// The task that follows the collection, once it has begun.
    task: Mutex<Option<JoinHandle<()>>>,
}

/// The kind of the objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Kind {
    pub(crate) group: String,
    pub(crate) name: String,
}

impl<K> Cache<K>
where
    K: Resource + Clone + DeserializeOwned + fmt::Debug + Send + Sync + 'static,
{
    /// Makes a cache of the objects of a collection that match `config`. It begins when a
    /// controller that uses it runs, or by [`start`](Self::start).
    ///
    /// # Panics
    /// Outside of a tokio runtime: tokio's own panic.
    #[must_use]
    pub fn new(api: Api<K>, config: Config) -> Self
    where
        K::DynamicType: Default,
    {
        Self::of_kind(api, config, &K::DynamicType::default())
    }

    /// As [`new`](Self::new), for a type that is told its kind.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    #[must_use]
    pub fn of_kind(api: Api<K>, config: Config, kind: &K::DynamicType) -> Self {
        Self::on(&Tokio::current(), api, config, kind)
    }

    /// As [`of_kind`](Self::of_kind), on an existing runtime. In a test, use [`Tokio::seeded`].
    #[must_use]
    pub fn on(runtime: &Tokio, api: Api<K>, config: Config, kind: &K::DynamicType) -> Self {
        let source = Collection::new(api, config);
        let last_error = source.last_error();
        let informer = Arc::new(follow(runtime, source));
        let kind = Kind { group: K::group(kind).into_owned(), name: K::kind(kind).into_owned() };
        let (runtime, task) = (runtime.clone(), Mutex::default());
        let shared = Shared { runtime, informer, kind, last_error, task };
        Self { shared: Arc::new(shared), wanted: None }
    }
}

impl<K: Resource + fmt::Debug + Send + Sync + 'static> Cache<K> {
    /// Returns a handle of the same cache that passes on only these updates to a controller.
    /// Additions, deletions, and updates that hide a deletion always pass.
    #[must_use]
    pub fn filter_updates(&self, wanted: Predicate<Object<K>>) -> Self {
        let wanted = match self.wanted.clone() {
            Some(before) => before.and(wanted),
            None => wanted,
        };
        Self { shared: Arc::clone(&self.shared), wanted: Some(wanted) }
    }

    /// Returns the store, for reading and indexing, for example in a mapper.
    #[must_use]
    pub fn store(&self) -> Store<K> {
        Arc::clone(self.shared.informer.store())
    }

    /// Returns the informer behind it, for subscriptions and handlers.
    #[must_use]
    pub fn informer(&self) -> &Arc<Informer<Object<K>, Tokio>> {
        &self.shared.informer
    }

    /// Returns a handle that notes writes, so that no controller reconciles an object in a state
    /// before them.
    #[must_use]
    pub fn writes(&self) -> Writes<K> {
        Writes(Arc::clone(&self.shared.informer))
    }

    /// Begins to follow the collection, unless it has begun.
    ///
    /// # Panics
    /// Outside of a tokio runtime: tokio's own panic.
    pub fn start(&self) {
        self.shared.start();
    }

    /// Begins, and waits for the first list for that time at most.
    ///
    /// # Errors
    /// The collection was not listed in time.
    ///
    /// # Panics
    /// As [`start`](Self::start).
    pub async fn sync(&self, limit: Duration) -> Result<(), NotSynced> {
        self.start();
        let until = self.shared.runtime.now() + limit;
        if self.shared.informer.wait_for_sync_async(until).await {
            return Ok(());
        }
        Err(self.shared.not_synced())
    }
}

impl<K: Resource + fmt::Debug + Send + Sync + 'static> Shared<K> {
    pub(crate) fn start(&self) {
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        task.get_or_insert_with(|| {
            let (informer, token) = (Arc::clone(&self.informer), CancelToken::new(&self.runtime));
            tokio::spawn(async move {
                let _ran_before = informer.run_async(&token).await; // no one else runs it
            })
        });
    }

    pub(crate) fn not_synced(&self) -> NotSynced {
        let cause = self.last_error.get().map(|error| error.to_string());
        NotSynced { kind: self.kind.name.clone(), last_answer: cause }
    }
}

impl<K: Resource + fmt::Debug + Send + Sync + 'static> Drop for Shared<K> {
    fn drop(&mut self) {
        let task = self.task.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(task) = task {
            task.abort();
        }
    }
}

/// A collection was not listed in time.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct NotSynced {
    /// The kind of its objects.
    pub kind: String,
    /// What the server answered last; `None` if it has answered no error.
    pub last_answer: Option<String>,
}

impl fmt::Display for NotSynced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was not listed in time", self.kind)?;
        match &self.last_answer {
            Some(answer) => write!(f, "; the last answer: {answer}"),
            None => f.write_str("; no answer said why"),
        }
    }
}

impl std::error::Error for NotSynced {}

impl<K: Resource + fmt::Debug + Send + Sync + 'static> Clone for Cache<K> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), wanted: self.wanted.clone() }
    }
}

impl<K: Resource + fmt::Debug + Send + Sync + 'static> fmt::Debug for Cache<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("kind", &self.shared.kind).finish_non_exhaustive()
    }
}
