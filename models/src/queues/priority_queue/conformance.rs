//! The recorded traces of the reference's priority queue, replayed.

use std::time::Duration;

use seatrial_core::limited_queue::{Forget, NumRequeues};
use seatrial_core::limiter::Limiter;
use seatrial_core::priority_queue::{AddBatch, AddOptions, Get, Prioritized};
use seatrial_core::queue::{DoneKey, Len, ShutDown};
use serde_json::{Value, json};

use crate::conformance::{Conformance, Gives, Replayed, Step, TRACES, Trace, TraceError};
use crate::limiter::limiter_of;
use crate::queues::fixtures::driven::{Driven, item, millis};
use crate::single_step::hash;

/// Replays the traces of `priority_queue`.
pub const fn conformance() -> Conformance {
    Conformance { traces_of: "priority_queue", carried: TRACES, replay, faithful: None }
}

fn replay(trace: &Trace) -> Result<Replayed, TraceError> {
    let limiter = limiter_of(&trace.config["rate_limiter"]).map_err(TraceError::Unreadable)?;
    let mut queue = Driven::new(Prioritized::new(limiter, ()));
    trace.replay(|step| make_step(&mut queue, step).map(Gives::Same))
}

type Ours = Prioritized<String, Box<dyn Limiter<String>>>;

fn add(queue: &mut Driven<Ours>, keys: &[&str], options: AddOptions) -> Result<(), String> {
    let items = keys.iter().map(|key| (Some((*key).to_owned()), hash(key))).collect();
    queue.call(AddBatch { items, options, called: None })
}

fn make_step(queue: &mut Driven<Ours>, step: &Step) -> Result<Value, String> {
    match step.op.as_str() {
        "add" => add(queue, &[step.args.text("item")?], AddOptions::default())?,
        "add_after" => {
            let after = delay(step.args.integer("ms")?);
            add(queue, &[step.args.text("item")?], AddOptions { after, ..Default::default() })?;
        }
        "add_rate_limited" => {
            let options = AddOptions { rate_limited: true, ..Default::default() };
            let (key, hash) = item(step)?;
            add(queue, &[&key], options)?;
            let failures = queue.call(NumRequeues { key, hash })?;
            return Ok(json!({ "len": queue.call(Len)?, "num_requeues": failures }));
        }
        "add_with_opts" => {
            let items = step.args.0["items"].as_array().ok_or("'items' is no list")?;
            let items: Option<Vec<_>> = items.iter().map(Value::as_str).collect();
            add(queue, &items.ok_or("'items' is no list of texts")?, options(step)?)?;
        }
        "forget" => {
            let (key, hash) = item(step)?;
            return queue.call(Forget::new(key, hash)).map(|()| Value::Null);
        }
        "num_requeues" => {
            let (key, hash) = item(step)?;
            return Ok(json!(queue.call(NumRequeues { key, hash })?));
        }
        "advance" => queue.advance(millis(step)?),
        "get" => {
            return Ok(match queue.call(Get)? {
                Some((_, item, priority)) => {
                    json!({ "item": item, "priority": priority, "shutdown": false })
                }
                None => json!({ "shutdown": true }),
            });
        }
        "done" => {
            let (key, hash) = item(step)?;
            queue.call(DoneKey { key, hash })?;
        }
        "len" => return Ok(json!(queue.call(Len)?)),
        "shutdown" => return queue.call(ShutDown).map(|()| Value::Null),
        other => return Err(format!("a priority queue has no call '{other}'")),
    }
    Ok(json!({ "len": queue.call(Len)? }))
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
