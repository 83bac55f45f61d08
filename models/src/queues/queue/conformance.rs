//! The reference's recorded traces of the work queue, replayed.

use seatrial_core::queue::{Drain, DrainUntil, Queue as Rules, ShutDown, ShuttingDown};
use serde_json::{Value, json};

use super::Plain;
use super::plain::REFERENCE;
use crate::conformance::{Conformance, Gives, Replayed, Step, TRACES, Trace, TraceError};
use crate::queues::fixtures::driven::{self, Driven};

pub(super) fn all() -> Vec<Conformance> {
    vec![Conformance {
        traces_of: "workqueue",
        carried: TRACES,
        replay: replay_ours,
        faithful: Some(replay_faithful),
    }]
}

/// Replays on the machine that ships. Where the plain queue says so, it departs from the reference,
/// which pushes a waiting item a second time when an item that nobody processes is done.
fn replay_ours(trace: &Trace) -> Result<Replayed, TraceError> {
    let mut ours = Tried::new(Rules::<String>::default());
    let [mut plain, mut faithful] = [&[], REFERENCE].map(|it| Tried::new(Plain::with(it)));
    trace.replay(|step| {
        let (gives, right) = (make_step(&mut ours, step)?, make_step(&mut plain, step)?);
        let reference = make_step(&mut faithful, step)?;
        Ok(match gives == right && gives != reference {
            true => Gives::Departs { rule: "workqueue:WQ-21", reference },
            false => Gives::Same(gives),
        })
    })
}

fn replay_faithful(trace: &Trace) -> Result<Replayed, TraceError> {
    let mut machine = Tried::new(Plain::with(REFERENCE));
    trace.replay(|step| make_step(&mut machine, step).map(Gives::Same))
}

type Tried = Driven<Rules<String>>;

fn make_step(queue: &mut Tried, step: &Step) -> Result<Value, String> {
    match step.op.as_str() {
        "shutting_down" => queue.call(ShuttingDown).map(|says| json!(says)),
        "shutdown" => queue.call(ShutDown).map(|()| Value::Null),
        "shutdown_with_drain" => {
            let until = DrainUntil::NothingInFlight;
            queue.call(Drain { until, began: None }).map(|()| Value::Null)
        }
        _ => driven::make_step(queue, step, "a work queue"),
    }
}
