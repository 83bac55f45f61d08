//! The reference's recorded traces of the indexer, replayed.

use std::sync::Arc;

use seatrial_core::runtime::System;
use seatrial_core::store::indexed::{
    AddIndexersError, IndexError, IndexFunction, StoreError, Transaction, TransactionError,
    index_by,
};
use seatrial_core::store::{Cause, IndexedStore, Intake, KeyHasher, LastState, NoMetadata};
use serde_json::{Value, json};

use crate::conformance::{Conformance, Gives, Replayed, Step, TRACES, Trace, TraceError};

/// How the recorded traces of the indexer are replayed.
pub(super) fn conformance() -> Conformance {
    Conformance { traces_of: "indexer", carried: TRACES, replay, faithful: None }
}

fn replay(trace: &Trace) -> Result<Replayed, TraceError> {
    let driven = Driven::new(&trace.config).map_err(TraceError::Unreadable)?;
    trace.replay(|step| {
        let gives = driven.step(step)?;
        driven.store.assert_valid();
        Ok(Gives::Same(gives))
    })
}

/// An object of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Labelled {
    key: String,
    version: i64,
    namespace: String,
    labels: Vec<String>,
    resource_version: String,
}

type Object = Arc<Labelled>;

fn text(value: &Value, name: &str) -> Result<String, String> {
    value[name].as_str().map(str::to_owned).ok_or_else(|| format!("{value} has no {name}"))
}

fn texts(value: &Value) -> Result<Vec<String>, String> {
    let list = value.as_array().ok_or_else(|| format!("{value} is no list"))?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    list.iter().map(text).collect::<Option<_>>().ok_or_else(|| format!("{value} lists no texts"))
}

fn read(value: &Value) -> Result<Object, String> {
    Ok(Arc::new(Labelled {
        key: text(value, "k")?,
        version: value["v"].as_i64().ok_or_else(|| format!("{value} has no version"))?,
        namespace: text(value, "ns")?,
        labels: texts(&value["labels"])?,
        resource_version: text(value, "rv")?,
    }))
}

fn key_of(object: &Object) -> Result<String, Cause> {
    if object.key.is_empty() { Err(Arc::new(NoMetadata)) } else { Ok(object.key.clone()) }
}

fn version_of(object: &Object) -> Option<&str> {
    Some(&object.resource_version)
}

fn parity_of(object: &Object) -> Vec<String> {
    match object.version {
        version if version % 3 == 0 => vec![],
        version => vec![(version % 2).to_string()],
    }
}

/// Returns the index functions with these names.
fn functions(names: &Value) -> Result<Vec<(String, IndexFunction<Object>)>, String> {
    let function = |name: String| {
        let function = match name.as_str() {
            "by_ns" => index_by(|object: &Object| [object.namespace.clone()]),
            "by_label" => index_by(|object: &Object| object.labels.clone()),
            "by_parity" => index_by(parity_of),
            other => return Err(format!("there is no index function '{other}'")),
        };
        Ok((name, function))
    };
    texts(names)?.into_iter().map(function).collect()
}

/// A store driven by the steps of a trace.
struct Driven {
    store: IndexedStore<String, Object>,
}

impl Driven {
    fn new(config: &Value) -> Result<Self, String> {
        let intake = Intake::with_hasher(KeyHasher::fixed(7), key_of);
        let store = IndexedStore::with_intake(&System::new(), intake, Some(Arc::new(version_of)));
        store.add_indexers(functions(&config["indexers"])?).map_err(|error| error.to_string())?;
        Ok(Self { store })
    }

    fn step(&self, step: &Step) -> Result<Value, String> {
        let args = &step.args.0;
        let object = || read(&args["obj"]);
        Ok(match step.op.as_str() {
            "add" => end(self.store.add(object()?)),
            "update" => end(self.store.update(object()?)),
            "delete" => end(self.store.delete(&object()?)),
            "replace" => {
                let list = args["objs"].as_array().ok_or("replace wants objects")?;
                let objects = list.iter().map(read).collect::<Result<_, _>>()?;
                end(self.store.replace(objects, step.args.text("rv")?))
            }
            "transaction" => {
                let list = args["txns"].as_array().ok_or("transaction wants entries")?;
                let entries = list.iter().map(entry).collect::<Result<_, _>>()?;
                write_transaction(self.store.transaction(entries))
            }
            "add_indexers" => match self.store.add_indexers(functions(&args["indexers"])?) {
                Ok(()) => Value::Null,
                Err(error @ AddIndexersError::Conflict) => json!(error.to_string()),
                Err(error) => return Err(error.to_string()),
            },
            "bookmark" => {
                self.store.bookmark(step.args.text("rv")?);
                Value::Null
            }
            "resync" => {
                self.store.resync();
                Value::Null
            }
            _ => self.ask(step)?,
        })
    }

    fn ask(&self, step: &Step) -> Result<Value, String> {
        let (store, args) = (&self.store, &step.args);
        Ok(match step.op.as_str() {
            "get_by_key" => {
                let found = store.get(&args.text("key")?.to_owned());
                json!({ "exists": found.is_some(), "v": found.map(|object| object.version) })
            }
            "list" => write_objects(store.list().to_vec()),
            "list_keys" => sorted(store.list_keys()),
            "last_rv" => json!(store.last_resource_version()),
            "get_indexers" => sorted(store.indexers().into_iter().map(|(name, _)| name).collect()),
            "list_index_func_values" => sorted(store.list_index_values(args.text("index")?)),
            "index" => answer("objs", store.index(args.text("index")?, &read(&args.0["obj"])?)),
            "by_index" => answer("objs", store.by_index(args.text("index")?, args.text("value")?)),
            "index_keys" => match store.index_keys(args.text("index")?, args.text("value")?) {
                Ok(keys) => json!({ "keys": keys, "err": null }),
                Err(error) => json!({ "keys": [], "err": error.to_string() }),
            },
            other => return Err(format!("an indexer has no call '{other}'")),
        })
    }
}

fn entry(value: &Value) -> Result<Transaction<String, Object>, String> {
    let object = read(&value["obj"])?;
    Ok(match value["type"].as_str() {
        Some("Add") => Transaction::Add(object),
        Some("Update") => Transaction::Update(object),
        Some("Delete") => Transaction::Delete(LastState::Final(object)),
        _ => return Err(format!("{value} is no entry of a transaction")),
    })
}

fn end(result: Result<(), StoreError>) -> Value {
    match result {
        Ok(()) => Value::Null,
        Err(StoreError::Key(_)) => json!("key"),
        Err(other) => json!(other.to_string()),
    }
}

fn write_transaction(result: Result<(), TransactionError>) -> Value {
    match result {
        Ok(()) => Value::Null,
        Err(TransactionError { successful, total, errors }) => {
            json!({ "ok": successful, "total": total, "errors": errors.len() })
        }
    }
}

fn write_objects(mut objects: Vec<Object>) -> Value {
    objects.sort_by(|one, other| one.key.cmp(&other.key));
    objects.iter().map(|object| json!([object.key, object.version])).collect()
}

fn answer(name: &str, result: Result<Vec<Object>, IndexError>) -> Value {
    match result {
        Ok(objects) => json!({ name: write_objects(objects), "err": null }),
        Err(error) => json!({ name: [], "err": error.to_string() }),
    }
}

fn sorted<T: AsRef<str>>(texts: Vec<T>) -> Value {
    let mut texts: Vec<_> = texts.iter().map(AsRef::as_ref).collect();
    texts.sort_unstable();
    json!(texts)
}
