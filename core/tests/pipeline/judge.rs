//! What handlers are told, and what was reconciled, held against the server.

use std::collections::BTreeMap;
use std::sync::Arc;

use seatrial_core::informer::{Change, ObjectChange};
use seatrial_core::store::{Described, Metadata};
use serde::Deserialize;

/// An object of the server, of which nothing but its metadata is read.
#[derive(Deserialize, PartialEq, Eq, Debug)]
pub(crate) struct Thing {
    metadata: Meta,
}

#[derive(Deserialize, PartialEq, Eq, Debug)]
#[serde(rename_all = "camelCase")]
struct Meta {
    namespace: String,
    name: String,
    uid: String,
    resource_version: String,
}

pub(crate) type Object = Arc<Thing>;

impl Described for Thing {
    fn metadata(&self) -> Option<Metadata<'_>> {
        let Meta { namespace, name, uid, resource_version } = &self.metadata;
        Some(Metadata { namespace, name, uid, resource_version })
    }
}

impl Thing {
    pub(crate) fn version(&self) -> String {
        self.metadata.resource_version.clone()
    }
}

/// Objects by their keys, in their versions.
pub(crate) type State = BTreeMap<String, String>;

/// What a reader was told, which must be a legal sequence for each object.
#[derive(Default, Debug)]
pub(crate) struct Told {
    known: State,
    pub(crate) count: u64,
}

impl Told {
    /// Takes in a change; returns its key.
    pub(crate) fn take(&mut self, change: &ObjectChange<Object>) -> Result<String, String> {
        self.count += 1;
        let key = change.key().map_err(|error| error.to_string())?;
        let known = self.known.get(&key);
        match (change, known) {
            (Change::Added { object, .. }, None) => {
                self.known.insert(key.clone(), object.version());
            }
            (Change::Updated { old, new }, Some(known)) if *known == old.version() => {
                self.known.insert(key.clone(), new.version());
            }
            (Change::Deleted(_), Some(_)) => drop(self.known.remove(&key)),
            (change, known) => return Err(format!("{change:?} is told, and {known:?} is known")),
        }
        Ok(key)
    }

    pub(crate) fn known(&self) -> &State {
        &self.known
    }
}
