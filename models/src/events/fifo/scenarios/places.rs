//! Objects and their places.

use super::{Led, head_is_stale, scenario};
use crate::engine::Engine;
use crate::events::fixtures::{Bed, Kind, shared};
use crate::fifo::Fifo;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<Fifo>> {
    [of_one_object(), of_several(), of_everybody(), put_back()].into_iter().flatten().collect()
}

fn of_one_object() -> Vec<Scenario<Fifo>> {
    vec![
        scenario(
            "deleted_while_waiting",
            "an object is deleted while it waits and a consumer pops",
            |stage| {
                let observer = stage.observer(1);
                let consumer = stage.consumer("consumer");
                stage.delete_unseen(3, None);
                stage.add((1, 1));
                stage.delete((1, 2));
                stage.add((2, 1));
                stage.end([observer, consumer]);
            },
            // The consumer skips the place of the deleted object (`cache:FF-4`).
            |before, over| over.takes() && head_is_stale(before),
        ),
        scenario(
            "deleted_and_back",
            "a deleted object is added again behind another object, and two consumers pop",
            |stage| {
                let consumers = [stage.consumer("first"), stage.consumer("second")];
                stage.add((2, 1));
                stage.add((1, 1));
                stage.delete((2, 2));
                stage.add((2, 3));
                stage.update((2, 4));
                stage.end(consumers);
            },
            // The object is handed out at its old place, before the object that came in the meantime
            // (`cache:SC-4`, `cache:TR-2`).
            |before, over| {
                let newest = before.plain.items.get(&2).is_some_and(|version| version.1 > 2);
                newest && over.takes() && over.state.waiting == [(1, (1, 1))]
            },
        ),
        scenario(
            "back_at_an_old_place",
            "an object that was deleted, added again and popped is added once more",
            |stage| {
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
            // The object's second place is still there, before the place of another object
            // (`cache:FF-7`).
            |before, over| {
                let places = before.plain.queue.iter().eq(&[1, 2]);
                over.is(Kind::Put) && places && head_is_stale(before)
            },
        ),
    ]
}

fn of_several() -> Vec<Scenario<Fifo>> {
    vec![
        scenario(
            "updates_collapse",
            "an object is updated while it and another object wait for a consumer",
            |stage| {
                stage.add((2, 1));
                let consumer = stage.consumer("consumer");
                let writer = stage.on("writer", |stage| stage.add((1, 1)));
                stage.update((2, 2));
                stage.update((1, 2));
                stage.end([writer, consumer]);
            },
            // An object is popped in its new state while the other one waits (`cache:FF-2`, `TR-1`).
            |before, over| {
                let newest = before.plain.items.get(&2) == Some(&(2, 2));
                over.takes() && newest && before.plain.items.len() == 2
            },
        ),
        scenario(
            "two_consumers",
            "two consumers wait, and two objects are added, one for each consumer",
            |stage| {
                let poppers = [stage.popper("first"), stage.popper("second")];
                stage.add((2, 1));
                stage.add((1, 1));
                stage.end(poppers);
            },
            |before, over| over.is(Kind::Put) && shared::all_sleep(before),
        ),
        scenario(
            "list_races_changes",
            "a list arrives while one object is updated and another one is added",
            |stage| {
                let writer = stage.on("writer", |stage| {
                    stage.update((1, 1));
                    stage.add((3, 1));
                });
                let consumer = stage.consumer("consumer");
                stage.list(&[(2, 1), (1, 2)]);
                stage.end([writer, consumer]);
            },
            // The list lacks an object that waits (`cache:FF-9`).
            |before, over| over.is(Kind::List) && before.plain.items.contains_key(&3),
        ),
    ]
}

fn of_everybody() -> Vec<Scenario<Fifo>> {
    let many = "more than 200,000 traces: loom explores it within its bound, samplers sample it";
    vec![
        scenario(
            "resync_queues_nothing",
            "a resync runs while an object waits; later two objects wait",
            |stage| {
                stage.add((1, 1));
                let resyncer = stage.on("resyncer", |stage| stage.queue.resync());
                let popper = stage.popper("popper");
                stage.join([resyncer, popper]);
                stage.add((2, 1));
                stage.add((1, 2));
                let consumer = stage.consumer("consumer");
                stage.end([consumer]);
            },
            // The resync finds the object waiting (`cache:FF-11`).
            |before, over| over.is(Kind::Resync) && before.plain.items.contains_key(&1),
        ),
        scenario(
            "readers_between",
            "a reader looks at the queue while other threads write and pop",
            |stage| {
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
            // A reader counts while a place is stale (`cache:FF-14`).
            |before, over| {
                matches!(over.op, seatrial_core::fifo::Op::Len(_)) && head_is_stale(before)
            },
        ),
        scenario(
            "everybody_at_once",
            "changes and two lists arrive at once while a consumer pops and a caller asks",
            |stage| {
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
            |before, over| over.is(Kind::List) && head_is_stale(before),
        )
        .not_on(move |engine| (engine == Engine::Trace).then_some(many)),
    ]
}

fn put_back() -> Vec<Scenario<Fifo>> {
    vec![
        scenario(
            "put_back_late",
            "a consumer puts an object back late, when a newer state may be queued",
            |stage| {
                stage.add((1, 1));
                let consumer = stage.on("consumer", |stage| {
                    let Ok((popped, ())) = stage.queue.pop(|_| ()) else { return };
                    stage.queue.add_if_absent(popped.object).expect("it has a key");
                    while stage.pop().is_ok() {}
                });
                stage.update((1, 2));
                stage.end([consumer]);
            },
            // A newer state waits in the queue, and wins (`cache:QU-10`, `QU-11`).
            |before, over| over.is(Kind::PutBack) && before.plain.items.contains_key(&1),
        ),
        put_back_for_another(),
    ]
}

/// An object that is put into an empty queue is a write, and is given to a waiter.
fn put_back_for_another() -> Scenario<Fifo> {
    Scenario::new(
        "put_back_for_another",
        "an object that was never popped is put back, and a waiting consumer gets it",
        |world| {
            let stage = super::Stage::new(world, &super::empty());
            let observer = stage.observer(2);
            let other = stage.popper("other");
            stage.queue.add_if_absent((1, 1)).expect("it has a key");
            stage.end([observer, other]);
        },
        // The other consumer sleeps when the object comes, and then a caller asks whether the list is
        // processed.
        |history| {
            Led::call(history, |before, over| {
                over.is(Kind::PutBack) && before.asleep.count(Bed::Pop) == 1
            }) && Led::call(history, |before, over| {
                over.is(Kind::HasSynced) && before.plain.populated
            })
        },
    )
}
