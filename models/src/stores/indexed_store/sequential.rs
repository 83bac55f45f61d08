//! The store with one index as a sequential object that answers calls.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_core::runtime::Instant;

use super::book::{Answer, Call};
use super::op::{Labelled, VERSIONS};
use crate::stores::fixtures::Sequential;

/// The content, and whether it is indexed by bits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Model {
    items: BTreeMap<u8, Labelled>,
    indexed: bool,
    version: String,
}

/// The version that the index function refuses.
pub(super) const REFUSED: u8 = 13;
/// The resource version of every list.
pub(super) const LISTED_AT: &str = "8";

/// Returns the resource version of an object, if it has one.
pub(super) fn version_of(object: &Labelled) -> Option<&'static str> {
    let version = VERSIONS[usize::from(object.version) % VERSIONS.len()];
    (!version.is_empty()).then_some(version)
}

pub(super) fn bits_of(object: &Labelled) -> BTreeSet<u8> {
    (0..8).filter(|bit| object.bits & 1 << bit != 0).collect()
}

impl Sequential<Call, Answer> for Model {
    fn answer(&mut self, call: &Call, _: Instant) -> Answer {
        match call {
            Call::Put(object) => self.write(|model| model.put(object)),
            Call::Delete(key) => self.write(|model| {
                model.items.remove(key);
            }),
            Call::Replace(list) => self.write(|model| {
                model.items = list.iter().map(|object| (object.key, object.clone())).collect();
                LISTED_AT.clone_into(&mut model.version);
            }),
            Call::Transact(entries) => self.write(|model| model.transact(entries)),
            Call::AddIndex if self.indexed => Answer::Refused,
            Call::AddIndex => self.write(|model| model.indexed = true),
            Call::ByIndex(_) | Call::Keys(_) if !self.indexed => Answer::NoIndex,
            Call::ByIndex(bit) => Answer::Objects(self.having(*bit).cloned().collect()),
            Call::Keys(bit) => Answer::Keys(self.having(*bit).map(|object| object.key).collect()),
            Call::Values if !self.indexed => Answer::Values(vec![]),
            Call::Values => {
                let values: BTreeSet<u8> = self.items.values().flat_map(bits_of).collect();
                Answer::Values(values.into_iter().collect())
            }
            Call::Get(key) => Answer::Objects(self.items.get(key).cloned().into_iter().collect()),
            Call::List => Answer::Objects(self.items.values().cloned().collect()),
            Call::SnapshotAcross(object) => {
                let before = Answer::Objects(self.items.values().cloned().collect());
                self.put(object);
                before
            }
            Call::Version => Answer::Version(self.version.clone()),
        }
    }
}

impl Model {
    fn having(&self, bit: u8) -> impl Iterator<Item = &Labelled> {
        self.items.values().filter(move |object| bits_of(object).contains(&bit))
    }

    /// Writes, unless the index refuses an object of the new content (`cache:IX-8`).
    fn write(&mut self, write: impl FnOnce(&mut Self)) -> Answer {
        let mut after = self.clone();
        write(&mut after);
        if after.indexed && after.items.values().any(|object| object.version == REFUSED) {
            return Answer::Refused;
        }
        *self = after;
        Answer::Done
    }

    fn put(&mut self, object: &Labelled) {
        self.items.insert(object.key, object.clone());
        if let Some(version) = version_of(object) {
            version.clone_into(&mut self.version);
        }
    }

    fn transact(&mut self, entries: &[(bool, Labelled)]) {
        let before = self.version.clone();
        for (delete, object) in entries {
            if *delete {
                self.items.remove(&object.key);
            } else {
                self.put(object);
            }
        }
        let last = entries.last().and_then(|(_, object)| version_of(object));
        self.version = last.map_or(before, str::to_owned);
    }
}
