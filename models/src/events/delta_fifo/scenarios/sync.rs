//! The moment when the first list is processed, as other callers see it.

use seatrial_core::delta_fifo::Op;
use seatrial_core::runtime::Runtime;

use super::{Stage, some};
use crate::delta_fifo::{DeltaFifo, History};
use crate::events::fixtures::Bed;
use crate::queues::fixtures::waits;
use crate::trial::{DynScenario, Scenario, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<DeltaFifo>>> {
    vec![
        Box::new(FirstListAwaited),
        Box::new(SyncedWhilePopping),
        Box::new(ListWithDuplicates),
        Box::new(SecondListBeforeDrain),
        Box::new(WriteBeforeFirstList),
        Box::new(SyncedAtOnce),
    ]
}

/// A caller waits for the first list and then reads the store (`cache:SC-9`).
struct FirstListAwaited;

impl Scenario<DeltaFifo> for FirstListAwaited {
    const NAME: &'static str = "first_list_awaited";
    const SAYS: &'static str = "two callers wait for the first list and read the consumer's store";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        Stage::informer(world, []).first_list_awaited(&[(1, 1), (2, 1)]);
    }

    /// Both wait when the last entry of the list is taken.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let both = before.asleep.count(Bed::Sync) == 2;
            over.popped().is_some() && before.batch.len() == 1 && both
        })
    }
}

/// A caller asks while the first list, with a deletion in it, is being popped.
struct SyncedWhilePopping;

impl Scenario<DeltaFifo> for SyncedWhilePopping {
    const NAME: &'static str = "synced_while_popping";
    const SAYS: &'static str =
        "a caller asks about the first list while its objects and its deletions are popped";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let stage = Stage::informer(world, [(3, 1)]);
        let consumer = stage.consumer("consumer");
        let observer = stage.observer(3);
        stage.list(&[(1, 1)]);
        stage.end([observer, consumer]);
    }

    /// A caller asks when the listed object is processed and the deletion is not.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let only_the_deletion = before.batch.iter().eq([&3]);
            matches!(over.op, Op::HasSynced(_)) && only_the_deletion
        })
    }
}

/// A list names an object twice (`cache:DF-19`).
struct ListWithDuplicates;

impl Scenario<DeltaFifo> for ListWithDuplicates {
    const NAME: &'static str = "list_with_duplicates";
    const SAYS: &'static str =
        "the first list names an object twice; a caller waits for it, and asks again at the end";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        Stage::informer(world, []).list_with_duplicates();
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let twice = over.popped().is_some_and(|popped| popped.deltas.len() == 2);
            twice && before.asleep.count(Bed::Sync) > 0
        })
    }
}

/// A second list comes before the first is processed (`cache:DF-32`).
struct SecondListBeforeDrain;

impl Scenario<DeltaFifo> for SecondListBeforeDrain {
    const NAME: &'static str = "second_list_before_drain";
    const SAYS: &'static str =
        "a second list arrives while the first is popped and a caller asks if it is processed";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let stage = Stage::informer(world, []);
        stage.list(&[(1, 1)]);
        let consumer = stage.consumer("consumer");
        let observer = stage.observer(3);
        stage.list(&[(1, 2), (2, 1)]);
        stage.end([observer, consumer]);
    }

    /// A caller asks when the first list is processed and the second is not.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            matches!(over.op, Op::HasSynced(_)) && before.synced && before.spec.pending.len() == 2
        })
    }
}

/// A write comes before the first list, or not (`cache:QU-15`).
struct WriteBeforeFirstList;

impl Scenario<DeltaFifo> for WriteBeforeFirstList {
    const NAME: &'static str = "write_before_first_list";
    const SAYS: &'static str = "an object is added before or after the first list";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        Stage::informer(world, []).write_before_first_list(&[(1, 2), (2, 1)]);
    }

    /// The queue counts as synced at once, with the list still pending.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let at_once = before.has_synced() && before.spec.pending.len() == 2;
            matches!(over.op, Op::HasSynced(_)) && at_once && before.handed.is_empty()
        })
    }
}

/// The first write leaves nothing to process (`cache:QU-17`).
struct SyncedAtOnce;

impl Scenario<DeltaFifo> for SyncedAtOnce {
    const NAME: &'static str = "synced_at_once";
    const SAYS: &'static str =
        "a caller waits for the first list, which is empty, or a single write comes instead";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        Stage::informer(world, []).synced_at_once();
    }

    /// The caller sleeps.
    fn reaches(history: &History) -> bool {
        waits(history) > 0
    }
}
