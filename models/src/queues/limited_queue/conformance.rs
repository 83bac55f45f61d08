//! The reference's recorded traces of the rate-limiting queue, replayed.

use seatrial_core::limited_queue::{AddRateLimited, Forget, Limited, NumRequeues};
use seatrial_core::limiter::Limiter;
use seatrial_core::queue::{Fifo, Len};
use serde_json::{Value, json};

use crate::conformance::{Conformance, Gives, Replayed, Step, TRACES, Trace, TraceError};
use crate::delaying_queue;
use crate::limiter::limiter_of;
use crate::queues::fixtures::driven::{Driven, item};

/// Replays the traces of `rate_limiting_queue`.
pub(super) const fn conformance() -> Conformance {
    Conformance { traces_of: "rate_limiting_queue", carried: TRACES, replay, faithful: None }
}

fn replay(trace: &Trace) -> Result<Replayed, TraceError> {
    let limiter = limiter_of(&trace.config["rate_limiter"]).map_err(TraceError::Unreadable)?;
    let mut queue = Driven::new(Limited::new(limiter, Fifo::default()));
    trace.replay(|step| make_step(&mut queue, step).map(Gives::Same))
}

type Ours = Limited<String, Box<dyn Limiter<String>>>;

fn make_step(queue: &mut Driven<Ours>, step: &Step) -> Result<Value, String> {
    match step.op.as_str() {
        "add_rate_limited" => {
            let (key, hash) = item(step)?;
            queue.call(AddRateLimited { key: Some(key.clone()), hash, called: None })?;
            let failures = queue.call(NumRequeues { key, hash })?;
            Ok(json!({ "len": queue.call(Len)?, "num_requeues": failures }))
        }
        "forget" => {
            let (key, hash) = item(step)?;
            queue.call(Forget::new(key, hash)).map(|()| Value::Null)
        }
        "num_requeues" => {
            let (key, hash) = item(step)?;
            Ok(json!(queue.call(NumRequeues { key, hash })?))
        }
        _ => delaying_queue::make_step(queue, step, "a rate-limiting queue"),
    }
}
