//! The moment when the first list is processed, as other callers see it, and the end of a queue.

use seatrial_core::fifo::Op;
use seatrial_core::machine::Step;

use super::{Led, Stage, empty, head_is_stale, scenario};
use crate::events::fixtures::{Bed, Call, Kind};
use crate::fifo::Fifo;
use crate::trial::{Ledger as _, Scenario, What};

pub(super) fn all() -> Vec<Scenario<Fifo>> {
    let mut all = vec![first_list_deleted(), refused_writes()];
    all.extend(of_more());
    all
}

/// The only object of the first list is deleted before it is popped (`cache:SC-3`, `cache:FF-13`).
fn first_list_deleted() -> Scenario<Fifo> {
    Scenario::new(
        "first_list_deleted",
        "the first list's only object is deleted before its pop; a caller waits for the list",
        |world| {
            let stage = Stage::new(world, &empty());
            stage.list(&[(1, 1)]);
            let waiter = stage.waiter("waiter");
            let consumer = stage.consumer("consumer");
            let observer = stage.observer(2);
            stage.delete((1, 2));
            stage.end([waiter, consumer, observer]);
        },
        // The consumer skips the last place and goes to sleep while a caller waits.
        |history| {
            Led::some(history, |before, event| {
                let sleeps = matches!(
                    event.what,
                    What::Step { op: Call::Queue(Op::Pop(_)), outcome: Step::Wait { .. }, .. }
                );
                sleeps && head_is_stale(before) && before.asleep.count(Bed::Sync) == 1
            })
        },
    )
}

fn of_more() -> Vec<Scenario<Fifo>> {
    vec![
        scenario(
            "first_list_deleted_and_more",
            "the same as first_list_deleted, and another object is added",
            |stage| {
                stage.list(&[(1, 1)]);
                let waiter = stage.waiter("waiter");
                let popper = stage.popper("popper");
                stage.delete((1, 2));
                stage.add((2, 1));
                stage.end([waiter, popper]);
            },
            // One pop skips the last place and hands the other object out while a caller waits
            // (`cache:FF-13`, `cache:QU-20`).
            |before, over| {
                over.takes() && head_is_stale(before) && before.asleep.count(Bed::Sync) == 1
            },
        ),
        scenario(
            "second_list_before_drain",
            "a second, shorter list arrives while the first is popped",
            |stage| {
                stage.list(&[(2, 1), (1, 1)]);
                let consumer = stage.consumer("consumer");
                let observer = stage.observer(3);
                stage.list(&[(1, 2)]);
                stage.end([observer, consumer]);
            },
            // The queue is empty, and places of the first list still count as not processed
            // (`cache:FF-10`, `cache:KD-28`).
            |before, over| {
                let empty = before.plain.queue.is_empty() && before.in_process.is_empty();
                over.is(Kind::HasSynced) && empty && before.plain.populated
            },
        ),
        scenario(
            "deleted_after_close",
            "a delete drains a closed queue; a caller waits for a first list that is never processed",
            |stage| {
                stage.list(&[(1, 1), (2, 1)]);
                stage.list(&[(3, 1)]); // shorter, so it can stay unset
                let waiter = stage.waiter("waiter");
                stage.queue.close();
                stage.delete((3, 1));
                stage.join([waiter]);
            },
            // The waiter is asleep, although it was woken when the queue was closed.
            |before, over| {
                over.is(Kind::Delete) && before.closed && before.asleep.count(Bed::Sync) == 1
            },
        ),
    ]
}

/// An object without a key is refused, and is no write (`cache:QU-19`).
fn refused_writes() -> Scenario<Fifo> {
    Scenario::new(
        "refused_writes",
        "objects without a key are refused before the first list",
        |world| {
            let stage = Stage::new(world, &empty());
            let consumer = stage.consumer("consumer");
            let observer = stage.observer(2);
            assert!(stage.queue.add((0, 1)).is_err(), "key 0 is none");
            assert!(stage.queue.delete((0, 1)).is_err(), "key 0 is none");
            stage.list_in_vain(&[(1, 1)]);
            stage.list(&[(2, 1)]);
            stage.end([consumer, observer]);
        },
        // A caller asks before the list that is accepted, and after it.
        |history| {
            [false, true].into_iter().all(|populated| {
                Led::call(history, |before, over| {
                    over.is(Kind::HasSynced) && before.plain.populated == populated
                })
            })
        },
    )
}
