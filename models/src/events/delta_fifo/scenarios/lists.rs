//! Lists and resyncs against changes.

use super::{informer, is_deleted, knows_1, pending, scenario, taken};
use crate::delta_fifo::DeltaFifo;
use crate::engine::Engine;
use crate::events::fixtures::{Bed, Config, Kind};
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<DeltaFifo>> {
    [of_lists(), of_resyncs(), of_first_lists(), of_everybody()].into_iter().flatten().collect()
}

fn of_lists() -> Vec<Scenario<DeltaFifo>> {
    vec![
        scenario(
            "add_then_empty_list",
            "an object is added and the next list lacks it, while a consumer pops",
            informer,
            |stage| {
                let consumer = stage.consumer("consumer");
                stage.add((1, 1));
                stage.list(&[]);
                stage.end([consumer]);
            },
            // The list finds the addition pending, and the store does not have it (`cache:SC-7`).
            |before, over| over.is(Kind::List) && !pending(before, 1).is_empty(),
        ),
        scenario(
            "deleted_then_listed",
            "an object is deleted and is in the next list again, while a consumer pops",
            knows_1,
            |stage| {
                let consumer = stage.consumer("consumer");
                stage.delete((1, 2));
                stage.list(&[(1, 3)]);
                stage.end([consumer]);
            },
            // Deletion and list are handed out together (`cache:SC-8`, `cache:TR-9`).
            |_, over| taken(over) == 2,
        ),
        scenario(
            "deleted_then_synced",
            "the same as deleted_then_listed, in a queue where a list shows its objects as sync",
            || Config { emit_replaced: false, ..knows_1() },
            |stage| {
                let consumer = stage.consumer("consumer");
                stage.delete((1, 2));
                stage.list(&[(1, 3)]);
                stage.end([consumer]);
            },
            // Both are handed out together (`cache:DF-33`).
            |_, over| taken(over) == 2,
        ),
        scenario(
            "two_lists_miss_an_object",
            "two lists lack an object that is added meanwhile, while a consumer pops",
            informer,
            |stage| {
                let writer = stage.on("writer", |stage| stage.add((1, 1)));
                let consumer = stage.consumer("consumer");
                stage.list(&[]);
                stage.list(&[]);
                stage.end([writer, consumer]);
            },
            // A list finds the tombstone of the list before (`cache:TR-13`).
            |before, over| over.is(Kind::List) && is_deleted(before, 1),
        ),
    ]
}

fn of_resyncs() -> Vec<Scenario<DeltaFifo>> {
    vec![
        scenario(
            "resync_races_update",
            "a resync runs while an object is updated and a consumer pops",
            || Config::knows(&[(1, 1), (2, 1)]),
            |stage| {
                let resyncer = stage.on("resyncer", |stage| stage.queue.resync());
                let consumer = stage.consumer("consumer");
                stage.update((1, 2));
                stage.end([resyncer, consumer]);
            },
            // The resync finds the update pending (`cache:SC-6`).
            |before, over| over.is(Kind::Resync) && !pending(before, 1).is_empty(),
        ),
        scenario(
            "resync_of_an_idle_store",
            "a resync before the first list wakes a waiting consumer",
            knows_1,
            |stage| {
                let popper = stage.popper("popper");
                let observer = stage.observer(1);
                stage.queue.resync();
                stage.end([popper, observer]);
            },
            // The popper sleeps when the resync comes, which is no write (`cache:QU-14`).
            |before, over| over.is(Kind::Resync) && before.asleep.count(Bed::Pop) > 0,
        ),
    ]
}

fn of_first_lists() -> Vec<Scenario<DeltaFifo>> {
    vec![
        scenario(
            "refused_list",
            "a list with a refused object arrives, then a list without one",
            || Config::knows(&[(2, 1)]),
            |stage| {
                let observer = stage.observer(2);
                let consumer = stage.consumer("consumer");
                stage.list_in_vain(&[(1, 1)]);
                stage.list(&[(1, 2)]);
                stage.end([observer, consumer]);
            },
            // A caller asks whether the first list is processed when a part of it is
            // (`cache:DF-20`).
            |before, over| {
                let part = before.view.handed.contains_key(&1) && !before.plain.populated;
                over.is(Kind::HasSynced) && part
            },
        ),
        scenario(
            "synced_while_popping",
            "a caller asks about the first list while its objects and its deletions are popped",
            super::knows_3,
            |stage| {
                let consumer = stage.consumer("consumer");
                let observer = stage.observer(3);
                stage.list(&[(1, 1)]);
                stage.end([observer, consumer]);
            },
            // A caller asks when the listed object is processed and the deletion is not.
            |before, over| over.is(Kind::HasSynced) && before.plain.initial == 1,
        ),
        scenario(
            "second_list_before_drain",
            "a second list arrives while the first is popped and a caller asks if it is processed",
            informer,
            |stage| {
                stage.list(&[(1, 1)]);
                let consumer = stage.consumer("consumer");
                let observer = stage.observer(3);
                stage.list(&[(1, 2), (2, 1)]);
                stage.end([observer, consumer]);
            },
            // A caller asks when the first list is processed and the second is not (`cache:DF-32`).
            |before, over| {
                over.is(Kind::HasSynced) && before.told && before.state.waiting.len() == 2
            },
        ),
    ]
}

/// Two writers, a lister and a consumer.
fn of_everybody() -> Vec<Scenario<DeltaFifo>> {
    let many = "more than 200,000 traces: loom explores it within its bound, samplers sample it";
    vec![
        scenario(
            "everybody_at_once",
            "changes, two lists and a resync arrive at once while a consumer pops",
            || Config::knows(&[(1, 1), (3, 1)]),
            |stage| {
                let changes = stage.on("changes", |stage| {
                    stage.delete((1, 2));
                    stage.add((1, 3));
                    stage.update((2, 2));
                });
                let lists = stage.on("lists", |stage| {
                    stage.list(&[(1, 4), (2, 1)]);
                    stage.queue.resync();
                    stage.list(&[(2, 3), (3, 2)]);
                });
                let consumer = stage.consumer("consumer");
                let _synced = stage.queue.has_synced();
                let _pending = stage.queue.list();
                stage.end([changes, lists, consumer]);
            },
            // The second list meets changes that the consumer has not reached.
            |before, over| {
                let reached = pending(before, 1).is_empty() || pending(before, 2).is_empty();
                let shown = pending_after(over, 3);
                over.is(Kind::List) && shown && !reached
            },
        )
        .not_on(move |engine| (engine == Engine::Trace).then_some(many)),
    ]
}

/// Tells whether a list shows an object.
fn pending_after(over: &super::Over<'_>, key: u8) -> bool {
    super::deltas(&over.state.waiting, key).last().is_some_and(|change| !change.is_deleted())
}
