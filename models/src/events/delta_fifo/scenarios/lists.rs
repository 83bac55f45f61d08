//! Lists and resyncs against changes.

use seatrial_core::delta_fifo::{Delta, Op};

use super::{Stage, some, store};
use crate::delta_fifo::tried::{Config, Over};
use crate::delta_fifo::{DeltaFifo, History};
use crate::engine::Engine;
use crate::events::fixtures::Bed;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<DeltaFifo>> {
    vec![
        add_then_empty_list(),
        deleted_then_listed(),
        deleted_then_synced(),
        list_races_changes(),
        two_lists_miss_an_object(),
        two_consumers_one_list(),
        resync_races_update(),
        resync_of_an_idle_store(),
        refused_list(),
        everybody_at_once(),
    ]
}

fn resyncs(over: &Over<'_>) -> bool {
    matches!(over.op, Op::Resync(_))
}

/// The next list lacks an object that was added (`cache:SC-7`).
fn add_then_empty_list() -> Scenario<DeltaFifo> {
    Scenario::new(
        "add_then_empty_list",
        "an object is added and the next list lacks it, while a consumer pops",
        |world| {
            let stage = Stage::informer(world, []);
            let consumer = stage.consumer("consumer");
            stage.add((1, 1));
            stage.list(&[]);
            stage.end([consumer]);
        },
        // The list finds the addition pending, and the store does not have it.
        |history| {
            some(history, |before, over| over.listed().is_some() && before.state.is_pending(1))
        },
    )
}

/// The next list has an object that was deleted (`cache:SC-8`, `cache:TR-9`).
fn deleted_then_listed() -> Scenario<DeltaFifo> {
    Scenario::new(
        "deleted_then_listed",
        "an object is deleted and is in the next list again, while a consumer pops",
        |world| {
            let stage = Stage::informer(world, [(1, 1)]);
            let consumer = stage.consumer("consumer");
            stage.delete((1, 2));
            stage.list(&[(1, 3)]);
            stage.end([consumer]);
        },
        both_together,
    )
}

/// Deletion and list are handed out together.
fn both_together(history: &History) -> bool {
    some(history, |_, over| over.popped().is_some_and(|popped| popped.deltas.len() == 2))
}

/// As [`deleted_then_listed`], but lists are not told apart from resyncs (`cache:DF-33`).
fn deleted_then_synced() -> Scenario<DeltaFifo> {
    Scenario::new(
        "deleted_then_synced",
        "the same as deleted_then_listed, in a queue where a list shows its objects as sync",
        |world| {
            let known = Some(store([(1, 1)]));
            let stage = Stage::new(world, Config { known, ..Config::default() });
            let consumer = stage.consumer("consumer");
            stage.delete((1, 2));
            stage.list(&[(1, 3)]);
            stage.end([consumer]);
        },
        both_together,
    )
}

/// A list comes between the changes of two objects.
fn list_races_changes() -> Scenario<DeltaFifo> {
    Scenario::new(
        "list_races_changes",
        "a list arrives while one object is updated and another one is added",
        |world| {
            let stage = Stage::informer(world, [(1, 1), (3, 1)]);
            let writer = stage.on("writer", |stage| {
                stage.update((3, 2));
                stage.add((2, 1));
            });
            let consumer = stage.consumer("consumer");
            stage.list(&[(1, 2)]);
            stage.end([writer, consumer]);
        },
        // The list deletes an object that was updated and is known in an older state.
        |history| {
            some(history, |before, over| {
                let updated = matches!(before.state.deltas(3), [Delta::Updated(_)]);
                over.listed().is_some() && updated && before.state.known.contains_key(&3)
            })
        },
    )
}

/// Two lists in a row miss an object that is only pending (`cache:TR-13`).
fn two_lists_miss_an_object() -> Scenario<DeltaFifo> {
    Scenario::new(
        "two_lists_miss_an_object",
        "two lists lack an object that is added meanwhile, while a consumer pops",
        |world| {
            let stage = Stage::informer(world, []);
            let writer = stage.on("writer", |stage| stage.add((1, 1)));
            let consumer = stage.consumer("consumer");
            stage.list(&[]);
            stage.list(&[]);
            stage.end([writer, consumer]);
        },
        // A list finds the tombstone of the list before.
        |history| {
            some(history, |before, over| {
                let deltas = before.state.deltas(1);
                over.listed().is_some() && deltas.last().is_some_and(Delta::is_deleted)
            })
        },
    )
}

/// Two consumers wait for the objects of one list.
fn two_consumers_one_list() -> Scenario<DeltaFifo> {
    Scenario::new(
        "two_consumers_one_list",
        "two consumers wait, and a list of two objects arrives, one for each consumer",
        |world| Stage::informer(world, [(3, 1)]).two_consumers_one_list(&[(1, 1)]),
        |history| {
            some(history, |before, over| {
                let both = before.asleep.count(Bed::Pop) == 2;
                over.listed().is_some() && both
            })
        },
    )
}

/// A resync meets an update (`cache:SC-6`).
fn resync_races_update() -> Scenario<DeltaFifo> {
    Scenario::new(
        "resync_races_update",
        "a resync runs while an object is updated and a consumer pops",
        |world| {
            let stage = Stage::informer(world, [(1, 1), (2, 1)]);
            let resyncer = stage.on("resyncer", |stage| stage.queue.resync());
            let consumer = stage.consumer("consumer");
            stage.update((1, 2));
            stage.end([resyncer, consumer]);
        },
        // The resync finds the update pending.
        |history| some(history, |before, over| resyncs(over) && before.state.is_pending(1)),
    )
}

/// A resync before anything else: it shows the known objects and is no write (`cache:QU-14`).
fn resync_of_an_idle_store() -> Scenario<DeltaFifo> {
    Scenario::new(
        "resync_of_an_idle_store",
        "a resync before the first list wakes a waiting consumer",
        |world| {
            let stage = Stage::informer(world, [(1, 1)]);
            let popper = stage.popper("popper");
            let observer = stage.observer(1);
            stage.queue.resync();
            stage.end([popper, observer]);
        },
        // The popper sleeps when the resync comes.
        |history| some(history, |before, over| resyncs(over) && before.asleep.count(Bed::Pop) > 0),
    )
}

/// A list ends at an object without a key, and is tried again (`cache:DF-20`).
fn refused_list() -> Scenario<DeltaFifo> {
    Scenario::new(
        "refused_list",
        "a list with a refused object arrives, then a list without one",
        |world| {
            let stage = Stage::informer(world, [(2, 1)]);
            let observer = stage.observer(2);
            let consumer = stage.consumer("consumer");
            stage.list_in_vain(&[(1, 1)]);
            stage.list(&[(1, 2)]);
            stage.end([observer, consumer]);
        },
        // A caller asks whether the first list is processed when a part of it is.
        |history| {
            some(history, |before, over| {
                let part = before.handed.contains_key(&1) && !before.spec.populated;
                matches!(over.op, Op::HasSynced(_)) && part
            })
        },
    )
}

/// Two writers, a lister and a consumer.
fn everybody_at_once() -> Scenario<DeltaFifo> {
    Scenario::<DeltaFifo>::new(
        "everybody_at_once",
        "changes, two lists and a resync arrive at once while a consumer pops",
        |world| {
            let stage = Stage::informer(world, [(1, 1), (3, 1)]);
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
        |history| {
            some(history, |before, over| {
                let second = over.listed().is_some_and(|listed| listed.contains_key(&3));
                second && before.state.is_pending(1) && before.state.is_pending(2)
            })
        },
    )
    .not_on(|engine| {
        let many =
            "more than 200,000 traces: loom explores it within its bound, samplers sample it";
        (engine == Engine::Trace).then_some(many)
    })
}
