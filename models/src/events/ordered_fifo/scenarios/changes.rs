//! Changes, lists and resyncs of single objects, in plain mode.

use seatrial_core::delta_fifo::Delta;
use seatrial_core::ordered_fifo::Event;

use super::{Led, plain, scenario, taken, waiting};
use crate::events::fixtures::{Config, Kind, Object};
use crate::ordered_fifo::OrderedFifo;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<OrderedFifo>> {
    let mut all = of_lists();
    all.extend(of_others());
    all
}

/// Tells whether a change that meets a condition is queued.
fn is_queued(before: &Led, wanted: fn(&Delta<u8, Object>) -> bool) -> bool {
    before.state.waiting.iter().filter_map(Event::delta).any(wanted)
}

fn of_lists() -> Vec<Scenario<OrderedFifo>> {
    vec![
        scenario(
            "list_without_the_queued",
            "a list lacks a queued object and a known object, and has a third one",
            || Config::knows(&[(2, 1)]),
            |stage| {
                let consumer = stage.consumer("consumer");
                stage.add((1, 1));
                stage.list(&[(3, 1)]);
                stage.end([consumer]);
            },
            // The addition is queued when the list comes (`cache:SC-7`, `cache:TR-8`).
            |before, over| {
                let queued = is_queued(before, |change| matches!(change, Delta::Added((1, _))));
                over.is(Kind::List) && queued
            },
        ),
        scenario(
            "list_behind_deletion",
            "a list lacks an object whose deletion is queued or already applied",
            || Config::knows(&[(1, 1)]),
            |stage| {
                let consumer = stage.consumer("consumer");
                stage.delete((1, 2));
                stage.list(&[]);
                stage.end([consumer]);
            },
            // The deletion is queued (`cache:TR-16`).
            |before, over| over.is(Kind::List) && is_queued(before, Delta::is_deleted),
        ),
        scenario(
            "deleted_and_listed",
            "an object is added and deleted, and a list has its successor",
            plain,
            |stage| {
                let consumer = stage.consumer("consumer");
                stage.add((1, 1));
                stage.delete((1, 2));
                stage.list(&[(1, 3)]);
                stage.end([consumer]);
            },
            // The addition and the deletion are queued when the list comes (`cache:SC-8`, `TR-16`).
            |before, over| over.is(Kind::List) && waiting(before) == 2,
        ),
        scenario(
            "list_after_update",
            "an object is updated, and two lists lack it",
            || Config::knows(&[(1, 1)]),
            |stage| {
                let consumer = stage.consumer("consumer");
                stage.update((1, 2));
                stage.list(&[]);
                stage.list(&[(2, 1)]);
                stage.end([consumer]);
            },
            // The update and the tombstone are queued when the second list comes.
            |before, over| {
                let updated = is_queued(before, |change| matches!(change, Delta::Updated(_)));
                over.is(Kind::List) && updated && is_queued(before, Delta::is_deleted)
            },
        ),
    ]
}

fn of_others() -> Vec<Scenario<OrderedFifo>> {
    vec![
        scenario(
            "add_then_delete",
            "an object is added, updated and deleted while a consumer pops",
            plain,
            |stage| {
                let consumer = stage.consumer("consumer");
                stage.add((1, 1));
                stage.update((1, 2));
                stage.delete((1, 3));
                stage.end([consumer]);
            },
            // All three are queued (`cache:SC-5`, `cache:SC-10`).
            |before, over| over.takes() && waiting(before) == 3,
        ),
        scenario(
            "resync_races_update",
            "a resync shows two objects while one of them is updated",
            || Config::knows(&[(1, 1), (2, 1)]),
            |stage| {
                let resync = stage.on("resync", |stage| stage.resync());
                let consumer = stage.consumer("consumer");
                stage.update((2, 2)); // the one that a resync shows last
                stage.end([resync, consumer]);
            },
            // The update is queued when the resync comes (`cache:SC-6`, `cache:TR-11`).
            |before, over| over.is(Kind::Resync) && waiting(before) == 1,
        ),
        scenario(
            "transformed_changes",
            "objects are transformed on the way in, and one object is refused",
            || Config { transform: true, ..plain() },
            |stage| {
                let consumer = stage.consumer("consumer");
                stage.add((1, 1));
                assert!(stage.queue.update((1, 13)).is_err(), "version 13 is refused");
                stage.list(&[(1, 2)]);
                stage.end([consumer]);
            },
            |_, over| taken(over) > 0,
        ),
    ]
}
