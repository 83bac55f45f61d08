//! The reference's recorded traces of the rate-limiting queue, replayed.

use std::time::Duration;

use seatrial_core::delaying_queue::{AddAfter, ShutDown};
use seatrial_core::limited_queue::{AddRateLimited, Forget, Limited, NumRequeues, Op, Ret};
use seatrial_core::limiter::Limiter;
use seatrial_core::queue::{Add, DoneKey, Fifo, Get, Len};
use serde_json::{Value, json};

use crate::conformance::{Conformance, Gives, Replayed, Step, TRACES, Trace, TraceError};
use crate::limiter::limiter_of;
use crate::single_step::{ByHand, hash};

/// Replays the traces of `rate_limiting_queue`.
pub(super) const fn conformance() -> Conformance {
    Conformance { traces_of: "rate_limiting_queue", carried: TRACES, replay, faithful: None }
}

fn replay(trace: &Trace) -> Result<Replayed, TraceError> {
    let limiter = limiter_of(&trace.config["rate_limiter"]).map_err(TraceError::Unreadable)?;
    let machine: Limited<String, Box<dyn Limiter<String>>> = Limited::new(limiter, Fifo::default());
    let mut queue = Driven(ByHand::new(machine));
    trace.replay(|step| queue.step(step).map(Gives::Same))
}

/// The machine, driven by the steps of a trace.
struct Driven(ByHand<Op<String>, Ret<String>>);

impl Driven {
    fn len(&mut self) -> Result<Value, String> {
        match self.0.call(Op::Len(Len))? {
            Ret::Len(len) => Ok(json!(len)),
            other => Err(format!("len returned {other:?}")),
        }
    }

    fn num_requeues(&mut self, key: String, hash: u64) -> Result<Value, String> {
        match self.0.call(Op::NumRequeues(NumRequeues { key, hash }))? {
            Ret::NumRequeues(count) => Ok(json!(count)),
            other => Err(format!("num_requeues returned {other:?}")),
        }
    }

    fn step(&mut self, step: &Step) -> Result<Value, String> {
        let item = || step.args.text("item").map(|item| (item.to_owned(), hash(&item)));
        let millis = || {
            let millis = step.args.integer("ms")?;
            Ok::<_, String>(Duration::from_millis(u64::try_from(millis).unwrap_or(0)))
        };
        match step.op.as_str() {
            "add" => {
                let (key, hash) = item()?;
                self.0.call(Op::Add(Add { key: Some(key), hash }))?;
            }
            "add_after" => {
                let (key, hash) = item()?;
                let call = AddAfter { key: Some(key), hash, delay: millis()?, called: None };
                self.0.call(Op::AddAfter(call))?;
            }
            "add_rate_limited" => {
                let (key, hash) = item()?;
                let call = AddRateLimited { key: Some(key.clone()), hash, called: None };
                self.0.call(Op::AddRateLimited(call))?;
                let failures = self.num_requeues(key, hash)?;
                return Ok(json!({ "len": self.len()?, "num_requeues": failures }));
            }
            "forget" => {
                let (key, hash) = item()?;
                return self.0.call(Op::Forget(Forget::new(key, hash))).map(|_| Value::Null);
            }
            "num_requeues" => {
                let (key, hash) = item()?;
                return self.num_requeues(key, hash);
            }
            "advance" => self.0.advance(millis()?),
            "get" => {
                return Ok(match self.0.call(Op::Get(Get))? {
                    Ret::Get(Some((_, item))) => json!({ "item": item, "shutdown": false }),
                    _ => json!({ "shutdown": true }),
                });
            }
            "done" => {
                let (key, hash) = item()?;
                self.0.call(Op::DoneKey(DoneKey { key, hash }))?;
            }
            "len" => return self.len(),
            "shutdown" => {
                return self.0.call(Op::ShutDown(ShutDown::new())).map(|_| Value::Null);
            }
            other => return Err(format!("a rate-limiting queue has no call '{other}'")),
        }
        Ok(json!({ "len": self.len()? }))
    }
}
