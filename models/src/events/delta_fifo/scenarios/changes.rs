//! Writers against a consumer.

use seatrial_core::delta_fifo::{Delete, Delta, Op};
use seatrial_core::runtime::Runtime;

use super::{Stage, some, store};
use crate::delta_fifo::ledger::DeltaLedger;
use crate::delta_fifo::tried::{Config, Over};
use crate::delta_fifo::{DeltaFifo, History};
use crate::events::fixtures::Bed;
use crate::trial::{DynScenario, Scenario, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<DeltaFifo>>> {
    vec![
        Box::new(AddAndDelete),
        Box::new(UpdateWhilePending),
        Box::new(DeletedTwice),
        Box::new(DeletedAndBack),
        Box::new(DeletedUnseenTwice),
        Box::new(TwoConsumers),
        Box::new(DeleteUnknown),
        Box::new(UnreadableStore),
        Box::new(ReadersBetween),
        Box::new(Transformed),
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
struct AddAndDelete;

impl Scenario<DeltaFifo> for AddAndDelete {
    const NAME: &'static str = "add_and_delete";
    const SAYS: &'static str = "an object is added and deleted while a consumer applies changes";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let stage = Stage::informer(world, []);
        let consumer = stage.consumer("consumer");
        stage.add((1, 1));
        stage.delete((1, 2));
        stage.end([consumer]);
    }

    /// The deletion finds the object in the store, and nothing pending.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| deletes(over, 1) && before.state.known.contains_key(&1))
    }
}

/// Two writers change two objects while a consumer applies.
struct UpdateWhilePending;

impl Scenario<DeltaFifo> for UpdateWhilePending {
    const NAME: &'static str = "update_while_pending";
    const SAYS: &'static str =
        "an object is updated while its addition waits, and another object waits behind it";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
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
    }

    /// The object with two changes is popped while the other waits behind it.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let popped = over.popped().is_some_and(|popped| popped.key == 1);
            popped && before.state.deltas(1).len() == 3 && before.state.is_pending(2)
        })
    }
}

/// Two writers saw an object go, and a list misses the object (`cache:DF-6`).
struct DeletedTwice;

impl Scenario<DeltaFifo> for DeletedTwice {
    const NAME: &'static str = "deleted_twice";
    const SAYS: &'static str = "two writers delete an object, and a list lacks it as well";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let stage = Stage::informer(world, [(1, 1)]);
        let first = stage.on("first", |stage| stage.delete((1, 2)));
        let second = stage.on("second", |stage| stage.delete((1, 3)));
        stage.list(&[]);
        stage.join([first, second]);
        let consumer = stage.consumer("consumer");
        stage.end([consumer]);
    }

    /// A seen deletion follows another one.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let seen = matches!(
                before.state.deltas(1).last(),
                Some(Delta::Deleted(last)) if !last.is_tombstone()
            );
            deletes(over, 1) && seen
        })
    }
}

/// An object goes, comes back and goes again before a consumer looks.
struct DeletedAndBack;

impl Scenario<DeltaFifo> for DeletedAndBack {
    const NAME: &'static str = "deleted_and_back";
    const SAYS: &'static str =
        "an object is deleted, added and deleted again while a consumer pops";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let stage = Stage::informer(world, [(1, 1)]);
        let consumer = stage.consumer("consumer");
        stage.delete((1, 2));
        stage.add((1, 3));
        stage.delete((1, 4));
        stage.end([consumer]);
    }

    /// Both deletions and the addition are handed out together.
    fn reaches(history: &History) -> bool {
        some(history, |_, over| over.popped().is_some_and(|popped| popped.deltas.len() == 3))
    }
}

/// Deletions that were missed meet each other, and one that was seen (`cache:DF-6`).
struct DeletedUnseenTwice;

impl Scenario<DeltaFifo> for DeletedUnseenTwice {
    const NAME: &'static str = "deleted_unseen_twice";
    const SAYS: &'static str =
        "two writers report an object gone without having seen its deletion, and a third saw it";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let stage = Stage::informer(world, [(1, 1)]);
        let stale = stage.on("stale", |stage| stage.delete_unseen(1, Some((1, 1))));
        let blind = stage.on("blind", |stage| stage.delete_unseen(1, None));
        stage.delete((1, 2));
        stage.join([stale, blind]);
        let consumer = stage.consumer("consumer");
        stage.end([consumer]);
    }

    /// A tombstone follows a tombstone.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let unseen =
                |delta: &Delta<_, _>| matches!(delta, Delta::Deleted(last) if last.is_tombstone());
            let both = unseen(before.state.deltas(1).last().unwrap_or(&Delta::Sync((1, 1))))
                && over.state.deltas(1).last().is_some_and(unseen);
            deletes(over, 1) && both
        })
    }
}

/// Two consumers wait for one entry each.
struct TwoConsumers;

impl Scenario<DeltaFifo> for TwoConsumers {
    const NAME: &'static str = "two_consumers";
    const SAYS: &'static str = "two consumers wait, and two objects change, one for each consumer";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let stage = Stage::informer(world, [(3, 1)]);
        let poppers = [stage.popper("first"), stage.popper("second")];
        stage.add((2, 1));
        stage.delete((3, 2));
        stage.end(poppers);
    }

    /// Both sleep when the first object comes.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let both = before.asleep.count(Bed::Pop) == 2;
            over.writes() && both
        })
    }
}

/// An object that neither the queue nor the store has is deleted (`cache:DF-9`, `cache:TR-6`).
struct DeleteUnknown;

impl Scenario<DeltaFifo> for DeleteUnknown {
    const NAME: &'static str = "delete_unknown";
    const SAYS: &'static str = "an object is deleted before or after another writer adds it";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let stage = Stage::new(world, Config::default());
        let observer = stage.observer(2);
        let writer = stage.on("writer", |stage| stage.delete((1, 2)));
        stage.add((1, 1));
        let consumer = stage.consumer("consumer");
        stage.end([writer, observer, consumer]);
    }

    /// The deletion comes first, and a reader can see that it counts as a write.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            matches!(over.op, Op::HasSynced(_))
                && before.spec.populated
                && before.spec.pending.is_empty()
                && before.handed.is_empty()
        })
    }
}

/// The store of the consumer cannot be read (`cache:DF-9`, `cache:DF-15`).
struct UnreadableStore;

impl Scenario<DeltaFifo> for UnreadableStore {
    const NAME: &'static str = "unreadable_store";
    const SAYS: &'static str = "a deletion, a list and a resync meet a store that cannot be read";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let known = store([(1, 1), (2, 1)]).unreadable();
        let stage = Stage::new(world, Config::informer(known));
        let lister = stage.on("lister", |stage| stage.list(&[(2, 2)]));
        let consumer = stage.consumer("consumer");
        stage.delete((1, 2));
        stage.queue.resync();
        stage.end([lister, consumer]);
    }

    /// The list comes first, and deletes objects that it cannot look up.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| over.listed().is_some() && !is_deleted(before, 1))
    }
}

/// Readers look while writers write (`cache:DF-28`).
struct ReadersBetween;

impl Scenario<DeltaFifo> for ReadersBetween {
    const NAME: &'static str = "readers_between";
    const SAYS: &'static str = "a reader looks at the queue while other threads write and pop";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
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
    }

    /// A reader lists two objects.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            matches!(over.op, Op::List(_)) && before.state.pending.len() == 2
        })
    }
}

/// Objects are transformed on their way in, and never again (`cache:DF-22`).
struct Transformed;

impl Scenario<DeltaFifo> for Transformed {
    const NAME: &'static str = "transformed";
    const SAYS: &'static str =
        "a resync meets transformed objects of all kinds, and one object is refused";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
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
    }

    /// A refused object has populated the queue, and nothing else has.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let asked = matches!(over.op, Op::HasSynced(_)) && before.spec.populated;
            asked && !before.view.contains_key(&2)
        })
    }
}
