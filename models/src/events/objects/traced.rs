//! Objects as the recorded traces of queues and stores write them.

use std::sync::Arc;

use seatrial_core::delta_fifo::Delta;
use seatrial_core::fifo::EnqueueError;
use seatrial_core::store::{Cause, LastState, NoMetadata};
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
    if object.key.is_empty() { Err(Arc::new(NoMetadata)) } else { Ok(object.key.clone()) }
}

/// The transformer of the traces: it counts.
pub(crate) fn count_transform(mut object: Object) -> Result<Object, Cause> {
    object.transformed += 1;
    Ok(object)
}

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
pub(crate) type Store = super::Store<String, Object>;

/// Makes a store out of a list of objects; nothing if there is no list.
pub(crate) fn read_store(list: Option<&Value>) -> Result<Store, String> {
    let objects = list.map_or(Ok(vec![]), Object::read_all)?;
    Ok(Store::of(objects.into_iter().map(|object| (object.key.clone(), object))))
}

/// Returns the key under which a store keeps what a change is about.
pub(crate) fn key_of_delta(delta: &Delta<String, Object>) -> Option<String> {
    match delta {
        Delta::Deleted(LastState::Tombstone(tombstone)) => Some(tombstone.key.clone()),
        delta => delta.object().map(|object| object.key.clone()),
    }
}

/// Writes a change.
pub(crate) fn write_delta(delta: &Delta<String, Object>) -> Value {
    let object = match delta {
        Delta::Deleted(last) => Object::write_last(last),
        other => other.object().map_or(Value::Null, Object::write),
    };
    json!({ "type": delta.kind().to_string(), "obj": object })
}

/// Writes how a call ended.
pub(crate) fn write_end(result: Result<(), EnqueueError>) -> Value {
    match result {
        Ok(()) => Value::Null,
        Err(EnqueueError::Key(_)) => json!("key"),
        Err(other) => json!(other.to_string()),
    }
}
