//! Objects and stores as the recorded traces of queues and stores write them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use seatrial_core::store::{Cause, KnownObjects, LastState, LookupFailed};
use serde_json::{Map, Value, json};

/// An object of a trace: `{"k":key,"v":version}`, and `"t"` if it was transformed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Object {
    pub(crate) key: String,
    pub(crate) version: i64,
    pub(crate) transformed: u32,
}

/// The key function of the traces: an empty key is none.
pub(crate) fn key_of(object: &Object) -> Result<String, Cause> {
    if object.key.is_empty() { Err(Arc::new(NoKey)) } else { Ok(object.key.clone()) }
}

/// The transformer of the traces: it counts.
pub(crate) fn count_transform(mut object: Object) -> Result<Object, Cause> {
    object.transformed += 1;
    Ok(object)
}

#[derive(Debug)]
struct NoKey;

impl std::fmt::Display for NoKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the object has no key")
    }
}

impl std::error::Error for NoKey {}

impl Object {
    pub(crate) fn read(value: &Value) -> Result<Self, String> {
        let parts = value.get("k").and_then(Value::as_str).zip(value["v"].as_i64());
        let (key, version) = parts.ok_or_else(|| format!("{value} is no object"))?;
        Ok(Self { key: key.to_owned(), version, transformed: 0 })
    }

    /// Reads an object, or the list of objects that is there instead.
    pub(crate) fn read_all(value: &Value) -> Result<Vec<Self>, String> {
        let list = value.as_array().ok_or_else(|| format!("{value} is no list"))?;
        list.iter().map(Self::read).collect()
    }

    /// Reads an object or a tombstone.
    pub(crate) fn read_last(value: &Value) -> Result<LastState<String, Self>, String> {
        let Some(tombstone) = value.get("dfsu") else {
            return Self::read(value).map(LastState::Final);
        };
        let key = tombstone["key"].as_str().ok_or_else(|| format!("{value} has no key"))?;
        let object = match &tombstone["obj"] {
            Value::Null => None,
            object => Some(Self::read(object)?),
        };
        Ok(LastState::unknown(key.to_owned(), object))
    }

    pub(crate) fn write(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("k".to_owned(), json!(self.key));
        fields.insert("v".to_owned(), json!(self.version));
        if self.transformed > 0 {
            fields.insert("t".to_owned(), json!(self.transformed));
        }
        Value::Object(fields)
    }

    pub(crate) fn write_last(last: &LastState<String, Self>) -> Value {
        match last {
            LastState::Final(object) => object.write(),
            LastState::Tombstone(tombstone) => {
                let object = tombstone.object.as_ref().map(Self::write);
                json!({ "dfsu": { "key": tombstone.key, "obj": object } })
            }
        }
    }
}

/// The store of a trace's consumer, whose listing is in ascending key order.
#[derive(Clone, Default, Debug)]
pub(crate) struct Store(Arc<Mutex<BTreeMap<String, Object>>>);

impl Store {
    pub(crate) fn of(objects: Vec<Object>) -> Self {
        let objects = objects.into_iter().map(|object| (object.key.clone(), object));
        Self(Arc::new(Mutex::new(objects.collect())))
    }

    /// Returns what is in the store. Never waits: the traces are sequential.
    pub(crate) fn objects(&self) -> MutexGuard<'_, BTreeMap<String, Object>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn write_keys(&self) -> Value {
        self.objects().keys().cloned().collect()
    }
}

impl KnownObjects<String, Object> for Store {
    fn keys(&self) -> Vec<String> {
        self.objects().keys().cloned().collect()
    }

    fn get(&self, key: &String) -> Result<Option<Object>, LookupFailed> {
        Ok(self.objects().get(key).cloned())
    }
}
