//! The reference's recorded traces of the FIFO, replayed.

use seatrial_core::fifo::{Fifo, FifoQueue};
use seatrial_core::machine::Boxed;
use seatrial_core::runtime::System;
use seatrial_core::store::{EnqueueError, Intake, KeyError, KeyHasher};
use serde_json::{Value, json};

use super::{MapAndList, REFERENCE, Spec};
use crate::conformance::{Conformance, Gives, Replayed, Step, TRACES, Trace, TraceError};
use crate::events::fixtures::Checked;
use crate::events::fixtures::traced::{Object, key_of, must_not_block, write_end};

type Machine = FifoQueue<String, Object>;

/// How the recorded traces of the FIFO are replayed.
pub(super) fn conformance() -> Conformance {
    Conformance {
        traces_of: "fifo",
        carried: TRACES,
        replay: replay_ours,
        faithful: Some(replay_faithful),
    }
}

/// Replays on the machine that ships. It departs from the reference in one case (FF-13): the
/// reference looks at the latch when `pop` returns, so an object behind a stale last place of the
/// first list still counts as initial. In all other steps, and afterwards, the two agree.
fn replay_ours(trace: &Trace) -> Result<Replayed, TraceError> {
    let ours = Driven::new(|machine| Boxed(Box::new(Checked(machine))));
    let mut spec = Spec::new();
    let mut step = |step: &Step| {
        let gives = ours.step(step)?;
        let skipped_last = follow(&mut spec, step)?;
        if !skipped_last {
            return Ok(Gives::Same(gives));
        }
        let mut reference = gives;
        reference["initial"] = json!(true);
        Ok(Gives::Departs { rule: "cache:FF-13", reference })
    };
    let replayed = trace.replay(&mut step)?;
    if replayed.departure.is_some() {
        let behind = trace.steps.get(replayed.steps + 1..).unwrap_or_default().to_vec();
        Trace { steps: behind, ..trace.clone() }.replay(&mut step)?;
    }
    Ok(replayed)
}

fn replay_faithful(trace: &Trace) -> Result<Replayed, TraceError> {
    let faithful = Driven::new(|_| Boxed(Box::new(MapAndList::with(REFERENCE))));
    trace.replay(|step| faithful.step(step).map(Gives::Same))
}

/// Makes a step on the sequential object; tells whether a `pop` skipped the last place of the first
/// list and went on to hand out an object.
fn follow(spec: &mut Spec<String, Object>, step: &Step) -> Result<bool, String> {
    let object = || Object::read(&step.args.0["obj"]);
    match step.op.as_str() {
        "add" | "update" => {
            let object = object()?;
            if !object.key.is_empty() {
                spec.put(object.key.clone(), object);
            }
        }
        "delete" => {
            let key = object()?.key;
            if !key.is_empty() {
                spec.delete(&key);
            }
        }
        "replace" => {
            let list = Object::read_all(&step.args.0["objs"])?;
            spec.replace(list.into_iter().map(|object| (object.key.clone(), object)));
        }
        "pop" => {
            if let Some(taken) = spec.pop() {
                spec.processed();
                return Ok(taken.skipped_last);
            }
        }
        _ => {}
    }
    Ok(false)
}

/// A machine driven by the steps of a trace.
struct Driven {
    queue: Fifo<String, Object, System, Boxed<Machine>>,
}

impl Driven {
    fn new(host: impl FnOnce(Machine) -> Boxed<Machine>) -> Self {
        let hasher = KeyHasher::fixed(7);
        let host = host(FifoQueue::new(hasher.clone()));
        let intake = Intake::with_hasher(hasher, key_of);
        Self { queue: Fifo::with_host(&System::new(), intake, None, host) }
    }

    fn step(&self, step: &Step) -> Result<Value, String> {
        let args = &step.args.0;
        let object = || Object::read(&args["obj"]);
        let end = |done: Result<(), KeyError>| write_end(done.map_err(EnqueueError::Key));
        Ok(match step.op.as_str() {
            "add" => end(self.queue.add(object()?)),
            "update" => end(self.queue.update(object()?)),
            "delete" => end(self.queue.delete(object()?)),
            "replace" => end(self.queue.replace(Object::read_all(&args["objs"])?)),
            "resync" => {
                self.queue.resync();
                Value::Null
            }
            "pop" => self.pop(args["fail"] == true)?,
            "get_by_key" => {
                let object = self.queue.get(&step.args.text("key")?.to_owned());
                json!({ "exists": object.is_some(), "obj": object.map(|object| object.write()) })
            }
            "list_keys" => {
                let mut keys: Vec<_> = self.queue.list().into_iter().map(|(key, _)| key).collect();
                keys.sort();
                json!(keys)
            }
            "has_synced" => json!(self.queue.has_synced()),
            "close" => {
                self.queue.close();
                Value::Null
            }
            other => return Err(format!("a FIFO has no call '{other}'")),
        })
    }

    fn pop(&self, fail: bool) -> Result<Value, String> {
        must_not_block(&self.queue)?;
        Ok(match self.queue.pop(|_| ()) {
            Err(_) => json!({ "obj": null, "initial": null, "err": "closed" }),
            Ok((popped, ())) => {
                let error = fail.then_some("boom");
                json!({ "obj": popped.object.write(), "initial": popped.initial, "err": error })
            }
        })
    }
}
