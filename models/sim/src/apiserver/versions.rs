//! One kind in several versions: its objects are stored in one, and each other one that is served shows them.
//!
//! Each version that is not the stored one has a table of its own, which every write goes to as well, at the
//! same revision: lists, watches and states of the past need not know of it.

use std::sync::Arc;

use serde_json::Value;

use super::bounds::At;
use super::conversion::Converter;
use super::resource::{Resource, Shape};
use super::schema::Structural;
use super::store::{Key, Objects, Stored};
use super::{Server, decode};

/// The version in which the objects of a kind are stored, and its schema.
#[derive(Clone, Debug)]
pub(crate) struct Storage {
    api_version: String,
    schema: Arc<Structural>,
    /// Who converts, if that is a webhook: then there is one table.
    pub(super) converter: Option<Arc<Converter>>,
}

impl Storage {
    pub(super) fn new(
        api_version: String,
        schema: Arc<Structural>,
        converter: Option<Arc<Converter>>,
    ) -> Self {
        Self { api_version, schema, converter }
    }

    pub(super) fn api_version(&self) -> &str {
        &self.api_version
    }

    /// An object as it is stored.
    fn store(&self, object: Value) -> Value {
        if self.converter.is_some() {
            return object; // it lies in the version in which it was written
        }
        turned(object, &self.api_version, &self.schema)
    }
}

/// An object in another version: only its version changes, and what the other schema does not know goes.
fn turned(mut object: Value, api_version: &str, schema: &Structural) -> Value {
    if object["apiVersion"] == api_version {
        return object;
    }
    pruned(&mut object, schema);
    object["apiVersion"] = api_version.into();
    object
}

pub(super) fn pruned(object: &mut Value, schema: &Structural) {
    let Some(fields) = object.as_object_mut() else { return };
    let parts = ["apiVersion", "kind", "metadata"].map(|key| (key, fields.remove(key)));
    schema.prune(object, &At::Root, &mut Vec::new());
    for (key, part) in parts {
        if let Some(part) = part {
            object[key] = part;
        }
    }
}

impl Resource {
    /// The table of its objects, as this version shows them.
    pub(super) fn table(&self) -> String {
        match self.is_shown() {
            true => format!("{}/{}", self.qualified(), self.version),
            false => self.qualified(),
        }
    }

    /// Whether its objects are stored in another version.
    fn is_shown(&self) -> bool {
        let storage = self.storage.as_ref().filter(|it| it.converter.is_none());
        storage.is_some_and(|it| it.api_version != self.api_version())
    }

    fn show(&self, stored: &Value) -> Value {
        match &self.shape {
            Shape::Structural(schema) => turned(stored.clone(), &self.api_version(), schema),
            Shape::Struct(_) => stored.clone(),
        }
    }
}

impl Server {
    /// Writes an object of any version, and gives it back in that version.
    pub(super) fn store_version(
        &mut self,
        resource: &Resource,
        key: Key,
        object: Value,
        is_odd: bool,
    ) -> Arc<Value> {
        let table = resource.qualified();
        let Some(storage) = resource.storage.clone() else {
            return self.store.put(&table, key, object, is_odd);
        };
        let stored = self.store.put(&table, key.clone(), storage.store(object), is_odd);
        let mut own = stored.clone();
        for other in self.others(resource) {
            let shown = Arc::new(other.show(&stored));
            if other.version == resource.version {
                own = shown.clone();
            }
            self.store.put_beside(&other.table(), key.clone(), Some((shown, is_odd)));
        }
        own
    }

    /// Removes an object in all its versions.
    pub(super) fn remove_version(&mut self, resource: &Resource, key: &Key) {
        self.store.delete(&resource.qualified(), key.clone());
        for other in self.others(resource) {
            self.store.put_beside(&other.table(), key.clone(), None);
        }
    }

    /// The schema of a version that is served or stored.
    pub(super) fn schema_of(&self, of: &Resource, api_version: &str) -> Option<Arc<Structural>> {
        let storage = of.storage.as_ref().filter(|it| it.api_version == api_version);
        if let Some(storage) = storage {
            return Some(storage.schema.clone());
        }
        match &self.sibling(of, api_version)?.shape {
            Shape::Structural(schema) => Some(schema.clone()),
            Shape::Struct(_) => None,
        }
    }

    /// The versions that show what is stored in another.
    fn others(&self, resource: &Resource) -> Vec<Arc<Resource>> {
        let is_other = |it: &&Arc<Resource>| {
            it.plural == resource.plural && it.group == resource.group && it.is_shown()
        };
        if resource.storage.is_none() {
            return Vec::new();
        }
        self.registry.iter().filter(is_other).cloned().collect()
    }

    /// A definition has changed: what is stored is read by its new schemas from now on. Fields that got a
    /// default have it, and fields that are gone are not seen; what was written stays for the next change.
    pub(super) fn read_anew(&mut self, resource: &Resource, schemas: &[(String, Arc<Structural>)]) {
        let table = resource.qualified();
        let mut objects = Objects::default();
        for (key, stored) in self.store.objects(&table).iter() {
            let written = stored.raw.clone().unwrap_or_else(|| stored.object.clone());
            let mut object = Value::clone(&written);
            let version = object["apiVersion"].as_str().unwrap_or("");
            if let Some((_, schema)) = schemas.iter().find(|it| it.0 == version) {
                pruned(&mut object, schema);
                // Defaults that are too many were never stored either.
                decode::complete(schema, &mut object).ok();
            }
            if let Some(storage) = &resource.storage {
                object = storage.store(object);
            }
            let is_same = object == *written;
            let raw = (!is_same).then(|| written.clone());
            let object = if is_same { written } else { Arc::new(object) };
            objects.insert(key.clone(), Stored { object, raw, ..stored.clone() });
        }
        for other in self.others(resource) {
            let mut shown = Objects::default();
            for (key, stored) in objects.iter() {
                let object = Arc::new(other.show(&stored.object));
                shown.insert(key.clone(), Stored { object, ..stored.clone() });
            }
            self.store.replace(&other.table(), shown);
        }
        self.store.replace(&table, objects);
    }
}
