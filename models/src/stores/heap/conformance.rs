//! The reference's recorded traces of the keyed heap, replayed.

use std::sync::Arc;

use seatrial_core::machine::Boxed;
use seatrial_core::runtime::System;
use seatrial_core::store::heap::HeapQueue;
use seatrial_core::store::{Cause, HeapError, Intake, KeyHasher, KeyedHeap, NoMetadata};
use serde_json::{Value, json};

use crate::conformance::{Conformance, Gives, Replayed, Step, TRACES, Trace, TraceError};
use crate::events::fixtures::Checked;

/// How the recorded traces of the keyed heap are replayed.
pub(super) fn conformance() -> Conformance {
    Conformance { traces_of: "heap", carried: TRACES, replay, faithful: None }
}

fn replay(trace: &Trace) -> Result<Replayed, TraceError> {
    let driven = Driven::new();
    trace.replay(|step| driven.step(step).map(Gives::Same))
}

/// An object of a trace: ordered by priority, then by version.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Ranked {
    priority: i64,
    version: i64,
    key: String,
}

impl Ranked {
    fn read(value: &Value) -> Result<Self, String> {
        let read = || {
            let (priority, version) = value["p"].as_i64().zip(value["v"].as_i64())?;
            Some(Self { priority, version, key: value["k"].as_str()?.to_owned() })
        };
        read().ok_or_else(|| format!("{value} is no object"))
    }

    fn write(&self) -> Value {
        json!({ "k": self.key, "v": self.version })
    }

    fn less(&self, other: &Self) -> bool {
        (self.priority, self.version) < (other.priority, other.version)
    }

    fn key_of(&self) -> Result<String, Cause> {
        if self.key.is_empty() { Err(Arc::new(NoMetadata)) } else { Ok(self.key.clone()) }
    }
}

/// A machine driven by the steps of a trace.
struct Driven {
    heap: KeyedHeap<String, Ranked, System>,
}

impl Driven {
    fn new() -> Self {
        let machine = Checked(HeapQueue::new(Arc::new(Ranked::less)));
        let intake = Intake::with_hasher(KeyHasher::fixed(7), Ranked::key_of);
        let host = Boxed(Box::new(machine) as _);
        Self { heap: KeyedHeap::with_host(&System::new(), intake, host) }
    }

    fn step(&self, step: &Step) -> Result<Value, String> {
        let args = &step.args.0;
        let object = || Ranked::read(&args["obj"]);
        Ok(match step.op.as_str() {
            "add" => end(self.heap.add(object()?)),
            "update" => end(self.heap.update(object()?)),
            "add_if_not_present" => end(self.heap.add_if_absent(object()?)),
            "delete" => end(self.heap.delete(&object()?).map(drop)),
            "bulk_add" => {
                let list = args["objs"].as_array().ok_or("bulk_add wants objects")?;
                let objects = list.iter().map(Ranked::read).collect::<Result<_, _>>()?;
                end(self.heap.bulk_add(objects))
            }
            "pop" => self.pop()?,
            "get_by_key" => {
                let object = self.heap.get(&step.args.text("key")?.to_owned());
                json!({ "exists": object.is_some(), "obj": object.map(|object| object.write()) })
            }
            "list_keys" => self.list().into_iter().map(|(key, _)| key).collect(),
            "list" => self.list().into_iter().map(|(key, of)| json!([key, of.version])).collect(),
            "close" => {
                self.heap.close();
                Value::Null
            }
            other => return Err(format!("a heap has no call '{other}'")),
        })
    }

    fn list(&self) -> Vec<(String, Ranked)> {
        let mut listed = self.heap.list();
        listed.sort_by(|one, other| one.0.cmp(&other.0));
        listed
    }

    fn pop(&self) -> Result<Value, String> {
        if self.heap.is_empty() && !self.heap.is_closed() {
            return Err("the call would block, and no recorded call does".to_owned());
        }
        Ok(match self.heap.pop() {
            Ok(object) => json!({ "obj": object.write(), "err": null }),
            Err(error) => json!({ "obj": null, "err": end(Err(error)) }),
        })
    }
}

fn end(result: Result<(), HeapError>) -> Value {
    match result {
        Ok(()) => Value::Null,
        Err(HeapError::Key(_)) => json!("key"),
        Err(other) => json!(other.to_string()),
    }
}
