//! Finalizers: work that is done before an object is gone.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use k8s_openapi::api::core::v1::ConfigMap;
//! # use kube::{Api, ResourceExt};
//! use seatrial_kube::controller::Action;
//! use seatrial_kube::finalizer::{Error, Event, Finalizer};
//!
//! # async fn remove(_: &ConfigMap) -> kube::Result<()> { Ok(()) }
//! # async fn ensure(_: &ConfigMap) -> kube::Result<()> { Ok(()) }
//! # async fn reconcile(map: Arc<ConfigMap>, maps: &Api<ConfigMap>) -> Result<Action, Error<kube::Error>> {
//! Finalizer::new(maps, "my-operator.example.com/bucket")
//!     .run(map, |event| async move {
//!         match event {
//!             Event::Apply(map) => ensure(&map).await?,
//!             Event::Cleanup(map) => remove(&map).await?,
//!         }
//!         Ok(Action::Done)
//!     })
//!     .await
//! # }
//! ```
//!
//! * The object has the finalizer before [`Event::Apply`] is given: what is made then is cleaned up.
//!   It is given at once, with the state that the server answered; no later change is needed.
//! * The finalizer is removed only after [`Event::Cleanup`] has succeeded.
//! * Finalizers of others are neither lost nor doubled: every write names the version that it
//!   replaces, and a conflict is decided anew. An object that has another's name is left alone.

use std::fmt;
use std::sync::Arc;

use kube::api::{Api, Patch, PatchParams};
use kube::{Resource, ResourceExt as _};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::conflict::is_conflict;
use crate::controller::{Action, Writes};

/// How often a write is tried when others write at the same time.
const ATTEMPTS: u32 = 5;

/// What is to be done with an object.
#[derive(Debug)]
pub enum Event<K> {
    /// It exists and has the finalizer: bring about what it asks for.
    Apply(Arc<K>),
    /// Somebody has deleted it: remove what was made for it. It is gone after that.
    Cleanup(Arc<K>),
}

/// Why the work on an object with a finalizer failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error<E> {
    /// The work after [`Event::Apply`] failed.
    Apply(E),
    /// The work after [`Event::Cleanup`] failed; the finalizer stays.
    Cleanup(E),
    /// The finalizer could not be added or removed.
    Write(kube::Error),
}

impl<E: fmt::Display> fmt::Display for Error<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Apply(error) => write!(f, "the object is not applied: {error}"),
            Self::Cleanup(error) => write!(f, "the object is not cleaned up: {error}"),
            Self::Write(error) => write!(f, "the finalizer is not written: {error}"),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for Error<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Apply(error) | Self::Cleanup(error) => error.source(),
            Self::Write(error) => error.source(),
        }
    }
}

/// A finalizer, by its name, of the objects that an `Api` can write.
pub struct Finalizer<'a, K: Resource + fmt::Debug + Send + Sync + 'static> {
    api: &'a Api<K>,
    name: &'a str,
    writes: Option<&'a Writes<K>>,
}

impl<'a, K> Finalizer<'a, K>
where
    K: Resource + Clone + DeserializeOwned + fmt::Debug + Send + Sync + 'static,
{
    /// A name has a domain of yours and a path, as in `my-operator.example.com/bucket`.
    #[must_use]
    pub const fn new(api: &'a Api<K>, name: &'a str) -> Self {
        Self { api, name, writes: None }
    }

    /// Notes its own writes, so that the next run sees them.
    #[must_use]
    pub const fn noting(mut self, writes: &'a Writes<K>) -> Self {
        self.writes = Some(writes);
        self
    }

    /// Does the work that an object needs: the finalizer is added before it, or removed after it.
    /// An object that is being deleted, and does not have the finalizer, needs none.
    ///
    /// # Errors
    /// The work failed, or the finalizer could not be written.
    pub async fn run<W, E>(
        &self,
        object: Arc<K>,
        work: impl FnOnce(Event<K>) -> W,
    ) -> Result<Action, Error<E>>
    where
        W: Future<Output = Result<Action, E>>,
    {
        let is_going = object.meta().deletion_timestamp.is_some();
        let has_it = object.finalizers().iter().any(|it| it == self.name);
        match (is_going, has_it) {
            (false, true) => work(Event::Apply(object)).await.map_err(Error::Apply),
            (true, false) => Ok(Action::Done),
            (false, false) => match self.set(&object, true).await.map_err(Error::Write)? {
                Some(object) if object.meta().deletion_timestamp.is_none() => {
                    work(Event::Apply(Arc::new(object))).await.map_err(Error::Apply)
                }
                _ => Ok(Action::Done), // it has been deleted meanwhile
            },
            (true, true) => {
                let action =
                    work(Event::Cleanup(Arc::clone(&object))).await.map_err(Error::Cleanup)?;
                self.set(&object, false).await.map_err(Error::Write)?;
                Ok(action)
            }
        }
    }

    /// Adds or removes the finalizer; returns the object, or `None` if it is gone.
    async fn set(&self, object: &K, wanted: bool) -> kube::Result<Option<K>> {
        let (name, uid) = (object.name_any(), object.uid());
        let mut newest = object.clone();
        let mut left = ATTEMPTS;
        loop {
            let has_it = newest.finalizers().iter().any(|it| it == self.name);
            let may_be_added = newest.meta().deletion_timestamp.is_none();
            if has_it == wanted || (wanted && !may_be_added) {
                return Ok(Some(newest));
            }
            let mut all: Vec<_> =
                newest.finalizers().iter().filter(|it| *it != self.name).cloned().collect();
            if wanted {
                all.push(self.name.to_owned());
            }
            let version = newest.resource_version();
            let patch = json!({"metadata": {"finalizers": all, "resourceVersion": version}});
            let params = PatchParams::default();
            let result = self.api.patch(&name, &params, &Patch::Merge(patch)).await;
            left -= 1;
            match result {
                Ok(answer) => {
                    self.note(&answer);
                    return Ok(Some(answer));
                }
                Err(kube::Error::Api(status)) if status.code == 404 => return Ok(None),
                Err(error) if left == 0 || !is_conflict(&error) => return Err(error),
                Err(_conflict) => {}
            }
            newest = match self.api.get_opt(&name).await? {
                Some(newest) if newest.uid() == uid => newest,
                _ => return Ok(None),
            };
        }
    }

    fn note(&self, answer: &K) {
        let Some(writes) = self.writes else { return };
        let is_gone = answer.meta().deletion_timestamp.is_some() && answer.finalizers().is_empty();
        if is_gone { writes.deleted(answer) } else { writes.wrote(answer) }
    }
}

impl<K: Resource + fmt::Debug + Send + Sync + 'static> fmt::Debug for Finalizer<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finalizer").field("name", &self.name).finish_non_exhaustive()
    }
}
