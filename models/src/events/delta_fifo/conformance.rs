//! The reference's recorded traces of the DeltaFIFO, replayed.

use seatrial_core::delta_fifo::{Delta, DeltaFifo, DeltaQueue};
use seatrial_core::machine::Boxed;
use seatrial_core::runtime::System;
use seatrial_core::store::KeyHasher;
use serde_json::{Value, json};

use super::{MapAndKeys, REFERENCE};
use crate::conformance::{Conformance, Gives, Replayed, Step, TRACES, Trace, TraceError};
use crate::events::fixtures::Checked;
use crate::events::fixtures::traced::{
    Object, Store, common_call, must_not_block, read_intake, read_store, write_delta,
};

type Machine = DeltaQueue<String, Object, Store>;

/// How the recorded traces of the DeltaFIFO are replayed.
pub(super) fn conformance() -> Conformance {
    Conformance {
        traces_of: "delta_fifo",
        carried: TRACES,
        replay: replay_ours,
        faithful: Some(replay_faithful),
    }
}

fn replay_ours(trace: &Trace) -> Result<Replayed, TraceError> {
    replay(trace, |known, emit_replaced| {
        let machine = DeltaQueue::new(KeyHasher::fixed(7), known, emit_replaced);
        Boxed(Box::new(Checked(machine)))
    })
}

fn replay_faithful(trace: &Trace) -> Result<Replayed, TraceError> {
    replay(trace, |known, emit_replaced| {
        Boxed(Box::new(MapAndKeys::with(REFERENCE, known, emit_replaced)))
    })
}

/// No rule departs from the reference for a single caller (`cache` section 30).
fn replay(
    trace: &Trace,
    make: impl FnOnce(Option<Store>, bool) -> Boxed<Machine>,
) -> Result<Replayed, TraceError> {
    let driven = Driven::new(&trace.config, make).map_err(TraceError::Unreadable)?;
    trace.replay(|step| driven.step(step).map(Gives::Same))
}

struct Driven {
    queue: DeltaFifo<String, Object, Store, System>,
    store: Store,
}

impl Driven {
    fn new(
        config: &Value,
        make: impl FnOnce(Option<Store>, bool) -> Boxed<Machine>,
    ) -> Result<Self, String> {
        let known = config["known_objects"] == true;
        let store = read_store(config.get("known_initial"))?;
        let intake = read_intake(config);
        let emit_replaced = config["emit_delta_type_replaced"] == true;
        let host = make(known.then(|| store.clone()), emit_replaced);
        Ok(Self { queue: DeltaFifo::with_host(&System::new(), intake, None, host), store })
    }

    fn step(&self, step: &Step) -> Result<Value, String> {
        let args = &step.args.0;
        Ok(match step.op.as_str() {
            "pop" => self.pop(args["fail"] == true)?,
            "get_by_key" => {
                let deltas = self.queue.get(&step.args.text("key")?.to_owned());
                let written: Vec<_> = deltas.iter().flat_map(|d| d.iter()).map(write).collect();
                json!({ "deltas": written, "exists": deltas.is_some() })
            }
            "queue_keys" => self.queue.list().into_iter().map(|(key, _)| key).collect(),
            "known_keys" => self.store.objects().keys().cloned().collect(),
            other => {
                let done = common_call(&self.queue, step, Object::read, false)?;
                done.ok_or_else(|| format!("a DeltaFIFO has no call '{other}'"))?
            }
        })
    }

    fn pop(&self, fail: bool) -> Result<Value, String> {
        must_not_block(&self.queue)?;
        let popped = self.queue.pop(|popped| {
            if !fail {
                self.store.apply(&popped.key, &popped.deltas);
            }
        });
        Ok(match popped {
            Err(_) => json!({ "deltas": null, "initial": null, "err": "closed" }),
            Ok((popped, ())) => {
                let deltas: Vec<_> = popped.deltas.iter().map(write).collect();
                let error = fail.then_some("boom");
                json!({ "deltas": deltas, "initial": popped.initial, "err": error })
            }
        })
    }
}

fn write(delta: &Delta<String, Object>) -> Value {
    write_delta(delta, Object::write)
}
