//! The reference's recorded traces of the delaying queue, replayed.

use std::time::Duration;

use seatrial_core::delaying_queue::{AddAfter, Delaying, Op, Ret, ShutDown};
use seatrial_core::queue::{Add, DoneKey, Get, Len};
use serde_json::{Value, json};

use crate::conformance::{Conformance, Gives, Replayed, Step, TRACES, Trace, TraceError};
use crate::single_step::{ByHand, hash};

/// Replays the traces of `delaying_queue`.
pub const fn conformance() -> Conformance {
    Conformance { traces_of: "delaying_queue", carried: TRACES, replay, faithful: None }
}

fn replay(trace: &Trace) -> Result<Replayed, TraceError> {
    let mut queue = Driven(ByHand::new(Delaying::<String>::default()));
    trace.replay(|step| queue.step(step).map(Gives::Same))
}

/// The machine, driven by the steps of a trace.
struct Driven(ByHand<Op<String>, Ret<String>>);

impl Driven {
    fn len(&mut self) -> Result<Value, String> {
        match self.0.call(Op::Len(Len))? {
            Ret::Len(len) => Ok(json!({ "len": len })),
            other => Err(format!("len returned {other:?}")),
        }
    }

    fn step(&mut self, step: &Step) -> Result<Value, String> {
        let item = || step.args.text("item").map(|item| (item.to_owned(), hash(&item)));
        match step.op.as_str() {
            "add" => {
                let (key, hash) = item()?;
                self.0.call(Op::Add(Add { key: Some(key), hash }))?;
                self.len()
            }
            "add_after" => {
                let (key, hash) = item()?;
                let delay = millis(step)?;
                let call = AddAfter { key: Some(key), hash, delay, called: None };
                self.0.call(Op::AddAfter(call))?;
                self.len()
            }
            "advance" => {
                self.0.advance(millis(step)?);
                self.len()
            }
            "get" => match self.0.call(Op::Get(Get))? {
                Ret::Get(Some((_, item))) => Ok(json!({ "item": item, "shutdown": false })),
                _ => Ok(json!({ "shutdown": true })),
            },
            "done" => {
                let (key, hash) = item()?;
                self.0.call(Op::DoneKey(DoneKey { key, hash }))?;
                self.len()
            }
            "len" => self.len().map(|len| len["len"].clone()),
            "shutdown" => self.0.call(Op::ShutDown(ShutDown::new())).map(|_| Value::Null),
            other => Err(format!("a delaying queue has no call '{other}'")),
        }
    }
}

/// Reads a delay; a negative one counts as zero, because our delays have no sign
/// (`workqueue:CV-3`).
fn millis(step: &Step) -> Result<Duration, String> {
    let millis = step.args.integer("ms")?;
    Ok(Duration::from_millis(u64::try_from(millis).unwrap_or(0)))
}
