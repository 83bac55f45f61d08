//! Writers against a consumer.

use seatrial_core::delta_fifo::{Delete, Delta, Op};

use super::{Stage, some, store};
use crate::delta_fifo::DeltaFifo;
use crate::delta_fifo::ledger::DeltaLedger;
use crate::delta_fifo::tried::{Config, Over};
use crate::events::fixtures::Bed;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<DeltaFifo>> {
    vec![
        add_and_delete(),
        update_while_pending(),
        deleted_twice(),
        deleted_and_back(),
        deleted_unseen_twice(),
        two_consumers(),
        delete_unknown(),
        unreadable_store(),
        readers_between(),
        transformed(),
    ]
}

fn deletes(over: &Over<'_>, key: u8) -> bool {
    matches!(over.op, Op::Delete(Delete { key: Some(named), .. }) if *named.key() == key)
}

/// Tells whether the last pending change of an object is its deletion.
fn is_deleted(before: &DeltaLedger, key: u8) -> bool {
    before.state.deltas(key).last().is_some_and(Delta::is_deleted)
}

/// An object comes and goes while a consumer applies (`cache:SC-5`).
fn add_and_delete() -> Scenario<DeltaFifo> {
    Scenario::new(
        "add_and_delete",
        "an object is added and deleted while a consumer applies changes",
        |world| {
            let stage = Stage::informer(world, []);
            let consumer = stage.consumer("consumer");
            stage.add((1, 1));
            stage.delete((1, 2));
            stage.end([consumer]);
        },
        // The deletion finds the object in the store, and nothing pending.
        |history| {
            some(history, |before, over| deletes(over, 1) && before.state.known.contains_key(&1))
        },
    )
}

/// Two writers change two objects while a consumer applies.
fn update_while_pending() -> Scenario<DeltaFifo> {
    Scenario::new(
        "update_while_pending",
        "an object is updated while its addition waits, and another object waits behind it",
        |world| {
            let stage = Stage::informer(world, [(2, 1)]);
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
        // The object with two changes is popped while the other waits behind it.
        |history| {
            some(history, |before, over| {
                let popped = over.popped().is_some_and(|popped| popped.key == 1);
                popped && before.state.deltas(1).len() == 3 && before.state.is_pending(2)
            })
        },
    )
}

/// Two writers saw an object go, and a list misses the object (`cache:DF-6`).
fn deleted_twice() -> Scenario<DeltaFifo> {
    Scenario::new(
        "deleted_twice",
        "two writers delete an object, and a list lacks it as well",
        |world| {
            let stage = Stage::informer(world, [(1, 1)]);
            let first = stage.on("first", |stage| stage.delete((1, 2)));
            let second = stage.on("second", |stage| stage.delete((1, 3)));
            stage.list(&[]);
            stage.join([first, second]);
            let consumer = stage.consumer("consumer");
            stage.end([consumer]);
        },
        // A seen deletion follows another one.
        |history| {
            some(history, |before, over| {
                let seen = matches!(
                    before.state.deltas(1).last(),
                    Some(Delta::Deleted(last)) if !last.is_tombstone()
                );
                deletes(over, 1) && seen
            })
        },
    )
}

/// An object goes, comes back and goes again before a consumer looks.
fn deleted_and_back() -> Scenario<DeltaFifo> {
    Scenario::new(
        "deleted_and_back",
        "an object is deleted, added and deleted again while a consumer pops",
        |world| {
            let stage = Stage::informer(world, [(1, 1)]);
            let consumer = stage.consumer("consumer");
            stage.delete((1, 2));
            stage.add((1, 3));
            stage.delete((1, 4));
            stage.end([consumer]);
        },
        // Both deletions and the addition are handed out together.
        |history| {
            some(history, |_, over| over.popped().is_some_and(|popped| popped.deltas.len() == 3))
        },
    )
}

/// Deletions that were missed meet each other, and one that was seen (`cache:DF-6`).
fn deleted_unseen_twice() -> Scenario<DeltaFifo> {
    Scenario::new(
        "deleted_unseen_twice",
        "two writers report an object gone without having seen its deletion, and a third saw it",
        |world| {
            let stage = Stage::informer(world, [(1, 1)]);
            let stale = stage.on("stale", |stage| stage.delete_unseen(1, Some((1, 1))));
            let blind = stage.on("blind", |stage| stage.delete_unseen(1, None));
            stage.delete((1, 2));
            stage.join([stale, blind]);
            let consumer = stage.consumer("consumer");
            stage.end([consumer]);
        },
        // A tombstone follows a tombstone.
        |history| {
            some(history, |before, over| {
                let unseen = |delta: &Delta<_, _>| matches!(delta, Delta::Deleted(last) if last.is_tombstone());
                let both = unseen(before.state.deltas(1).last().unwrap_or(&Delta::Sync((1, 1))))
                    && over.state.deltas(1).last().is_some_and(unseen);
                deletes(over, 1) && both
            })
        },
    )
}

/// Two consumers wait for one entry each.
fn two_consumers() -> Scenario<DeltaFifo> {
    Scenario::new(
        "two_consumers",
        "two consumers wait, and two objects change, one for each consumer",
        |world| {
            let stage = Stage::informer(world, [(3, 1)]);
            let poppers = [stage.popper("first"), stage.popper("second")];
            stage.add((2, 1));
            stage.delete((3, 2));
            stage.end(poppers);
        },
        // Both sleep when the first object comes.
        |history| {
            some(history, |before, over| {
                let both = before.asleep.count(Bed::Pop) == 2;
                over.writes() && both
            })
        },
    )
}

/// An object that neither the queue nor the store has is deleted (`cache:DF-9`, `cache:TR-6`).
fn delete_unknown() -> Scenario<DeltaFifo> {
    Scenario::new(
        "delete_unknown",
        "an object is deleted before or after another writer adds it",
        |world| {
            let stage = Stage::new(world, Config::default());
            let observer = stage.observer(2);
            let writer = stage.on("writer", |stage| stage.delete((1, 2)));
            stage.add((1, 1));
            let consumer = stage.consumer("consumer");
            stage.end([writer, observer, consumer]);
        },
        // The deletion comes first, and a reader can see that it counts as a write.
        |history| {
            some(history, |before, over| {
                matches!(over.op, Op::HasSynced(_))
                    && before.spec.populated
                    && before.spec.pending.is_empty()
                    && before.handed.is_empty()
            })
        },
    )
}

/// The store of the consumer cannot be read (`cache:DF-9`, `cache:DF-15`).
fn unreadable_store() -> Scenario<DeltaFifo> {
    Scenario::new(
        "unreadable_store",
        "a deletion, a list and a resync meet a store that cannot be read",
        |world| {
            let known = store([(1, 1), (2, 1)]).unreadable();
            let stage = Stage::new(world, Config::informer(known));
            let lister = stage.on("lister", |stage| stage.list(&[(2, 2)]));
            let consumer = stage.consumer("consumer");
            stage.delete((1, 2));
            stage.queue.resync();
            stage.end([lister, consumer]);
        },
        // The list comes first, and deletes objects that it cannot look up.
        |history| some(history, |before, over| over.listed().is_some() && !is_deleted(before, 1)),
    )
}

/// Readers look while writers write (`cache:DF-28`).
fn readers_between() -> Scenario<DeltaFifo> {
    Scenario::new(
        "readers_between",
        "a reader looks at the queue while other threads write and pop",
        |world| {
            let stage = Stage::informer(world, []);
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
        // A reader lists two objects.
        |history| {
            some(history, |before, over| {
                matches!(over.op, Op::List(_)) && before.state.pending.len() == 2
            })
        },
    )
}

/// Objects are transformed on their way in, and never again (`cache:DF-22`).
fn transformed() -> Scenario<DeltaFifo> {
    Scenario::new(
        "transformed",
        "a resync meets transformed objects of all kinds, and one object is refused",
        |world| {
            let config = Config { transform: true, ..Config::informer(store([(1, 101)])) };
            let stage = Stage::new(world, config);
            let observer = stage.observer(1);
            let resyncer = stage.on("resyncer", |stage| stage.queue.resync());
            let refused = stage.queue.update((1, 13));
            assert!(refused.is_err(), "the transformer refuses version 13");
            stage.list(&[(1, 2), (2, 1)]);
            stage.delete((2, 2));
            let consumer = stage.consumer("consumer");
            stage.end([observer, resyncer, consumer]);
        },
        // A refused object has populated the queue, and nothing else has.
        |history| {
            some(history, |before, over| {
                let asked = matches!(over.op, Op::HasSynced(_)) && before.spec.populated;
                asked && !before.view.contains_key(&2)
            })
        },
    )
}
