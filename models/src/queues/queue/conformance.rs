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

fn replay_ours(trace: &Trace) -> Result<Replayed, TraceError> {
    replay_on(Tried::new(Rules::<String>::default()), trace)
}

/// Replays on a machine that answers as the plain queue does. Where that departs from the reference,
/// the reference pushes a waiting item a second time when an item that nobody processes is done.
fn replay_on(mut ours: Tried, trace: &Trace) -> Result<Replayed, TraceError> {
    let [mut plain, mut faithful] = [&[], REFERENCE].map(|it| Tried::new(Plain::with(it)));
    trace.replay(|step| {
        let (gives, right) = (make_step(&mut ours, step)?, make_step(&mut plain, step)?);
        let reference = make_step(&mut faithful, step)?;
        if gives != right {
            return Err(format!("it gives {gives}, and the plain queue gives {right}"));
        }
        Ok(match gives == reference {
            true => Gives::Same(gives),
            false => Gives::Departs { rule: "workqueue:WQ-21", reference },
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

pub(crate) mod tests {
    use super::*;

    fn failures(replay: fn(&Trace) -> Result<Replayed, TraceError>, line: &str) -> usize {
        let tried = Conformance { replay, faithful: None, ..all().remove(0) };
        tried.replay_lines([line.replace('\n', " ").as_str()]).failures.len()
    }

    /// After the first done one item is queued twice. The reference has a set of the items in
    /// processing, so the last done ends both deliveries, and two items wait in the end.
    fn one_done_ends_all_deliveries_of_an_item_that_was_queued_twice() {
        let line = r#"{"id":"1","steps":[
            {"op":"add","args":{"item":"a"},"out":{"len":1}},
            {"op":"done","args":{"item":"a"},"out":{"len":2}},
            {"op":"done","args":{"item":"a"},"out":{"len":3}},
            {"op":"get","out":{"item":"a","shutdown":false}},
            {"op":"get","out":{"item":"a","shutdown":false}},
            {"op":"len","out":1},
            {"op":"done","args":{"item":"a"},"out":{"len":1}},
            {"op":"add","args":{"item":"a"},"out":{"len":2}}]}"#;
        assert_eq!(failures(replay_faithful, line), 0);
    }

    fn a_machine_that_is_as_wrong_as_the_reference_does_not_replay() {
        let line = r#"{"id":"1","steps":[
            {"op":"add","args":{"item":"a"},"out":{"len":1}},
            {"op":"done","args":{"item":"a"},"out":{"len":2}}]}"#;
        let wrong = |trace: &Trace| replay_on(Tried::new(Plain::with(REFERENCE)), trace);
        assert_eq!(failures(replay_ours, line), 0);
        assert_eq!(failures(wrong, line), 1);
    }

    pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
        one_done_ends_all_deliveries_of_an_item_that_was_queued_twice,
        a_machine_that_is_as_wrong_as_the_reference_does_not_replay
    ];
}
