//! The end of a queue.

use seatrial_core::fifo::{Op, Ret};

use super::{Stage, some, steps};
use crate::events::fixtures::Bed;
use crate::fifo::Fifo;
use crate::fifo::ledger::{popped, writes};
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<Fifo>> {
    vec![
        close_while_two_wait(),
        write_after_close(),
        close_before_first_list(),
        close_with_an_object_left(),
        deleted_after_close(),
    ]
}

/// Two consumers wait while an object is added and the queue closed (`cache:SC-1`, `SC-2`).
fn close_while_two_wait() -> Scenario<Fifo> {
    Scenario::new(
        "close_while_two_wait",
        "two consumers wait while an object is added and the queue is closed",
        |world| Stage::new(world).close_while_two_wait(),
        // Both sleep when the queue is closed.
        |history| {
            some(history, |before, event| {
                steps(event, |op| matches!(op, Op::Close(_))) && before.asleep.count(Bed::Pop) == 2
            })
        },
    )
}

/// A closed queue takes in new objects and hands them out (`cache:QU-3`, `cache:QU-4`).
fn write_after_close() -> Scenario<Fifo> {
    Scenario::new(
        "write_after_close",
        "writers go on after the queue is closed, and a caller asks if it is closed",
        |world| Stage::new(world).write_after_close(),
        // An object that was added after the end is handed out.
        |history| {
            some(history, |before, event| before.closed && writes(event))
                && some(history, |before, event| before.closed && popped(event).is_some())
        },
    )
}

/// The queue is closed before there was a list, and a caller waits for that list.
fn close_before_first_list() -> Scenario<Fifo> {
    Scenario::new(
        "close_before_first_list",
        "a caller waits for the first list while the queue is closed",
        |world| Stage::new(world).closed_under_a_waiter(),
        // The caller was asleep, and is told that there will be no list.
        |history| {
            some(history, |before, event| {
                steps(event, |op| matches!(op, Op::Close(_))) && before.asleep.count(Bed::Sync) == 1
            }) && some(history, |_, event| {
                matches!(event.returned(), Some((_, Ret::WaitForSync(false))))
            })
        },
    )
}

/// The queue is closed with the last object of the first list in it.
fn close_with_an_object_left() -> Scenario<Fifo> {
    Scenario::new(
        "close_with_an_object_left",
        "the queue is closed while the first list is in it and a caller waits for that list",
        |world| {
            let stage = Stage::new(world);
            stage.list(&[(1, 1)]);
            stage.closed_under_a_waiter();
        },
        // The waiter waits on although the queue is closed: the list is not processed yet.
        |history| {
            some(history, |before, event| {
                popped(event).is_some() && before.closed && before.asleep.count(Bed::Sync) == 1
            })
        },
    )
}

/// The last object of a closed queue is deleted while a caller waits for a first list that is never
/// processed (`cache:FF-10`).
fn deleted_after_close() -> Scenario<Fifo> {
    Scenario::new(
        "deleted_after_close",
        "a delete drains a closed queue; a caller waits for a first list that is never processed",
        |world| {
            let stage = Stage::new(world);
            stage.list(&[(1, 1), (2, 1)]);
            stage.list(&[(3, 1)]); // shorter, so it can stay unset
            let waiter = stage.waiter("waiter");
            stage.queue.close();
            stage.delete((3, 1));
            stage.join([waiter]);
        },
        // The waiter is asleep, although it was woken when the queue was closed.
        |history| {
            some(history, |before, event| {
                let deletes = steps(event, |op| matches!(op, Op::Delete(_)));
                deletes && before.closed && before.asleep.count(Bed::Sync) == 1
            })
        },
    )
}
