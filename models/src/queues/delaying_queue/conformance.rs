//! The reference's recorded traces of the delaying queue, replayed.

use std::fmt::Debug;

use seatrial_core::delaying_queue::{AddAfter, Delaying, ShutDown};
use seatrial_core::machine::{Embed, Machine};
use seatrial_core::queue::{Add, DoneKey, Get, Len, Token};
use serde_json::{Value, json};

use crate::conformance::{Conformance, Gives, Replayed, Step, TRACES, Trace, TraceError};
use crate::queues::fixtures::driven::{self, Driven, item, millis};

/// Replays the traces of `delaying_queue`.
pub const fn conformance() -> Conformance {
    Conformance { traces_of: "delaying_queue", carried: TRACES, replay, faithful: None }
}

fn replay(trace: &Trace) -> Result<Replayed, TraceError> {
    let mut queue = Driven::<Delaying<String>>::new(Delaying::<String>::default());
    trace.replay(|step| make_step(&mut queue, step, "a delaying queue").map(Gives::Same))
}

/// Makes a step of a delaying queue, or of a `kind` of queue that has the same calls and more.
pub(in crate::queues) fn make_step<M>(
    queue: &mut Driven<M>,
    step: &Step,
    kind: &str,
) -> Result<Value, String>
where
    M: Machine<Op: Debug, Ret: Debug>,
    Add<String>: Embed<M>,
    AddAfter<String>: Embed<M>,
    Get: Embed<M, Ret = Option<(Token, String)>>,
    DoneKey<String>: Embed<M>,
    Len: Embed<M, Ret = usize>,
    ShutDown<String>: Embed<M>,
{
    match step.op.as_str() {
        "add_after" => {
            let (key, hash) = item(step)?;
            queue.call(AddAfter { key: Some(key), hash, delay: millis(step)?, called: None })?;
        }
        "advance" => queue.advance(millis(step)?),
        "shutdown" => return queue.call(ShutDown::new()).map(|_| Value::Null),
        _ => return driven::make_step(queue, step, kind),
    }
    Ok(json!({ "len": queue.call(Len)? }))
}
