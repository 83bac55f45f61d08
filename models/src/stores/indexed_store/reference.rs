//! The reference's algorithm over the same locks, with mistakes that can be switched on.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::DerefMut;

use seatrial_core::runtime::Runtime;

use super::book::{Answer, Call};
use super::op::Labelled;
use super::sequential::{LISTED_AT, REFUSED, bits_of, version_of};
use crate::engine::AnyRuntime;
use crate::events::fixtures::Mistakes;
use crate::shared::Lock;

#[derive(Default)]
struct Content {
    items: BTreeMap<u8, Labelled>,
    indexed: bool,
    index: BTreeMap<u8, BTreeSet<u8>>,
    version: String,
}

/// A map of objects and a map of their values under one lock.
pub(super) struct PlainStore {
    runtime: AnyRuntime,
    content: Lock<Content>,
    mistakes: Mistakes,
}

impl PlainStore {
    pub(super) fn with(runtime: &AnyRuntime, mistakes: Mistakes) -> Self {
        let content = runtime.mutex(Content::default());
        Self { runtime: runtime.clone(), content, mistakes }
    }

    fn makes(&self, mistake: &str) -> bool {
        self.mistakes.contains(&mistake)
    }

    fn lock(&self) -> impl DerefMut<Target = Content> + '_ {
        self.runtime.lock(&self.content)
    }

    pub(super) fn call(&self, call: &Call) -> Answer {
        match call {
            Call::Put(object) => self.put(object),
            Call::Delete(key) => {
                self.delete(*key);
                Answer::Done
            }
            Call::Replace(list) => self.replace(list),
            Call::Transact(entries) => self.transact(entries),
            Call::AddIndex => self.add_index(),
            Call::ByIndex(bit) => self.by_index(*bit),
            Call::Keys(bit) => self.keys(*bit),
            Call::Values => self.values(),
            Call::Get(key) => {
                Answer::Objects(self.lock().items.get(key).cloned().into_iter().collect())
            }
            Call::List => self.list(),
            Call::SnapshotAcross(object) => {
                let before = self.list();
                self.put(object);
                if self.makes("snapshot_follows") { self.list() } else { before }
            }
            Call::Version => Answer::Version(self.lock().version.clone()),
        }
    }

    /// Moves an object in the index from its old values to its new ones.
    fn index(
        &self,
        content: &mut Content,
        key: u8,
        old: Option<&Labelled>,
        new: Option<&Labelled>,
    ) {
        if !content.indexed {
            return;
        }
        let (old, new) =
            (old.map(bits_of).unwrap_or_default(), new.map(bits_of).unwrap_or_default());
        let skips_new = self.makes("shortcut_on_the_new") && new.len() == 1 && new.is_subset(&old);
        let skips_old = self.makes("shortcut_on_the_old") && old.len() == 1 && old.is_subset(&new);
        if skips_new || skips_old {
            return;
        }
        for bit in old {
            let Some(keys) = content.index.get_mut(&bit) else { continue };
            keys.remove(&key);
            if keys.is_empty() && !self.makes("dead_values_stay") {
                content.index.remove(&bit);
            }
        }
        for bit in new {
            content.index.entry(bit).or_default().insert(key);
        }
    }

    /// Indexes an object that is stored already: under the same lock, or, as a mistake, under a
    /// later one.
    fn index_then(
        &self,
        mut content: impl DerefMut<Target = Content>,
        key: u8,
        old: Option<&Labelled>,
    ) {
        let new = content.items.get(&key).cloned();
        if self.makes("indexed_afterwards") {
            drop(content);
            self.index(&mut self.lock(), key, old, new.as_ref());
        } else {
            self.index(&mut content, key, old, new.as_ref());
        }
    }

    fn put(&self, object: &Labelled) -> Answer {
        let mut content = self.lock();
        let refused = content.indexed && object.version == REFUSED;
        if refused && !self.makes("stored_before_indexed") {
            return Answer::Refused;
        }
        let old = content.items.insert(object.key, object.clone());
        if refused {
            return Answer::Refused;
        }
        let version = version_of(object);
        if let Some(version) = version
            && !self.makes("version_afterwards")
        {
            version.clone_into(&mut content.version);
        }
        self.index_then(content, object.key, old.as_ref());
        if let Some(version) = version
            && self.makes("version_afterwards")
        {
            version.clone_into(&mut self.lock().version);
        }
        Answer::Done
    }

    fn delete(&self, key: u8) {
        let mut content = self.lock();
        let old = content.items.remove(&key);
        if let Some(version) = old.as_ref().and_then(version_of)
            && self.makes("delete_moves_the_version")
        {
            version.clone_into(&mut content.version);
        }
        if !self.makes("delete_keeps_the_index") {
            self.index_then(content, key, old.as_ref());
        }
    }

    fn replace(&self, list: &[Labelled]) -> Answer {
        let mut content = self.lock();
        if content.indexed && list.iter().any(|object| object.version == REFUSED) {
            return Answer::Refused;
        }
        if self.makes("version_first") {
            LISTED_AT.clone_into(&mut content.version);
            drop(content);
            content = self.lock();
        }
        if self.makes("list_loses_an_index") {
            let indexed = content.indexed;
            drop(content);
            content = self.lock();
            content.indexed = indexed;
        }
        content.items.clear();
        if !self.makes("list_keeps_the_index") {
            content.index.clear();
        }
        if self.makes("cleared_first") {
            drop(content);
            content = self.lock();
        }
        for object in list {
            if self.makes("first_of_two_counts") && content.items.contains_key(&object.key) {
                continue;
            }
            let old = content.items.insert(object.key, object.clone());
            if !self.makes("list_keeps_the_index") {
                self.index(&mut content, object.key, old.as_ref(), Some(object));
            }
        }
        LISTED_AT.clone_into(&mut content.version);
        Answer::Done
    }

    fn transact(&self, entries: &[(bool, Labelled)]) -> Answer {
        let mut content = self.lock();
        for (number, (delete, object)) in entries.iter().enumerate() {
            if number > 0 && self.makes("write_by_write") {
                drop(content);
                content = self.lock();
            }
            let new = (!delete).then_some(object);
            let old = match new {
                Some(new) => content.items.insert(object.key, new.clone()),
                None => content.items.remove(&object.key),
            };
            self.index(&mut content, object.key, old.as_ref(), new);
        }
        if let Some(version) = entries.last().and_then(|(_, object)| version_of(object)) {
            version.clone_into(&mut content.version);
        }
        Answer::Done
    }

    fn add_index(&self) -> Answer {
        let mut content = self.lock();
        if content.indexed {
            return if self.makes("conflict_is_hidden") { Answer::Done } else { Answer::Refused };
        }
        if content.items.values().any(|object| object.version == REFUSED) {
            return Answer::Refused;
        }
        content.indexed = true;
        if self.makes("index_forgets_the_stored") {
            return Answer::Done;
        }
        if self.makes("index_is_filled_afterwards") {
            drop(content);
            content = self.lock();
        }
        for (key, object) in content.items.clone() {
            self.index(&mut content, key, None, Some(&object));
        }
        Answer::Done
    }

    fn by_index(&self, bit: u8) -> Answer {
        let mut content = self.lock();
        if !content.indexed {
            return Answer::NoIndex;
        }
        let keys = content.index.get(&bit).cloned().unwrap_or_default();
        if self.makes("index_key_by_key") {
            drop(content);
            content = self.lock();
        }
        Answer::Objects(keys.iter().filter_map(|key| content.items.get(key).cloned()).collect())
    }

    fn keys(&self, bit: u8) -> Answer {
        let content = self.lock();
        if !content.indexed {
            return Answer::NoIndex;
        }
        Answer::Keys(content.index.get(&bit).cloned().unwrap_or_default().into_iter().collect())
    }

    fn values(&self) -> Answer {
        let content = self.lock();
        let mut values: Vec<u8> = content.index.keys().copied().collect();
        drop(content);
        if self.makes("values_without_lock") {
            let middle = 1; // the values behind it are read later
            values.retain(|bit| *bit < middle);
            values.extend(self.lock().index.keys().filter(|bit| **bit >= middle));
        }
        Answer::Values(values)
    }

    fn list(&self) -> Answer {
        let content = self.lock();
        if !self.makes("list_key_by_key") {
            return Answer::Objects(content.items.values().cloned().collect());
        }
        let keys: Vec<u8> = content.items.keys().copied().collect();
        drop(content);
        let read = |key: u8| self.lock().items.get(&key).cloned();
        Answer::Objects(keys.into_iter().filter_map(read).collect())
    }
}
