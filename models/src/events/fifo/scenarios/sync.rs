//! The moment when the first list is processed, as other callers see it.

use seatrial_core::fifo::Op;
use seatrial_core::machine::Step;
use seatrial_core::runtime::Runtime;

use super::{Stage, head_is_stale, some, steps};
use crate::events::fixtures::Bed;
use crate::fifo::ledger::popped;
use crate::fifo::{Fifo, History};
use crate::queues::fixtures::waits;
use crate::trial::{DynScenario, Scenario, What, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<Fifo>>> {
    vec![
        Box::new(FirstListAwaited),
        Box::new(FirstListDeleted),
        Box::new(FirstListDeletedAndMore),
        Box::new(ListWithDuplicates),
        Box::new(SecondListBeforeDrain),
        Box::new(WriteBeforeFirstList),
        Box::new(SyncedAtOnce),
        Box::new(RefusedWrites),
    ]
}

/// A caller waits for the first list and then reads the store (`cache:SC-9`).
struct FirstListAwaited;

impl Scenario<Fifo> for FirstListAwaited {
    const NAME: &'static str = "first_list_awaited";
    const SAYS: &'static str = "two callers wait for the first list and read the consumer's store";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        Stage::new(world).first_list_awaited(&[(2, 1), (1, 1)]);
    }

    /// Both wait when the last place of the list is taken.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let last = popped(event).is_some() && before.spec.initial_left == 1;
            last && before.asleep.count(Bed::Sync) == 2
        })
    }
}

/// The only object of the first list is deleted before it is popped (`cache:SC-3`, `cache:FF-13`).
struct FirstListDeleted;

impl Scenario<Fifo> for FirstListDeleted {
    const NAME: &'static str = "first_list_deleted";
    const SAYS: &'static str =
        "the first list's only object is deleted before its pop; a caller waits for the list";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        let stage = Stage::new(world);
        stage.list(&[(1, 1)]);
        let waiter = stage.waiter("waiter");
        let consumer = stage.consumer("consumer");
        let observer = stage.observer(2);
        stage.delete((1, 2));
        stage.end([waiter, consumer, observer]);
    }

    /// The consumer skips the last place and goes to sleep while a caller waits.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let sleeps =
                matches!(event.what, What::Step { op: Op::Pop(_), outcome: Step::Wait { .. }, .. });
            sleeps && head_is_stale(before) && before.asleep.count(Bed::Sync) == 1
        })
    }
}

/// As [`FirstListDeleted`], with an object behind it (`cache:FF-13`, `cache:QU-20`).
struct FirstListDeletedAndMore;

impl Scenario<Fifo> for FirstListDeletedAndMore {
    const NAME: &'static str = "first_list_deleted_and_more";
    const SAYS: &'static str = "the same as first_list_deleted, and another object is added";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        let stage = Stage::new(world);
        stage.list(&[(1, 1)]);
        let waiter = stage.waiter("waiter");
        let popper = stage.popper("popper");
        stage.delete((1, 2));
        stage.add((2, 1));
        stage.end([waiter, popper]);
    }

    /// One pop skips the last place and hands the other object out while a caller waits.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            popped(event).is_some() && head_is_stale(before) && before.asleep.count(Bed::Sync) == 1
        })
    }
}

/// A list names an object twice.
struct ListWithDuplicates;

impl Scenario<Fifo> for ListWithDuplicates {
    const NAME: &'static str = "list_with_duplicates";
    const SAYS: &'static str =
        "the first list names an object twice; a caller waits for it, and asks again at the end";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        Stage::new(world).list_with_duplicates();
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            popped(event).is_some() && before.asleep.count(Bed::Sync) == 1
        })
    }
}

/// A second, shorter list comes before the first is processed (`cache:FF-10`, `cache:KD-28`).
struct SecondListBeforeDrain;

impl Scenario<Fifo> for SecondListBeforeDrain {
    const NAME: &'static str = "second_list_before_drain";
    const SAYS: &'static str = "a second, shorter list arrives while the first is popped";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        let stage = Stage::new(world);
        stage.list(&[(2, 1), (1, 1)]);
        let consumer = stage.consumer("consumer");
        let observer = stage.observer(3);
        stage.list(&[(1, 2)]);
        stage.end([observer, consumer]);
    }

    /// The queue is empty, and places of the first list still count as not processed.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let empty = before.spec.queue.is_empty() && before.in_process.is_empty();
            steps(event, |op| matches!(op, Op::HasSynced(_))) && empty && before.spec.populated
        })
    }
}

/// A write comes before the first list, or not (`cache:QU-15`).
struct WriteBeforeFirstList;

impl Scenario<Fifo> for WriteBeforeFirstList {
    const NAME: &'static str = "write_before_first_list";
    const SAYS: &'static str = "an object is added before or after the first list";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        Stage::new(world).write_before_first_list(&[(2, 1), (1, 2)]);
    }

    /// The queue counts as synced at once, with the list still waiting.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let at_once = before.spec.has_synced() && before.spec.items.len() == 2;
            steps(event, |op| matches!(op, Op::HasSynced(_))) && at_once
        })
    }
}

/// An object without a key is refused, and is no write (`cache:QU-19`).
struct RefusedWrites;

impl Scenario<Fifo> for RefusedWrites {
    const NAME: &'static str = "refused_writes";
    const SAYS: &'static str = "objects without a key are refused before the first list";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        let stage = Stage::new(world);
        let consumer = stage.consumer("consumer");
        let observer = stage.observer(2);
        assert!(stage.queue.add((0, 1)).is_err(), "key 0 is none");
        assert!(stage.queue.delete((0, 1)).is_err(), "key 0 is none");
        stage.list_in_vain(&[(1, 1)]);
        stage.list(&[(2, 1)]);
        stage.end([consumer, observer]);
    }

    /// A caller asks before the list that is accepted, and after it.
    fn reaches(history: &History) -> bool {
        let asks = |populated: bool| {
            some(history, |before, event| {
                let asks = steps(event, |op| matches!(op, Op::HasSynced(_)));
                asks && before.spec.populated == populated
            })
        };
        asks(false) && asks(true)
    }
}

/// The first write leaves nothing to process (`cache:QU-17`).
struct SyncedAtOnce;

impl Scenario<Fifo> for SyncedAtOnce {
    const NAME: &'static str = "synced_at_once";
    const SAYS: &'static str =
        "a caller waits for the first list, which is empty, or a single write comes instead";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        Stage::new(world).synced_at_once();
    }

    /// The caller sleeps.
    fn reaches(history: &History) -> bool {
        waits(history) > 0
    }
}
