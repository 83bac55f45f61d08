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
        let mut ours = Tried::new(Plain::with(REFERENCE));
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
