//! The recorded traces of the reference's priority queue, replayed.

use std::time::Duration;

use seatrial_core::limited_queue::{Forget, NumRequeues};
use seatrial_core::limiter::Limiter;
use seatrial_core::priority_queue::{AddBatch, AddOptions, Get, Op, Prioritized, Ret};
use seatrial_core::queue::{DoneKey, Len, ShutDown};
use serde_json::{Value, json};

use crate::conformance::{Conformance, Gives, Replayed, Step, TRACES, Trace, TraceError};
use crate::limiter::limiter_of;
use crate::single_step::{ByHand, hash};

/// Replays the traces of `priority_queue`.
pub const fn conformance() -> Conformance {
    Conformance { traces_of: "priority_queue", carried: TRACES, replay, faithful: None }
}

fn replay(trace: &Trace) -> Result<Replayed, TraceError> {
    let limiter = limiter_of(&trace.config["rate_limiter"]).map_err(TraceError::Unreadable)?;
    let machine: Prioritized<String, Box<dyn Limiter<String>>> = Prioritized::new(limiter, ());
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

    fn add(&mut self, keys: &[&str], options: AddOptions) -> Result<(), String> {
        let items = keys.iter().map(|key| (Some((*key).to_owned()), hash(key))).collect();
        self.0.call(Op::AddBatch(AddBatch { items, options, called: None })).map(drop)
    }

    fn step(&mut self, step: &Step) -> Result<Value, String> {
        let item = || step.args.text("item").map(|item| (item.to_owned(), hash(&item)));
        match step.op.as_str() {
            "add" => self.add(&[step.args.text("item")?], AddOptions::default())?,
            "add_after" => {
                let after = delay(step.args.integer("ms")?);
                self.add(&[step.args.text("item")?], AddOptions { after, ..Default::default() })?;
            }
            "add_rate_limited" => {
                let options = AddOptions { rate_limited: true, ..Default::default() };
                let (key, hash) = item()?;
                self.add(&[&key], options)?;
                let failures = self.num_requeues(key, hash)?;
                return Ok(json!({ "len": self.len()?, "num_requeues": failures }));
            }
            "add_with_opts" => {
                let items = step.args.0["items"].as_array().ok_or("'items' is no list")?;
                let items: Option<Vec<_>> = items.iter().map(Value::as_str).collect();
                self.add(&items.ok_or("'items' is no list of texts")?, options(step)?)?;
            }
            "forget" => {
                let (key, hash) = item()?;
                return self.0.call(Op::Forget(Forget::new(key, hash))).map(|_| Value::Null);
            }
            "num_requeues" => {
                let (key, hash) = item()?;
                return self.num_requeues(key, hash);
            }
            "advance" => {
                let by = delay(step.args.integer("ms")?).unwrap_or_default();
                self.0.advance(by);
            }
            "get" => {
                return Ok(match self.0.call(Op::Get(Get))? {
                    Ret::Get(Some((_, item, priority))) => {
                        json!({ "item": item, "priority": priority, "shutdown": false })
                    }
                    _ => json!({ "shutdown": true }),
                });
            }
            "done" => {
                let (key, hash) = item()?;
                self.0.call(Op::DoneKey(DoneKey { key, hash }))?;
            }
            "len" => return self.len(),
            "shutdown" => return self.0.call(Op::ShutDown(ShutDown)).map(|_| Value::Null),
            other => return Err(format!("a priority queue has no call '{other}'")),
        }
        Ok(json!({ "len": self.len()? }))
    }
}

/// Reads a delay. Zero means no delay. A negative delay ends at once, because our delays have no
/// sign (`workqueue:CV-3`).
fn delay(millis: i64) -> Option<Duration> {
    (millis != 0).then(|| Duration::from_millis(u64::try_from(millis).unwrap_or(0)))
}

fn options(step: &Step) -> Result<AddOptions, String> {
    let given = |name: &str| step.args.0.get(name).is_some();
    let mut options = AddOptions::default();
    if given("after_ms") {
        options.after = delay(step.args.integer("after_ms")?);
    }
    if given("priority") {
        let priority = i32::try_from(step.args.integer("priority")?);
        options.priority = priority.map_err(|error| format!("'priority': {error}"))?;
    }
    if given("rate_limited") {
        let says = step.args.0["rate_limited"].as_bool();
        options.rate_limited = says.ok_or("'rate_limited' is neither true nor false")?;
    }
    Ok(options)
}
