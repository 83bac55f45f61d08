//! The reference's recorded traces of the work queue, replayed.

use seatrial_core::queue::{Drain, DrainUntil, Queue as Rules, ShutDown, ShuttingDown};
use serde_json::{Value, json};

use super::Spec;
use super::reference::{Mistake, ThreeSets};
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

/// Mistakes that the reference makes to this day, and that our queue avoids.
const REFERENCE: &[Mistake] = &[Mistake::OneCondition, Mistake::DrainFlag, Mistake::DoneUnchecked];

/// Replays on the machine that ships, and predicts where the reference departs from WQ-21.
fn replay_ours(trace: &Trace) -> Result<Replayed, TraceError> {
    let mut spec = Spec::new();
    let mut machine = Tried::new(Rules::<String>::default());
    trace.replay(|step| {
        let waits_unprocessed = match step.op.as_str() {
            "done" => {
                let key = step.args.text("item")?.to_owned();
                spec.dirty.contains(&key) && !spec.processing.contains(&key)
            }
            _ => false,
        };
        let gives = make_step(&mut machine, step)?;
        follow(&mut spec, step)?;
        if waits_unprocessed {
            // The reference pushes the waiting item a second time: its storage grows by one.
            let grown = json!({ "len": spec.waiting.len() + 1 });
            return Ok(Gives::Departs { rule: "workqueue:WQ-21", reference: grown });
        }
        Ok(Gives::Same(gives))
    })
}

fn replay_faithful(trace: &Trace) -> Result<Replayed, TraceError> {
    let mut machine = Tried::new(ThreeSets::<String>::with(REFERENCE));
    trace.replay(|step| make_step(&mut machine, step).map(Gives::Same))
}

/// Makes a step on the sequential object.
fn follow(spec: &mut Spec<String>, step: &Step) -> Result<(), String> {
    match step.op.as_str() {
        "add" => drop(spec.add(&step.args.text("item")?.to_owned())),
        "get" => drop(spec.get()),
        "done" => drop(spec.done(&step.args.text("item")?.to_owned())),
        "shutdown" | "shutdown_with_drain" => spec.shutting_down = true,
        _ => {}
    }
    Ok(())
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
    use seatrial::tests;
    use seatrial::tests::Tests;

    use std::collections::{BTreeSet, VecDeque};

    use seatrial_core::queue::{Add, DoneKey, Get, Len};

    use super::*;
    use crate::random::random_bytes;

    /// The behaviour of the reference, misused or not: a list and two sets, without counters.
    #[derive(Default)]
    struct Containers {
        queue: VecDeque<String>,
        dirty: BTreeSet<String>,
        processing: BTreeSet<String>,
    }

    impl Containers {
        fn add(&mut self, key: String) {
            if self.dirty.insert(key.clone()) && !self.processing.contains(&key) {
                self.queue.push_back(key);
            }
        }

        fn get(&mut self) -> Option<String> {
            let key = self.queue.pop_front()?;
            self.processing.insert(key.clone());
            self.dirty.remove(&key);
            Some(key)
        }

        fn done(&mut self, key: String) {
            self.processing.remove(&key);
            if self.dirty.contains(&key) {
                self.queue.push_back(key);
            }
        }
    }

    /// Runs calls, a byte each, on the faithful variant and on the containers. Done names any item:
    /// waiting, in processing twice, or neither.
    fn agree(bytes: &[u8]) {
        let mut ours = Tried::new(ThreeSets::<String>::with(REFERENCE));
        let mut theirs = Containers::default();
        for byte in bytes {
            let key = (byte % 3).to_string();
            match byte / 3 % 3 {
                0 => {
                    ours.call(Add { key: Some(key.clone()), hash: 0 }).unwrap();
                    theirs.add(key);
                }
                1 if !theirs.queue.is_empty() => {
                    let taken = ours.call(Get).expect("it waits");
                    assert_eq!(taken.map(|(_, key)| key), theirs.get());
                }
                1 => {}
                _ => {
                    ours.call(DoneKey { key: key.clone(), hash: 0 }).unwrap();
                    theirs.done(key);
                }
            }
            assert_eq!(ours.call(Len), Ok(theirs.queue.len()), "{bytes:?} at {byte}");
        }
    }

    fn the_faithful_variant_is_misused_as_the_reference_is() {
        (0..2_000).for_each(|seed| agree(&random_bytes(seed, 60)));
    }

    fn one_done_ends_all_deliveries_of_an_item_that_was_queued_twice() {
        const ADD: u8 = 0;
        const GET: u8 = 3;
        const DONE: u8 = 6;
        agree(&[ADD, DONE, DONE, GET, GET, DONE, ADD]); // two items wait, not one
    }

    pub(crate) const TESTS: Tests = tests![
        the_faithful_variant_is_misused_as_the_reference_is,
        one_done_ends_all_deliveries_of_an_item_that_was_queued_twice
    ];
}
