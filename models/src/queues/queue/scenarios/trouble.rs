//! Callers that make mistakes.

use std::panic::{AssertUnwindSafe, catch_unwind};

use seatrial_core::queue::{Finished, Op, Ret};

use super::{caller, drain_waits, end, worker};
use crate::queue::Queue;
use crate::queues::fixtures::keyed::Page as _;
use crate::trial::Scenario;

/// Callers that make mistakes.
pub(super) fn all() -> Vec<Scenario<Queue>> {
    vec![
        // workqueue:WQ-22
        Queue::program(
            "stale_token",
            "an old token is used again while another consumer processes its item",
            |world, queue| {
                queue.add(1);
                let (token, _) = queue.take().expect("one item waits");
                queue.done(token);
                queue.add(1);
                let other = worker(world, "other", &queue);
                let again = caller(world, "again", &queue, move |queue| {
                    queue.done(token);
                    queue.add(1);
                });
                world.join(again);
                end(world, &queue, [other]);
            },
            |before, event| {
                let misses =
                    matches!(event.returned(), Some((_, Ret::Done(Finished::NotInProcessing))));
                misses && before.in_processing(1)
            },
        ),
        // workqueue:WQ-21
        Queue::program(
            "misuse",
            "done is called for an item that still waits, beside two consumers",
            |world, queue| {
                queue.add(1);
                let misuser = caller(world, "misuser", &queue, |queue| {
                    queue.done_key(&1);
                });
                let first = worker(world, "first", &queue);
                let second = worker(world, "second", &queue);
                world.join(misuser);
                end(world, &queue, [first, second]);
            },
            |before, event| {
                let done = matches!(event.call(), Some(Op::DoneKey(_)));
                done && before.spec.waiting.contains(&1)
            },
        ),
    ]
}

/// A consumer that panics.
pub(super) fn panics() -> Vec<Scenario<Queue>> {
    vec![
        // workqueue:CL-2, LIV-13
        Scenario::new(
            "panicking_worker",
            "a consumer panics while it processes an item and a drain waits",
            |world| {
                let queue = Queue::tried(world);
                queue.add(1);
                let note = world.clone();
                let consumer = caller(world, "consumer", &queue, move |queue| {
                    let process = |_: &u8| -> () {
                        note.note("panics", 1);
                        panic!("the reconcile function fails");
                    };
                    let worked = catch_unwind(AssertUnwindSafe(|| queue.work(process)));
                    let _the_queue_may_be_shut_down_first = worked;
                });
                queue.add(1);
                queue.shut_down_with_drain();
                world.join(consumer);
                queue.shut_down();
            },
            |history| {
                history.notes("panics").next().is_some() && history.events.iter().any(drain_waits)
            },
        ),
    ]
}
