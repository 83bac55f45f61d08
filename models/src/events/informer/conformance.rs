//! Replays recorded traces of the core of the reference's informer. It has a queue between reflector
//! and store, and ours has none; our queue of such events stands in. The changes of the store, and what
//! handlers are told, are ours.

use std::sync::Arc;

use seatrial_core::informer::{ApplyError, Change, apply, apply_batch};
use seatrial_core::ordered_fifo::{Event, Mode, Options, OrderedFifo};
use seatrial_core::runtime::System;
use seatrial_core::store::indexed::VersionOf;
use seatrial_core::store::{
    Cause, IndexedStore, Intake, KeyHasher, KnownObjects, LastState, LookupFailed,
};
use serde_json::{Value, json};

use crate::conformance::{Conformance, Gives, Replayed, Step, TRACES, Trace, TraceError};
use crate::events::fixtures::traced::{
    Object, common_call, count_transform, key_of, must_not_block, write_event, write_last,
};

/// How the recorded traces of an informer's core are replayed.
#[must_use]
pub fn conformance() -> Conformance {
    Conformance { traces_of: "informer_core", carried: TRACES, replay, faithful: None }
}

fn replay(trace: &Trace) -> Result<Replayed, TraceError> {
    let driven = Driven::new(&trace.config).map_err(TraceError::Unreadable)?;
    trace.replay(|step| driven.step(step).map(Gives::Same))
}

/// An object, and its version as decimal text; the traces have a number.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Versioned {
    object: Object,
    version: String,
}

impl Versioned {
    fn read(value: &Value) -> Result<Self, String> {
        Object::read(value).map(Self::of)
    }

    fn of(object: Object) -> Self {
        let version = object.version.to_string();
        Self { object, version }
    }

    fn read_all(value: &Value) -> Result<Vec<Self>, String> {
        Ok(Object::read_all(value)?.into_iter().map(Self::of).collect())
    }

    fn write(&self) -> Value {
        self.object.write()
    }
}

type Store = IndexedStore<String, Versioned>;

/// The store as the queue sees it; its keys are listed in the order of the traces.
struct Known(Arc<Store>);

impl KnownObjects<String, Versioned> for Known {
    fn keys(&self) -> Vec<String> {
        let mut keys = self.0.list_keys();
        keys.sort();
        keys
    }

    fn get(&self, key: &String) -> Result<Option<Versioned>, LookupFailed> {
        KnownObjects::get(&*self.0, key)
    }
}

/// Queue and store, driven by the steps of a trace.
struct Driven {
    queue: OrderedFifo<String, Versioned, Known>,
    store: Arc<Store>,
}

impl Driven {
    fn new(config: &Value) -> Result<Self, String> {
        let system = System::new();
        let key_of = |of: &Versioned| -> Result<String, Cause> { key_of(&of.object) };
        let intake = || Intake::with_hasher(KeyHasher::fixed(7), key_of);
        let version_of: VersionOf<Versioned> = Arc::new(|of| Some(&of.version));
        let store = Arc::new(IndexedStore::with_intake(&system, intake(), Some(version_of)));
        for object in config.get("known_initial").map_or(Ok(vec![]), Versioned::read_all)? {
            store.add(object).map_err(|error| error.to_string())?;
        }
        let mode = if config["atomic_events"] == true {
            let emit_bookmarks = config["emit_bookmark"] == true;
            Mode::Atomic { unlock_while_processing: true, emit_bookmarks }
        } else {
            Mode::Plain { known: Known(Arc::clone(&store)) }
        };
        let batch_size = config["batch_size"].as_u64().and_then(|size| usize::try_from(size).ok());
        let batch_size = batch_size.and_then(std::num::NonZeroUsize::new);
        let mut options = Options::plain(Known(Arc::clone(&store)));
        options.mode = mode;
        options.batch_size = batch_size.ok_or("a trace has a batch size")?;
        let mut taken = intake();
        if config["transform"] == true {
            let count = |of: Versioned| count_transform(of.object).map(Versioned::of);
            taken = taken.with_transform(count);
        }
        Ok(Self { queue: OrderedFifo::with_options(&system, taken, options), store })
    }

    fn step(&self, step: &Step) -> Result<Value, String> {
        let args = &step.args.0;
        Ok(match step.op.as_str() {
            "pop" => self.pop(args["fail"] == true)?,
            "pop_batch" => self.pop_batch(args["fail"] == true)?,
            "store_list" => self.list(),
            other => {
                let done = common_call(&self.queue, step, Versioned::read, true)?;
                done.ok_or_else(|| format!("an informer's core has no call '{other}'"))?
            }
        })
    }

    fn list(&self) -> Value {
        let mut objects = self.store.list().to_vec();
        objects.sort_by(|one, other| one.object.key.cmp(&other.object.key));
        let objects: Vec<_> = objects.iter().map(|of| of.write()).collect();
        json!({ "objs": objects, "last_rv": self.store.last_resource_version() })
    }

    fn pop(&self, fail: bool) -> Result<Value, String> {
        must_not_block(&self.queue)?;
        let mut told = Vec::new();
        let popped = self.queue.pop(|popped| match fail {
            true => Ok(()),
            false => {
                apply(&popped.event, popped.initial, &self.store, &mut |change| told.push(change))
            }
        });
        let Ok((popped, result)) = popped else {
            return Ok(json!({ "deltas": null, "initial": null, "err": "closed", "events": [] }));
        };
        let events = write_told(std::slice::from_ref(&popped.event), told);
        let deltas = [write(&popped.event)];
        let err = write_failure(fail, result);
        Ok(json!({ "deltas": deltas, "initial": popped.initial, "err": err, "events": events }))
    }

    fn pop_batch(&self, fail: bool) -> Result<Value, String> {
        must_not_block(&self.queue)?;
        let mut told = Vec::new();
        let popped = self.queue.pop_batch(|batch| match fail {
            true => Ok(()),
            false => {
                let tell = &mut |change| told.push(change);
                apply_batch(&batch.events, batch.initial, &self.store, tell)
            }
        });
        let Ok((batch, result)) = popped else {
            return Ok(json!({
                "kind": "", "deltas": null, "initial": null, "err": "closed", "events": []
            }));
        };
        let events = write_told(&batch.events, told);
        let deltas: Vec<_> = batch.events.iter().map(write).collect();
        let kind = if deltas.len() == 1 { "single" } else { "batch" };
        let err = write_failure(fail, result);
        Ok(json!({
            "kind": kind, "deltas": deltas, "initial": batch.initial, "err": err, "events": events
        }))
    }
}

fn write_failure(fail: bool, result: Result<(), ApplyError>) -> Value {
    match result {
        _ if fail => json!("boom"),
        Ok(()) => Value::Null,
        Err(error) => json!(error.to_string()),
    }
}

fn write(event: &Event<String, Versioned>) -> Value {
    write_event(event, Versioned::write)
}

/// Writes the changes that were told. Where their order comes from the store's listing, which is
/// unordered here, they are sorted by key, as in the traces.
fn write_told(
    events: &[Event<String, Versioned>],
    mut told: Vec<Change<String, Versioned>>,
) -> Vec<Value> {
    let listed = match events {
        [Event::SyncAll] => told.len(),
        [Event::ReplacedAll(_)] => {
            told.iter().take_while(|change| matches!(change, Change::Deleted(_))).count()
        }
        _ => 0,
    };
    told[..listed].sort_by_key(|change| match change {
        Change::Added { object, .. } => object.object.key.clone(),
        Change::Updated { new, .. } => new.object.key.clone(),
        Change::Deleted(LastState::Final(of)) => of.object.key.clone(),
        Change::Deleted(LastState::Tombstone(gone)) => gone.key.clone(),
    });
    let write = |change: Change<String, Versioned>| match change {
        Change::Added { object, initial } => {
            json!({ "ev": "add", "obj": object.write(), "initial": initial })
        }
        Change::Updated { old, new } => {
            json!({ "ev": "update", "old": old.write(), "obj": new.write() })
        }
        Change::Deleted(last) => {
            json!({ "ev": "delete", "obj": write_last(&last, Versioned::write) })
        }
    };
    told.into_iter().map(write).collect()
}
