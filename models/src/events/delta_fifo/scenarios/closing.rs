//! The end of a queue.

use seatrial_core::delta_fifo::{Op, Ret};

use super::{Stage, some};
use crate::delta_fifo::DeltaFifo;
use crate::events::fixtures::Bed;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<DeltaFifo>> {
    vec![
        close_while_two_wait(),
        write_after_close(),
        close_before_first_list(),
        only_resynced(),
        close_with_an_entry_left(),
    ]
}

/// Two consumers wait while an object is added and the queue closed (`cache:SC-1`, `SC-2`).
fn close_while_two_wait() -> Scenario<DeltaFifo> {
    Scenario::new(
        "close_while_two_wait",
        "two consumers wait while an object is added and the queue is closed",
        |world| Stage::informer(world, []).close_while_two_wait(),
        // Both sleep when the queue is closed.
        |history| {
            some(history, |before, over| {
                let both = before.asleep.count(Bed::Pop) == 2;
                matches!(over.op, Op::Close(_)) && both
            })
        },
    )
}

/// A closed queue takes in new objects and hands them out (`cache:QU-3`, `cache:QU-4`).
fn write_after_close() -> Scenario<DeltaFifo> {
    Scenario::new(
        "write_after_close",
        "writers go on after the queue is closed, and a caller asks if it is closed",
        |world| Stage::informer(world, []).write_after_close(),
        // An entry that was added after the end is handed out.
        |history| {
            some(history, |before, over| before.closed && over.listed().is_some())
                && some(history, |before, over| before.closed && over.popped().is_some())
        },
    )
}

/// The queue is closed before there was a list, and a caller waits for that list.
fn close_before_first_list() -> Scenario<DeltaFifo> {
    Scenario::new(
        "close_before_first_list",
        "a caller waits for the first list while the queue is closed",
        |world| Stage::informer(world, []).closed_under_a_waiter(),
        // The caller was asleep, and is told that there will be no list.
        |history| {
            some(history, |before, over| {
                matches!(over.op, Op::Close(_)) && before.asleep.count(Bed::Sync) > 0
            }) && some(history, |_, over| matches!(over.ret, Ret::WaitForSync(false)))
        },
    )
}

/// The queue is closed with the last entry of the first list in it.
fn close_with_an_entry_left() -> Scenario<DeltaFifo> {
    Scenario::new(
        "close_with_an_entry_left",
        "the queue is closed while the first list is in it and a caller waits for that list",
        |world| {
            let stage = Stage::informer(world, []);
            stage.list(&[(1, 1)]);
            stage.closed_under_a_waiter();
        },
        // The waiter waits on although the queue is closed: the list is not processed yet.
        |history| {
            some(history, |before, over| {
                let left = over.popped().is_some() && before.closed;
                left && before.asleep.count(Bed::Sync) > 0
            })
        },
    )
}

/// A closed queue that was never used is emptied: there will be no first list (`cache:QU-14`).
fn only_resynced() -> Scenario<DeltaFifo> {
    Scenario::new(
        "only_resynced",
        "a resync alone fills a queue, it is closed, and a caller waits for the first list",
        |world| Stage::informer(world, [(1, 1)]).only_resynced(),
        // The caller sleeps when the last entry is taken.
        |history| {
            some(history, |before, over| {
                over.popped().is_some() && before.asleep.count(Bed::Sync) == 1
            })
        },
    )
}
