//! The moment when the first list is processed, as other callers see it.

use seatrial_core::fifo::Op;
use seatrial_core::machine::Step;

use super::{Stage, head_is_stale, some, steps};
use crate::events::fixtures::Bed;
use crate::fifo::Fifo;
use crate::fifo::ledger::popped;
use crate::queues::fixtures::waits;
use crate::trial::{Scenario, What};

pub(super) fn all() -> Vec<Scenario<Fifo>> {
    vec![
        first_list_awaited(),
        first_list_deleted(),
        first_list_deleted_and_more(),
        list_with_duplicates(),
        second_list_before_drain(),
        write_before_first_list(),
        synced_at_once(),
        refused_writes(),
    ]
}

/// A caller waits for the first list and then reads the store (`cache:SC-9`).
fn first_list_awaited() -> Scenario<Fifo> {
    Scenario::new(
        "first_list_awaited",
        "two callers wait for the first list and read the consumer's store",
        |world| Stage::new(world).first_list_awaited(&[(2, 1), (1, 1)]),
        // Both wait when the last place of the list is taken.
        |history| {
            some(history, |before, event| {
                let last = popped(event).is_some() && before.spec.initial_left == 1;
                last && before.asleep.count(Bed::Sync) == 2
            })
        },
    )
}

/// The only object of the first list is deleted before it is popped (`cache:SC-3`, `cache:FF-13`).
fn first_list_deleted() -> Scenario<Fifo> {
    Scenario::new(
        "first_list_deleted",
        "the first list's only object is deleted before its pop; a caller waits for the list",
        |world| {
            let stage = Stage::new(world);
            stage.list(&[(1, 1)]);
            let waiter = stage.waiter("waiter");
            let consumer = stage.consumer("consumer");
            let observer = stage.observer(2);
            stage.delete((1, 2));
            stage.end([waiter, consumer, observer]);
        },
        // The consumer skips the last place and goes to sleep while a caller waits.
        |history| {
            some(history, |before, event| {
                let sleeps = matches!(
                    event.what,
                    What::Step { op: Op::Pop(_), outcome: Step::Wait { .. }, .. }
                );
                sleeps && head_is_stale(before) && before.asleep.count(Bed::Sync) == 1
            })
        },
    )
}

/// As [`first_list_deleted`], with an object behind it (`cache:FF-13`, `cache:QU-20`).
fn first_list_deleted_and_more() -> Scenario<Fifo> {
    Scenario::new(
        "first_list_deleted_and_more",
        "the same as first_list_deleted, and another object is added",
        |world| {
            let stage = Stage::new(world);
            stage.list(&[(1, 1)]);
            let waiter = stage.waiter("waiter");
            let popper = stage.popper("popper");
            stage.delete((1, 2));
            stage.add((2, 1));
            stage.end([waiter, popper]);
        },
        // One pop skips the last place and hands the other object out while a caller waits.
        |history| {
            some(history, |before, event| {
                popped(event).is_some()
                    && head_is_stale(before)
                    && before.asleep.count(Bed::Sync) == 1
            })
        },
    )
}

/// A list names an object twice.
fn list_with_duplicates() -> Scenario<Fifo> {
    Scenario::new(
        "list_with_duplicates",
        "the first list names an object twice; a caller waits for it, and asks again at the end",
        |world| Stage::new(world).list_with_duplicates(),
        |history| {
            some(history, |before, event| {
                popped(event).is_some() && before.asleep.count(Bed::Sync) == 1
            })
        },
    )
}

/// A second, shorter list comes before the first is processed (`cache:FF-10`, `cache:KD-28`).
fn second_list_before_drain() -> Scenario<Fifo> {
    Scenario::new(
        "second_list_before_drain",
        "a second, shorter list arrives while the first is popped",
        |world| {
            let stage = Stage::new(world);
            stage.list(&[(2, 1), (1, 1)]);
            let consumer = stage.consumer("consumer");
            let observer = stage.observer(3);
            stage.list(&[(1, 2)]);
            stage.end([observer, consumer]);
        },
        // The queue is empty, and places of the first list still count as not processed.
        |history| {
            some(history, |before, event| {
                let empty = before.spec.queue.is_empty() && before.in_process.is_empty();
                steps(event, |op| matches!(op, Op::HasSynced(_))) && empty && before.spec.populated
            })
        },
    )
}

/// A write comes before the first list, or not (`cache:QU-15`).
fn write_before_first_list() -> Scenario<Fifo> {
    Scenario::new(
        "write_before_first_list",
        "an object is added before or after the first list",
        |world| Stage::new(world).write_before_first_list(&[(2, 1), (1, 2)]),
        // The queue counts as synced at once, with the list still waiting.
        |history| {
            some(history, |before, event| {
                let at_once = before.spec.has_synced() && before.spec.items.len() == 2;
                steps(event, |op| matches!(op, Op::HasSynced(_))) && at_once
            })
        },
    )
}

/// An object without a key is refused, and is no write (`cache:QU-19`).
fn refused_writes() -> Scenario<Fifo> {
    Scenario::new(
        "refused_writes",
        "objects without a key are refused before the first list",
        |world| {
            let stage = Stage::new(world);
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
            let asks = |populated: bool| {
                some(history, |before, event| {
                    let asks = steps(event, |op| matches!(op, Op::HasSynced(_)));
                    asks && before.spec.populated == populated
                })
            };
            asks(false) && asks(true)
        },
    )
}

/// The first write leaves nothing to process (`cache:QU-17`).
fn synced_at_once() -> Scenario<Fifo> {
    Scenario::new(
        "synced_at_once",
        "a caller waits for the first list, which is empty, or a single write comes instead",
        |world| Stage::new(world).synced_at_once(),
        // The caller sleeps.
        |history| waits(history) > 0,
    )
}
