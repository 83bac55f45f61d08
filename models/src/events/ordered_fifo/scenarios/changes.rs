//! Changes, lists and resyncs of single objects, in plain mode.

use seatrial_core::delta_fifo::Delta;
use seatrial_core::ordered_fifo::{Event, Op};

use super::{Config, OrderedLedger, Stage, lists, some};
use crate::events::fixtures::Object;
use crate::ordered_fifo::OrderedFifo;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<OrderedFifo>> {
    vec![
        add_then_delete(),
        list_without_the_queued(),
        list_behind_deletion(),
        deleted_and_listed(),
        list_after_update(),
        resync_races_update(),
        transformed_changes(),
    ]
}

/// Tells whether a change that meets a condition is queued.
fn is_queued(before: &OrderedLedger, wanted: impl Fn(&Delta<u8, Object>) -> bool) -> bool {
    before.state.events.iter().filter_map(Event::delta).any(wanted)
}

/// An object comes and goes while the consumer works (`cache:SC-5`, `cache:SC-10`).
fn add_then_delete() -> Scenario<OrderedFifo> {
    Scenario::new(
        "add_then_delete",
        "an object is added, updated and deleted while a consumer pops",
        |world| {
            let stage = Stage::plain(world, []);
            let consumer = stage.consumer("consumer");
            stage.add((1, 1));
            stage.update((1, 2));
            stage.delete((1, 3));
            stage.end([consumer]);
        },
        // All three are queued.
        |history| {
            some(history, |before, over| over.taken().is_some() && before.state.events.len() == 3)
        },
    )
}

/// A list lacks an object whose addition is queued (`cache:SC-7`, `cache:TR-8`).
fn list_without_the_queued() -> Scenario<OrderedFifo> {
    Scenario::new(
        "list_without_the_queued",
        "a list lacks a queued object and a known object, and has a third one",
        |world| {
            let stage = Stage::plain(world, [(2, 1)]);
            let consumer = stage.consumer("consumer");
            stage.add((1, 1));
            stage.list(&[(3, 1)]);
            stage.end([consumer]);
        },
        // The addition is queued when the list comes.
        |history| {
            some(history, |before, over| {
                lists(over.op) && is_queued(before, |change| matches!(change, Delta::Added((1, _))))
            })
        },
    )
}

/// A list comes behind a deletion (`cache:TR-16`).
fn list_behind_deletion() -> Scenario<OrderedFifo> {
    Scenario::new(
        "list_behind_deletion",
        "a list lacks an object whose deletion is queued or already applied",
        |world| {
            let stage = Stage::plain(world, [(1, 1)]);
            let consumer = stage.consumer("consumer");
            stage.delete((1, 2));
            stage.list(&[]);
            stage.end([consumer]);
        },
        |history| {
            some(history, |before, over| lists(over.op) && is_queued(before, Delta::is_deleted))
        },
    )
}

/// An object is deleted, and the next list has it again (`cache:SC-8`, `cache:TR-16`).
fn deleted_and_listed() -> Scenario<OrderedFifo> {
    Scenario::new(
        "deleted_and_listed",
        "an object is added and deleted, and a list has its successor",
        |world| {
            let stage = Stage::plain(world, []);
            let consumer = stage.consumer("consumer");
            stage.add((1, 1));
            stage.delete((1, 2));
            stage.list(&[(1, 3)]);
            stage.end([consumer]);
        },
        // The addition and the deletion are queued when the list comes.
        |history| some(history, |before, over| lists(over.op) && before.state.events.len() == 2),
    )
}

/// A list lacks an object whose queued change is newer than its known state.
fn list_after_update() -> Scenario<OrderedFifo> {
    Scenario::new(
        "list_after_update",
        "an object is updated, and two lists lack it",
        |world| {
            let stage = Stage::plain(world, [(1, 1)]);
            let consumer = stage.consumer("consumer");
            stage.update((1, 2));
            stage.list(&[]);
            stage.list(&[(2, 1)]);
            stage.end([consumer]);
        },
        // The update is queued when the first list comes, and so is the tombstone when the second
        // comes.
        |history| {
            some(history, |before, over| lists(over.op) && before.state.events.len() == 1)
                && some(history, |before, over| lists(over.op) && before.state.events.len() == 2)
        },
    )
}

/// A resync comes while an update is queued (`cache:SC-6`, `cache:TR-11`).
fn resync_races_update() -> Scenario<OrderedFifo> {
    Scenario::new(
        "resync_races_update",
        "a resync shows two objects while one of them is updated",
        |world| {
            let stage = Stage::plain(world, [(1, 1), (2, 1)]);
            let resync = stage.on("resync", Stage::resync);
            let consumer = stage.consumer("consumer");
            stage.update((2, 2)); // the one that a resync shows last
            stage.end([resync, consumer]);
        },
        // The update is queued when the resync comes.
        |history| {
            some(history, |before, over| {
                matches!(over.op, Op::Resync(_)) && before.state.events.len() == 1
            })
        },
    )
}

/// Objects are transformed on the way in.
fn transformed_changes() -> Scenario<OrderedFifo> {
    Scenario::new(
        "transformed_changes",
        "objects are transformed on the way in, and one object is refused",
        |world| {
            let stage = Stage::new(world, Config::plain(super::Store::default()).transformed());
            let consumer = stage.consumer("consumer");
            stage.add((1, 1));
            assert!(stage.queue.update((1, 13)).is_err(), "version 13 is refused");
            stage.list(&[(1, 2)]);
            stage.end([consumer]);
        },
        |history| {
            some(history, |_, over| {
                over.taken()
                    .is_some_and(|taken| taken.events.iter().any(|event| event.delta().is_some()))
            })
        },
    )
}
