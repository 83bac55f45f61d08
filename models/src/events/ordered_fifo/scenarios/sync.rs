//! The moment when the first list is processed, as other callers see it.

use seatrial_core::ordered_fifo::{Event, Op};
use seatrial_core::runtime::Runtime;

use super::{Config, Stage, is_unlocked, lists, some};
use crate::events::fixtures::Bed;
use crate::ordered_fifo::{History, OrderedFifo};
use crate::queues::fixtures::waits;
use crate::trial::{DynScenario, Scenario, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<OrderedFifo>>> {
    vec![
        Box::new(FirstListAwaited),
        Box::new(FirstListAwaitedUnlocked),
        Box::new(ResyncBeforeFirstList),
        Box::new(WriteBeforeFirstList),
        Box::new(SyncedAtOnce),
        Box::new(DeleteBeforeFirstList),
        Box::new(RefusedWrites),
        Box::new(SecondList),
    ]
}

/// Two wait for the first list and then read the store (`cache:SC-9`).
struct FirstListAwaited;

impl Scenario<OrderedFifo> for FirstListAwaited {
    const NAME: &'static str = "first_list_awaited";
    const SAYS: &'static str = "two callers wait for the first list and read the consumer's store";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        Stage::plain(world, []).first_list_awaited(&[(2, 1), (1, 1)]);
    }

    /// Both wait when the last event of the list is taken.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let last = over.taken().is_some() && before.spec.initial_left == 1;
            last && before.asleep.count(Bed::Sync) == 2
        })
    }
}

/// As [`FirstListAwaited`], with the lock released while the list is processed.
struct FirstListAwaitedUnlocked;

impl Scenario<OrderedFifo> for FirstListAwaitedUnlocked {
    const NAME: &'static str = "first_list_awaited_unlocked";
    const SAYS: &'static str =
        "one caller waits for the first list and another one asks about it, lock released";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        let stage = Stage::new(world, Config::informer());
        let waiter = stage.reader_of_the_first_list("waiter", 2);
        let consumer = stage.consumer("consumer");
        stage.list(&[(2, 1), (1, 1)]);
        let _says = stage.queue.has_synced();
        stage.end([waiter, consumer]);
    }

    /// A caller asks while the list is processed.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| matches!(over.op, Op::HasSynced(_)) && is_unlocked(before))
    }
}

/// Events taken before the first list came belong to no list (`cache:SC-12`, `cache:RF-17`).
struct ResyncBeforeFirstList;

impl Scenario<OrderedFifo> for ResyncBeforeFirstList {
    const NAME: &'static str = "resync_before_first_list";
    const SAYS: &'static str =
        "the first list arrives while a resync is processed with the lock released";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        let stage = Stage::new(world, Config::informer());
        let consumer = stage.on("consumer", |stage| {
            let _first = stage.pop();
            let _says = stage.queue.has_synced();
            while stage.pop().is_ok() {}
        });
        stage.resync();
        stage.list(&[(1, 1)]);
        stage.end([consumer]);
    }

    /// The list comes while the resync is in process, and a caller asks before the list is taken.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| lists(over.op) && is_unlocked(before))
            && some(history, |before, over| {
                let waits = matches!(before.state.events.first(), Some(Event::ReplacedAll(_)));
                matches!(over.op, Op::HasSynced(_)) && waits
            })
    }
}

/// A write comes before the first list, or not (`cache:QU-15`).
struct WriteBeforeFirstList;

impl Scenario<OrderedFifo> for WriteBeforeFirstList {
    const NAME: &'static str = "write_before_first_list";
    const SAYS: &'static str = "an object is added before or after the first list";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        Stage::plain(world, []).write_before_first_list(&[(2, 1), (1, 2)]);
    }

    /// The queue counts as synced at once, with the list still waiting.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let at_once = before.spec.has_synced() && before.state.events.len() >= 2;
            matches!(over.op, Op::HasSynced(_)) && at_once
        })
    }
}

/// The deletion of an unknown object is a write, too (`cache:QU-14`).
struct DeleteBeforeFirstList;

impl Scenario<OrderedFifo> for DeleteBeforeFirstList {
    const NAME: &'static str = "delete_before_first_list";
    const SAYS: &'static str = "an unknown object is deleted before the first list";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        let stage = Stage::plain(world, []);
        let observer = stage.observer(2);
        stage.delete_unseen(1, None);
        stage.list(&[(2, 1)]);
        let consumer = stage.consumer("consumer");
        stage.end([observer, consumer]);
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            matches!(over.op, Op::HasSynced(_)) && before.state.events.len() == 2
        })
    }
}

/// A refused object counts as a write; a refused list does not (`cache:QU-19`).
struct RefusedWrites;

impl Scenario<OrderedFifo> for RefusedWrites {
    const NAME: &'static str = "refused_writes";
    const SAYS: &'static str =
        "a list is refused, then an object without a key, and then a good list arrives";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        let stage = Stage::plain(world, []);
        let observer = stage.observer(2);
        stage.list_in_vain(&[(1, 1)]);
        assert!(stage.queue.add((0, 1)).is_err(), "key 0 is none");
        stage.list(&[(2, 1)]);
        let consumer = stage.consumer("consumer");
        stage.end([observer, consumer]);
    }

    /// A caller asks before the refused object and after it.
    fn reaches(history: &History) -> bool {
        let asks = |populated: bool| {
            some(history, |before, over| {
                matches!(over.op, Op::HasSynced(_)) && before.spec.populated == populated
            })
        };
        asks(false) && asks(true)
    }
}

/// Only the first list counts (`cache:QU-16`).
struct SecondList;

impl Scenario<OrderedFifo> for SecondList {
    const NAME: &'static str = "second_list";
    const SAYS: &'static str = "a second list arrives before or after the first one is processed";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        let stage = Stage::plain(world, []);
        let consumer = stage.consumer("consumer");
        let observer = stage.observer(2);
        stage.list(&[(1, 1)]);
        stage.list(&[(1, 2), (2, 1)]);
        stage.end([consumer, observer]);
        let _still = stage.queue.has_synced();
    }

    /// The second list waits when the first was processed, and a caller asks.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let waits = before.spec.has_synced() && before.state.events.len() == 2;
            matches!(over.op, Op::HasSynced(_)) && waits
        })
    }
}

/// The first write leaves nothing to process (`cache:QU-17`).
struct SyncedAtOnce;

impl Scenario<OrderedFifo> for SyncedAtOnce {
    const NAME: &'static str = "synced_at_once";
    const SAYS: &'static str =
        "a caller waits for the first list, which is empty, or a single write comes instead";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        Stage::plain(world, []).synced_at_once();
    }

    /// The caller sleeps.
    fn reaches(history: &History) -> bool {
        waits(history) > 0
    }
}
