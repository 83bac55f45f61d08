//! Writers against a consumer.

use seatrial_core::delta_fifo::{Delta, Op};

use super::{Change, Led, informer, is_deleted, knows_1, knows_3, pending, scenario, taken};
use crate::delta_fifo::DeltaFifo;
use crate::events::fixtures::{Config, Kind, shared};
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<DeltaFifo>> {
    [of_one_object(), of_deletions(), of_stores(), of_several()].into_iter().flatten().collect()
}

fn of_one_object() -> Vec<Scenario<DeltaFifo>> {
    vec![
        scenario(
            "add_and_delete",
            "an object is added and deleted while a consumer applies changes",
            informer,
            |stage| {
                let consumer = stage.consumer("consumer");
                stage.add((1, 1));
                stage.delete((1, 2));
                stage.end([consumer]);
            },
            // The deletion finds the object in the store, and nothing pending (`cache:SC-5`).
            |before, over| over.is(Kind::Delete) && before.state.known.contains_key(&1),
        ),
        scenario(
            "update_while_pending",
            "an object is updated while its addition waits, and another object waits behind it",
            || Config::knows(&[(2, 1)]),
            |stage| {
                stage.add((1, 1));
                let consumer = stage.consumer("consumer");
                let writer = stage.on("writer", |stage| {
                    stage.add((2, 2));
                    stage.update((2, 3));
                });
                stage.update((1, 2));
                stage.update((1, 3));
                stage.end([writer, consumer]);
            },
            // The addition and both updates are taken together while the other object waits behind them.
            |before, over| taken(over) == 3 && !pending(before, 2).is_empty(),
        ),
        scenario(
            "deleted_and_back",
            "an object is deleted, added and deleted again while a consumer pops",
            knows_1,
            |stage| {
                let consumer = stage.consumer("consumer");
                stage.delete((1, 2));
                stage.add((1, 3));
                stage.delete((1, 4));
                stage.end([consumer]);
            },
            // Both deletions and the addition are handed out together.
            |_, over| taken(over) == 3,
        ),
    ]
}

fn of_deletions() -> Vec<Scenario<DeltaFifo>> {
    vec![
        scenario(
            "deleted_twice",
            "two writers delete an object, and a list lacks it as well",
            knows_1,
            |stage| {
                let first = stage.on("first", |stage| stage.delete((1, 2)));
                let second = stage.on("second", |stage| stage.delete((1, 3)));
                stage.list(&[]);
                stage.join([first, second]);
                let consumer = stage.consumer("consumer");
                stage.end([consumer]);
            },
            // A seen deletion follows another one (`cache:DF-6`).
            |before, over| over.is(Kind::Delete) && is_deleted(before, 1) && !is_unseen(before),
        ),
        scenario(
            "deleted_unseen_twice",
            "two writers report an object gone without having seen its deletion, and a third saw it",
            knows_1,
            |stage| {
                let stale = stage.on("stale", |stage| stage.delete_unseen(1, Some((1, 1))));
                let blind = stage.on("blind", |stage| stage.delete_unseen(1, None));
                stage.delete((1, 2));
                stage.join([stale, blind]);
                let consumer = stage.consumer("consumer");
                stage.end([consumer]);
            },
            // A tombstone follows a tombstone (`cache:DF-6`).
            |before, over| {
                let Op::Delete(delete) = over.op else { return false };
                let unseen = matches!(&delete.last, Some(Ok(last)) if last.is_tombstone());
                unseen && is_unseen(before)
            },
        ),
    ]
}

/// Tells whether the last pending change of object 1 is a tombstone.
fn is_unseen(before: &Led) -> bool {
    matches!(pending(before, 1).last(), Some(Change::Deleted(last)) if last.is_tombstone())
}

fn of_stores() -> Vec<Scenario<DeltaFifo>> {
    vec![
        scenario(
            "delete_unknown",
            "an object is deleted before or after another writer adds it",
            Config::default,
            |stage| {
                let observer = stage.observer(2);
                let writer = stage.on("writer", |stage| stage.delete((1, 2)));
                stage.add((1, 1));
                let consumer = stage.consumer("consumer");
                stage.end([writer, observer, consumer]);
            },
            // The deletion comes first, and a reader can see that it counts as a write (`cache:DF-9`,
            // `cache:TR-6`).
            |before, over| {
                let nothing = before.state.waiting.is_empty() && before.taken == 0;
                over.is(Kind::HasSynced) && before.plain.populated && nothing
            },
        ),
        scenario(
            "unreadable_store",
            "a deletion, a list and a resync meet a store that cannot be read",
            || {
                let config = Config::knows(&[(1, 1), (2, 1)]);
                Config { known: config.known.map(|store| store.unreadable()), ..config }
            },
            |stage| {
                let lister = stage.on("lister", |stage| stage.list(&[(2, 2)]));
                let consumer = stage.consumer("consumer");
                stage.delete((1, 2));
                stage.queue.resync();
                stage.end([lister, consumer]);
            },
            // The list comes first, and deletes objects that it cannot look up (`cache:DF-15`).
            |before, over| over.is(Kind::List) && !is_deleted(before, 1),
        ),
        scenario(
            "transformed",
            "a resync meets transformed objects of all kinds, and one object is refused",
            || Config { transform: true, ..Config::knows(&[(1, 101)]) },
            |stage| {
                let observer = stage.observer(1);
                let resyncer = stage.on("resyncer", |stage| stage.queue.resync());
                let refused = stage.queue.update((1, 13));
                assert!(refused.is_err(), "the transformer refuses version 13");
                stage.list(&[(1, 2), (2, 1)]);
                stage.delete((2, 2));
                let consumer = stage.consumer("consumer");
                stage.end([observer, resyncer, consumer]);
            },
            // A refused object has populated the queue, and nothing else has (`cache:DF-22`).
            |before, over| {
                let refused = before.plain.populated && !before.view.seen.contains_key(&2);
                over.is(Kind::HasSynced) && refused
            },
        ),
    ]
}

fn of_several() -> Vec<Scenario<DeltaFifo>> {
    vec![
        scenario(
            "two_consumers",
            "two consumers wait, and two objects change, one for each consumer",
            knows_3,
            |stage| {
                let poppers = [stage.popper("first"), stage.popper("second")];
                stage.add((2, 1));
                stage.delete((3, 2));
                stage.end(poppers);
            },
            |before, over| over.writes() && shared::all_sleep(before),
        ),
        scenario(
            "readers_between",
            "a reader looks at the queue while other threads write and pop",
            informer,
            |stage| {
                let reader = stage.on("reader", |stage| {
                    let _listed = stage.queue.list();
                    let _pending = stage.queue.get(&2);
                    let _many = stage.queue.len();
                });
                let consumer = stage.consumer("consumer");
                stage.add((2, 1));
                stage.update((2, 2));
                stage.add((1, 1));
                stage.end([reader, consumer]);
            },
            // A reader lists two objects (`cache:DF-28`).
            |before, over| matches!(over.op, Op::List(_)) && before.state.waiting.len() == 2,
        ),
        scenario(
            "list_races_changes",
            "a list arrives while one object is updated and another one is added",
            || Config::knows(&[(1, 1), (3, 1)]),
            |stage| {
                let writer = stage.on("writer", |stage| {
                    stage.update((3, 2));
                    stage.add((2, 1));
                });
                let consumer = stage.consumer("consumer");
                stage.list(&[(1, 2)]);
                stage.end([writer, consumer]);
            },
            // The list deletes an object that was updated and is known in an older state.
            |before, over| {
                let updated = matches!(pending(before, 3), [Delta::Updated(_)]);
                over.is(Kind::List) && updated && before.state.known.contains_key(&3)
            },
        ),
    ]
}
