//! The writes to the storage, for judging a run.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

#[cfg(feature = "ordered")]
use super::Objects;
use super::Server;
#[cfg(feature = "ordered")]
use super::route::Target;

/// One write to the storage.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The revision that it made.
    pub revision: u64,
    /// The resource as in paths, such as `configmaps`; with its group if it has one, such as
    /// `deployments.apps`.
    pub resource: Arc<str>,
    /// The object's name, after its namespace and a slash if it has one.
    pub key: Arc<str>,
    /// The object before; none if this write made it.
    pub old: Option<Arc<Value>>,
    /// The object after; none if this write removed it.
    pub new: Option<Arc<Value>>,
}

impl Server {
    /// The writes after a revision, in their order, as far as they are not compacted.
    pub fn writes_after(&self, revision: u64) -> Vec<Written> {
        let mut writes = Vec::new();
        for (resource, table) in self.store.tables() {
            writes.extend(table.events.after(&revision).map(|(&revision, event)| Written {
                revision,
                resource: resource.clone(),
                key: event.key.0.clone(),
                old: event.old.as_ref().map(|it| it.object.clone()),
                new: event.new.as_ref().map(|it| it.object.clone()),
            }));
        }
        writes.sort_by_key(|it| it.revision);
        writes
    }

    /// Everything that is stored: resource, key and object, in order.
    pub fn contents(&self) -> Vec<(Arc<str>, Arc<str>, Arc<Value>)> {
        let mut contents = Vec::new();
        for (resource, table) in self.store.tables() {
            let objects = table.objects.iter();
            contents.extend(
                objects.map(|(key, it)| (resource.clone(), key.0.clone(), it.object.clone())),
            );
        }
        contents
    }

    /// The objects of each resource. They are shared and not copied.
    #[cfg(feature = "ordered")]
    pub(crate) fn objects(&self) -> impl Iterator<Item = (Arc<str>, Objects)> {
        self.store.tables().map(|(resource, table)| (resource.clone(), table.objects.clone()))
    }

    /// The resource that a path is about, and the key of the object if it names one.
    #[cfg(feature = "ordered")]
    pub(crate) fn subject(&self, path: &str) -> Option<(String, Option<String>)> {
        let target = Target::parse(&self.registry, path).ok()?;
        let key = target.name.map(|name| match target.namespace.as_str() {
            "" => name,
            namespace => format!("{namespace}/{name}"),
        });
        Some((target.resource.qualified(), key))
    }

    /// Reads as from a replica that has seen the writes up to a revision. Who asks is known by the newest
    /// state all the same: a real server asks the storage for an account that its cache lacks.
    pub(crate) fn late<R>(&mut self, revision: u64, read: impl FnOnce(&mut Self) -> R) -> R {
        let mut late = self.clone();
        late.newest.get_or_insert_with(|| self.store.clone());
        late.store = self.store.at(revision);
        let result = read(&mut late);
        // A read that panics leaves the newest state in its place.
        (late.store, late.newest) = (self.store.clone(), self.newest.clone());
        *self = late;
        result
    }

    /// How many watches are open.
    pub fn open_watches(&self) -> usize {
        self.watches.iter().count()
    }

    /// The time that the server was last told.
    pub fn now(&self) -> Duration {
        self.now
    }
}
