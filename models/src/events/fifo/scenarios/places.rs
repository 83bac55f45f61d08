//! Objects and their places.

use seatrial_core::fifo::Op;

use super::{Stage, head_is_stale, some, steps};
use crate::engine::Engine;
use crate::events::fixtures::Bed;
use crate::fifo::ledger::{popped, writes};
use crate::fifo::{Fifo, History};
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<Fifo>> {
    vec![
        updates_collapse(),
        deleted_while_waiting(),
        deleted_and_back(),
        back_at_an_old_place(),
        two_consumers(),
        two_consumers_one_list(),
        list_races_changes(),
        resync_queues_nothing(),
        readers_between(),
        everybody_at_once(),
    ]
}

/// A waiting object changes (`cache:FF-2`, `cache:TR-1`).
fn updates_collapse() -> Scenario<Fifo> {
    Scenario::new(
        "updates_collapse",
        "an object is updated while it and another object wait for a consumer",
        |world| {
            let stage = Stage::new(world);
            stage.add((2, 1));
            let consumer = stage.consumer("consumer");
            let writer = stage.on("writer", |stage| stage.add((1, 1)));
            stage.update((2, 2));
            stage.update((1, 2));
            stage.end([writer, consumer]);
        },
        // An object is popped in its third state while the other one waits.
        |history| {
            some(history, |before, event| {
                let newest = popped(event).is_some_and(|popped| popped.object == (2, 2));
                newest && before.spec.items.len() == 2
            })
        },
    )
}

/// An object is deleted before its place is reached (`cache:FF-4`).
fn deleted_while_waiting() -> Scenario<Fifo> {
    Scenario::new(
        "deleted_while_waiting",
        "an object is deleted while it waits and a consumer pops",
        |world| {
            let stage = Stage::new(world);
            let observer = stage.observer(1);
            let consumer = stage.consumer("consumer");
            stage.delete_unseen(3, None);
            stage.add((1, 1));
            stage.delete((1, 2));
            stage.add((2, 1));
            stage.end([observer, consumer]);
        },
        // The consumer skips the place of the deleted object.
        |history| some(history, |before, event| popped(event).is_some() && head_is_stale(before)),
    )
}

/// An object is deleted and added again (`cache:SC-4`, `cache:TR-2`).
fn deleted_and_back() -> Scenario<Fifo> {
    Scenario::new(
        "deleted_and_back",
        "a deleted object is added again behind another object, and two consumers pop",
        |world| {
            let stage = Stage::new(world);
            let consumers = [stage.consumer("first"), stage.consumer("second")];
            stage.add((2, 1));
            stage.add((1, 1));
            stage.delete((2, 2));
            stage.add((2, 3));
            stage.update((2, 4));
            stage.end(consumers);
        },
        // The object is handed out at its old place, before the object that came in the meantime.
        |history| {
            some(history, |before, event| {
                let back = popped(event).is_some_and(|popped| popped.object.1 > 2);
                back && before.spec.items.contains_key(&1)
            })
        },
    )
}

/// A stale place serves an object that comes much later (`cache:FF-7`).
fn back_at_an_old_place() -> Scenario<Fifo> {
    Scenario::new(
        "back_at_an_old_place",
        "an object that was deleted, added again and popped is added once more",
        |world| {
            let stage = Stage::new(world);
            stage.add((1, 1));
            let writer = stage.on("writer", |stage| {
                stage.delete((1, 2));
                stage.add((1, 3));
            });
            let popper = stage.popper("popper");
            stage.join([writer, popper]);
            stage.add((2, 1));
            stage.add((1, 4));
            let consumer = stage.consumer("consumer");
            stage.end([consumer]);
        },
        // The object's second place is still there, before the place of another object.
        |history| {
            some(history, |before, event| {
                let adds = steps(event, |op| matches!(op, Op::Put(_)));
                adds && before.spec.queue.iter().eq(&[1, 2]) && head_is_stale(before)
            })
        },
    )
}

/// Two consumers wait for one object each.
fn two_consumers() -> Scenario<Fifo> {
    Scenario::new(
        "two_consumers",
        "two consumers wait, and two objects are added, one for each consumer",
        |world| {
            let stage = Stage::new(world);
            let poppers = [stage.popper("first"), stage.popper("second")];
            stage.add((2, 1));
            stage.add((1, 1));
            stage.end(poppers);
        },
        both_sleep,
    )
}

/// Both sleep when the first object comes.
fn both_sleep(history: &History) -> bool {
    some(history, |before, event| writes(event) && before.asleep.count(Bed::Pop) == 2)
}

/// Two consumers wait for the objects of one list.
fn two_consumers_one_list() -> Scenario<Fifo> {
    Scenario::new(
        "two_consumers_one_list",
        "two consumers wait, and a list of two objects arrives, one for each consumer",
        |world| Stage::new(world).two_consumers_one_list(&[(2, 1), (1, 1)]),
        both_sleep,
    )
}

/// A list comes between changes: objects that it lacks are gone (`cache:FF-9`).
fn list_races_changes() -> Scenario<Fifo> {
    Scenario::new(
        "list_races_changes",
        "a list arrives while one object is updated and another one is added",
        |world| {
            let stage = Stage::new(world);
            let writer = stage.on("writer", |stage| {
                stage.update((1, 1));
                stage.add((3, 1));
            });
            let consumer = stage.consumer("consumer");
            stage.list(&[(2, 1), (1, 2)]);
            stage.end([writer, consumer]);
        },
        // The list lacks an object that waits.
        |history| {
            some(history, |before, event| {
                let lists = steps(event, |op| matches!(op, Op::Replace(_)));
                lists && before.spec.items.contains_key(&3)
            })
        },
    )
}

/// A resync has nothing to queue (`cache:FF-11`).
fn resync_queues_nothing() -> Scenario<Fifo> {
    Scenario::new(
        "resync_queues_nothing",
        "a resync runs while an object waits; later two objects wait",
        |world| {
            let stage = Stage::new(world);
            stage.add((1, 1));
            let resyncer = stage.on("resyncer", |stage| stage.queue.resync());
            let popper = stage.popper("popper");
            stage.join([resyncer, popper]);
            stage.add((2, 1));
            stage.add((1, 2));
            let consumer = stage.consumer("consumer");
            stage.end([consumer]);
        },
        // The resync finds the object waiting.
        |history| {
            some(history, |before, event| {
                let resyncs = steps(event, |op| matches!(op, Op::Resync(_)));
                resyncs && before.spec.items.contains_key(&1)
            })
        },
    )
}

/// Readers look while writers write (`cache:FF-14`).
fn readers_between() -> Scenario<Fifo> {
    Scenario::new(
        "readers_between",
        "a reader looks at the queue while other threads write and pop",
        |world| {
            let stage = Stage::new(world);
            let reader = stage.on("reader", |stage| {
                let _listed = stage.queue.list();
                let _waiting = stage.queue.get(&2);
                let _many = stage.queue.len();
            });
            let consumer = stage.consumer("consumer");
            stage.add((2, 1));
            stage.add((1, 1));
            stage.delete((2, 2));
            stage.end([reader, consumer]);
        },
        // A reader counts while a place is stale.
        |history| {
            some(history, |before, event| {
                steps(event, |op| matches!(op, Op::Len(_))) && head_is_stale(before)
            })
        },
    )
}

/// Two writers, a lister and a consumer.
fn everybody_at_once() -> Scenario<Fifo> {
    Scenario::<Fifo>::new(
        "everybody_at_once",
        "changes and two lists arrive at once while a consumer pops and a caller asks",
        |world| {
            let stage = Stage::new(world);
            let changes = stage.on("changes", |stage| {
                stage.add((1, 1));
                stage.delete((2, 2));
                stage.add((2, 3));
            });
            let lists = stage.on("lists", |stage| {
                stage.list(&[(2, 1), (3, 1)]);
                stage.list(&[(3, 2), (1, 2)]);
            });
            let consumer = stage.consumer("consumer");
            let _synced = stage.queue.has_synced();
            let _waiting = stage.queue.list();
            stage.end([changes, lists, consumer]);
        },
        // The second list meets a stale place of the first.
        |history| {
            some(history, |before, event| {
                let lists = steps(event, |op| matches!(op, Op::Replace(_)));
                lists && head_is_stale(before)
            })
        },
    )
    .not_on(|engine| {
        let many =
            "more than 200,000 traces: loom explores it within its bound, samplers sample it";
        (engine == Engine::Trace).then_some(many)
    })
}
