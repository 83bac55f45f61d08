//! The moment when the first list is processed, as other callers see it.

use seatrial_core::delta_fifo::Op;

use super::{Stage, some};
use crate::delta_fifo::DeltaFifo;
use crate::events::fixtures::Bed;
use crate::queues::fixtures::waits;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<DeltaFifo>> {
    vec![
        first_list_awaited(),
        synced_while_popping(),
        list_with_duplicates(),
        second_list_before_drain(),
        write_before_first_list(),
        synced_at_once(),
    ]
}

/// A caller waits for the first list and then reads the store (`cache:SC-9`).
fn first_list_awaited() -> Scenario<DeltaFifo> {
    Scenario::new(
        "first_list_awaited",
        "two callers wait for the first list and read the consumer's store",
        |world| Stage::informer(world, []).first_list_awaited(&[(1, 1), (2, 1)]),
        // Both wait when the last entry of the list is taken.
        |history| {
            some(history, |before, over| {
                let both = before.asleep.count(Bed::Sync) == 2;
                over.popped().is_some() && before.batch.len() == 1 && both
            })
        },
    )
}

/// A caller asks while the first list, with a deletion in it, is being popped.
fn synced_while_popping() -> Scenario<DeltaFifo> {
    Scenario::new(
        "synced_while_popping",
        "a caller asks about the first list while its objects and its deletions are popped",
        |world| {
            let stage = Stage::informer(world, [(3, 1)]);
            let consumer = stage.consumer("consumer");
            let observer = stage.observer(3);
            stage.list(&[(1, 1)]);
            stage.end([observer, consumer]);
        },
        // A caller asks when the listed object is processed and the deletion is not.
        |history| {
            some(history, |before, over| {
                let only_the_deletion = before.batch.iter().eq([&3]);
                matches!(over.op, Op::HasSynced(_)) && only_the_deletion
            })
        },
    )
}

/// A list names an object twice (`cache:DF-19`).
fn list_with_duplicates() -> Scenario<DeltaFifo> {
    Scenario::new(
        "list_with_duplicates",
        "the first list names an object twice; a caller waits for it, and asks again at the end",
        |world| Stage::informer(world, []).list_with_duplicates(),
        |history| {
            some(history, |before, over| {
                let twice = over.popped().is_some_and(|popped| popped.deltas.len() == 2);
                twice && before.asleep.count(Bed::Sync) > 0
            })
        },
    )
}

/// A second list comes before the first is processed (`cache:DF-32`).
fn second_list_before_drain() -> Scenario<DeltaFifo> {
    Scenario::new(
        "second_list_before_drain",
        "a second list arrives while the first is popped and a caller asks if it is processed",
        |world| {
            let stage = Stage::informer(world, []);
            stage.list(&[(1, 1)]);
            let consumer = stage.consumer("consumer");
            let observer = stage.observer(3);
            stage.list(&[(1, 2), (2, 1)]);
            stage.end([observer, consumer]);
        },
        // A caller asks when the first list is processed and the second is not.
        |history| {
            some(history, |before, over| {
                matches!(over.op, Op::HasSynced(_))
                    && before.synced
                    && before.spec.pending.len() == 2
            })
        },
    )
}

/// A write comes before the first list, or not (`cache:QU-15`).
fn write_before_first_list() -> Scenario<DeltaFifo> {
    Scenario::new(
        "write_before_first_list",
        "an object is added before or after the first list",
        |world| Stage::informer(world, []).write_before_first_list(&[(1, 2), (2, 1)]),
        // The queue counts as synced at once, with the list still pending.
        |history| {
            some(history, |before, over| {
                let at_once = before.has_synced() && before.spec.pending.len() == 2;
                matches!(over.op, Op::HasSynced(_)) && at_once && before.handed.is_empty()
            })
        },
    )
}

/// The first write leaves nothing to process (`cache:QU-17`).
fn synced_at_once() -> Scenario<DeltaFifo> {
    Scenario::new(
        "synced_at_once",
        "a caller waits for the first list, which is empty, or a single write comes instead",
        |world| Stage::informer(world, []).synced_at_once(),
        // The caller sleeps.
        |history| waits(history) > 0,
    )
}
