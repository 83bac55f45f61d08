//! The reference's recorded traces of the ordered FIFO, replayed.

use seatrial_core::machine::Boxed;
use seatrial_core::ordered_fifo::{Batch, Event, Mode, OrderedFifo, OrderedQueue};
use seatrial_core::runtime::System;
use serde_json::{Value, json};

use crate::conformance::{Conformance, Gives, Replayed, Step, TRACES, Trace, TraceError};
use crate::events::fixtures::Checked;
use crate::events::fixtures::traced::{
    Object, Store, common_call, key_of_delta, must_not_block, read_intake, read_store, write_event,
};

type Happened = Event<String, Object>;

/// How the recorded traces of the ordered FIFO are replayed.
pub(super) fn conformance() -> Conformance {
    Conformance { traces_of: "real_fifo", carried: TRACES, replay, faithful: None }
}

fn replay(trace: &Trace) -> Result<Replayed, TraceError> {
    let driven = Driven::new(&trace.config).map_err(TraceError::Unreadable)?;
    trace.replay(|step| driven.step(step).map(Gives::Same))
}

/// A machine driven by the steps of a trace.
struct Driven {
    queue: OrderedFifo<String, Object, Store, System>,
    store: Store,
}

impl Driven {
    fn new(config: &Value) -> Result<Self, String> {
        let store = read_store(config.get("known_initial"))?;
        let intake = read_intake(config);
        let atomic = config["atomic_events"] == true;
        let emit_bookmarks = config["emit_bookmark"] == true;
        let mode = if atomic {
            Mode::Atomic { unlock_while_processing: true, emit_bookmarks }
        } else {
            Mode::Plain { known: store.clone() }
        };
        let batch_size = config["batch_size"].as_u64().ok_or("a trace has a batch size")?;
        let batch_size = usize::try_from(batch_size).map_err(|error| error.to_string())?;
        let machine = Checked(OrderedQueue::new(intake.clone(), mode, batch_size));
        let host = Boxed(Box::new(machine) as _);
        let queue = OrderedFifo::with_host(&System::new(), intake, atomic, None, host);
        Ok(Self { queue, store })
    }

    fn step(&self, step: &Step) -> Result<Value, String> {
        let args = &step.args.0;
        Ok(match step.op.as_str() {
            "pop" => self.pop(args["fail"] == true)?,
            "pop_batch" => self.pop_batch(args["fail"] == true)?,
            "known_keys" => self.store.objects().keys().cloned().collect(),
            other => {
                let done = common_call(&self.queue, step, Object::read, true)?;
                done.ok_or_else(|| format!("an ordered FIFO has no call '{other}'"))?
            }
        })
    }

    fn pop(&self, fail: bool) -> Result<Value, String> {
        must_not_block(&self.queue)?;
        let popped = self.queue.pop(|popped| {
            if !fail {
                self.apply(&popped.event);
            }
        });
        let Ok((popped, ())) = popped else {
            return Ok(json!({ "deltas": null, "initial": null, "err": "closed" }));
        };
        let (deltas, error) = ([write(&popped.event)], fail.then_some("boom"));
        Ok(json!({ "deltas": deltas, "initial": popped.initial, "err": error }))
    }

    fn pop_batch(&self, fail: bool) -> Result<Value, String> {
        must_not_block(&self.queue)?;
        let batch = self.queue.pop_batch(|batch: &Batch<_, _>| {
            if !fail {
                batch.events.iter().for_each(|event| self.apply(event));
            }
        });
        let Ok((batch, ())) = batch else {
            return Ok(json!({ "kind": "", "deltas": null, "initial": null, "err": "closed" }));
        };
        let deltas: Vec<_> = batch.events.iter().map(write).collect();
        let kind = if deltas.len() == 1 { "single" } else { "batch" };
        let error = fail.then_some("boom");
        Ok(json!({ "kind": kind, "deltas": deltas, "initial": batch.initial, "err": error }))
    }

    /// Applies an event as the consumer of a trace does.
    fn apply(&self, event: &Happened) {
        match event {
            Event::Delta(delta) => {
                if let Some(key) = key_of_delta(delta) {
                    self.store.apply(&key, [delta]);
                }
            }
            Event::ReplacedAll(list) => {
                let objects = list.objects.iter().cloned();
                *self.store.objects() =
                    objects.map(|object| (object.key.clone(), object)).collect();
            }
            Event::SyncAll | Event::Bookmark(_) => {}
        }
    }
}

fn write(event: &Happened) -> Value {
    write_event(event, Object::write)
}
