//! The one storage: objects, the revision counter, and the writes at each revision.

use std::borrow::Borrow;
use std::sync::Arc;

use serde_json::Value;

use super::{metadata, twin};
use crate::map::Map;
use crate::patch::measure;

/// About the memory of a value beside its texts: most are members of small maps.
const VALUE: usize = 96;

/// The place of an object within its resource: `namespace/name`, or the name alone. Keys are
/// ordered by their bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key(pub(crate) Arc<str>);

impl Key {
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        if namespace.is_empty() {
            Self(name.into())
        } else {
            Self([namespace, "/", name].concat().into())
        }
    }
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// An object and the revision of its last write.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) revision: u64,
    pub(crate) object: Arc<Value>,
    /// What was written, if it is read differently by now.
    pub(crate) raw: Option<Arc<Value>>,
    /// Whether a read gives another object than the one that was written.
    pub(crate) is_odd: bool,
}

pub(crate) type Objects = Map<Key, Stored>;

/// A write: the object before and after.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) key: Key,
    pub(crate) old: Option<Stored>,
    pub(crate) new: Option<Stored>,
}

/// One resource.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) objects: Objects,
    /// By revision.
    pub(crate) events: Map<u64, Arc<Event>>,
}

impl Table {
    /// The objects as they were at a revision that is not compacted, if they are those of `newest`.
    fn at(&self, revision: u64, newest: u64) -> Objects {
        let later = self.events.after(&revision).take_while(|(made, _)| **made <= newest);
        let mut objects = self.objects.clone();
        // Few writes lie between, mostly; to keep every state would make each of them dearer.
        for (_, event) in later.collect::<Vec<_>>().into_iter().rev() {
            match &event.old {
                Some(old) => objects.insert(event.key.clone(), old.clone()),
                None => objects.remove(&event.key),
            };
        }
        objects
    }

    /// Forgets the events up to a revision.
    fn forget(&mut self, revision: u64) {
        while let Some((&first, _)) = self.events.first()
            && first <= revision
        {
            self.events.remove(&first);
        }
    }
}

/// Everything that is stored. A copy shares its content and costs next to nothing.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    /// The revision of the newest write of all.
    pub(crate) revision: u64,
    /// States before this revision cannot be read any more.
    pub(crate) compacted: u64,
    tables: Map<Arc<str>, Table>,
    /// About how much memory each write of the history holds, and all of them.
    weights: Map<u64, usize>,
    weight: usize,
    /// Events up to this revision are gone also for watches that have not seen them.
    pub(crate) forgotten: u64,
}

/// The memory that the history may hold. Many small writes are limited by their number instead.
const HISTORY: usize = 32 * 1024 * 1024;

impl Store {
    pub(crate) fn new(revision: u64) -> Self {
        let (tables, weights) = (Map::default(), Map::default());
        Self { revision, compacted: revision, tables, weights, weight: 0, forgotten: 0 }
    }

    pub(crate) fn table(&self, resource: &str) -> Option<&Table> {
        self.tables.get(resource)
    }

    /// The tables, each of what is stored once.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (&Arc<str>, &Table)> {
        self.tables.iter().filter(|(name, _)| !twin::is_copy(name) && !name.contains('/'))
    }

    /// The storage as it was at a revision, or at the first one that is readable.
    pub(crate) fn at(&self, revision: u64) -> Self {
        let mut store = self.clone();
        store.revision = revision.max(self.compacted);
        for (name, table) in self.tables.iter() {
            let objects = table.at(store.revision, self.revision);
            if let Some(table) = store.tables.get_mut(name) {
                table.objects = objects;
            }
        }
        store
    }

    /// The objects of a resource, as they were at a revision that is not compacted.
    pub(crate) fn objects_at(&self, resource: &str, revision: u64) -> Objects {
        self.table(resource).map(|table| table.at(revision, self.revision)).unwrap_or_default()
    }

    /// The objects of a resource, now.
    pub(crate) fn objects(&self, resource: &str) -> Objects {
        self.table(resource).map(|table| table.objects.clone()).unwrap_or_default()
    }

    pub(crate) fn get(&self, resource: &str, key: &Key) -> Option<&Stored> {
        self.table(resource)?.objects.get(key)
    }

    /// Writes an object, with its new version, and gives it back.
    pub(crate) fn put(
        &mut self,
        resource: &str,
        key: Key,
        mut object: Value,
        is_odd: bool,
    ) -> Arc<Value> {
        self.revision += 1;
        metadata::set(&mut object, "resourceVersion", self.revision.to_string());
        let object = Arc::new(object);
        let new = Stored { revision: self.revision, object: object.clone(), raw: None, is_odd };
        self.commit(resource, key, Some(new));
        object
    }

    /// Shows the last write in another table too: an object, or that it is gone.
    pub(crate) fn put_beside(&mut self, table: &str, key: Key, object: Option<(Arc<Value>, bool)>) {
        let revision = self.revision;
        let new = object.map(|(object, is_odd)| Stored { revision, object, raw: None, is_odd });
        self.set(table, key, new);
    }

    /// Shows other objects in a table, which is no write.
    pub(crate) fn replace(&mut self, table: &str, objects: Objects) {
        if self.tables.get(table).is_none() {
            self.tables.insert(table.into(), Table::default());
        }
        if let Some(table) = self.tables.get_mut(table) {
            table.objects = objects;
        }
    }

    /// Removes an object, which is a write too.
    pub(crate) fn delete(&mut self, resource: &str, key: Key) {
        self.revision += 1;
        self.commit(resource, key, None);
    }

    /// Makes a write, and the same write in the other API of the resource if there is one.
    fn commit(&mut self, resource: &str, key: Key, new: Option<Stored>) {
        if let Some(face) = twin::other(resource) {
            let shown =
                |it: &Stored| Stored { object: Arc::new(face.show(&it.object)), ..it.clone() };
            self.set(face.table, key.clone(), new.as_ref().map(shown));
        }
        self.set(resource, key, new);
    }

    fn set(&mut self, resource: &str, key: Key, new: Option<Stored>) {
        if self.tables.get(resource).is_none() {
            self.tables.insert(resource.into(), Table::default());
        }
        let Some(table) = self.tables.get_mut(resource) else { return };
        let old = match &new {
            Some(new) => table.objects.insert(key.clone(), new.clone()),
            None => table.objects.remove(&key),
        };
        let size =
            new.as_ref().or(old.as_ref()).map_or_else(Default::default, |it| measure(&it.object));
        let size = size.bytes + size.values * VALUE;
        self.weight += size;
        let before = self.weights.get(&self.revision).copied().unwrap_or(0);
        self.weights.insert(self.revision, before + size);
        table.events.insert(self.revision, Arc::new(Event { key, old, new }));
    }

    /// The revision up to which the history must be forgotten, if it holds too much.
    pub(crate) fn too_heavy(&self) -> Option<u64> {
        let mut left = self.weight;
        let mut heavy = self.weights.iter().take_while(|(_, weight)| {
            let goes_on = left > HISTORY / 2;
            left -= **weight;
            goes_on
        });
        (self.weight > HISTORY).then(|| heavy.by_ref().last().map(|(revision, _)| *revision))?
    }

    /// Makes the states before a revision unreadable. Events that an open watch has still to see,
    /// those after `needed`, are kept for it.
    pub(crate) fn compact(&mut self, revision: u64, needed: u64) {
        self.compacted = self.compacted.max(revision.min(self.revision));
        let upto = self.compacted.min(needed);
        while let Some((&first, &weight)) = self.weights.first()
            && first <= upto
        {
            self.weights.remove(&first);
            self.weight -= weight;
        }
        let names: Vec<_> = self.tables.iter().map(|(name, _)| name.clone()).collect();
        for name in names {
            if let Some(table) = self.tables.get_mut(&name) {
                table.forget(upto);
            }
        }
    }
}
