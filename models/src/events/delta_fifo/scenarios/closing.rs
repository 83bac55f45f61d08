//! The end of a queue.

use seatrial_core::delta_fifo::{Op, Ret};
use seatrial_core::runtime::Runtime;

use super::{Stage, some};
use crate::delta_fifo::{DeltaFifo, History};
use crate::events::fixtures::Bed;
use crate::trial::{DynScenario, Scenario, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<DeltaFifo>>> {
    vec![
        Box::new(CloseWhileTwoWait),
        Box::new(WriteAfterClose),
        Box::new(CloseBeforeFirstList),
        Box::new(OnlyResynced),
        Box::new(CloseWithAnEntryLeft),
    ]
}

/// Two consumers wait while an object is added and the queue closed (`cache:SC-1`, `SC-2`).
struct CloseWhileTwoWait;

impl Scenario<DeltaFifo> for CloseWhileTwoWait {
    const NAME: &'static str = "close_while_two_wait";
    const SAYS: &'static str =
        "two consumers wait while an object is added and the queue is closed";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        Stage::informer(world, []).close_while_two_wait();
    }

    /// Both sleep when the queue is closed.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let both = before.asleep.count(Bed::Pop) == 2;
            matches!(over.op, Op::Close(_)) && both
        })
    }
}

/// A closed queue takes in new objects and hands them out (`cache:QU-3`, `cache:QU-4`).
struct WriteAfterClose;

impl Scenario<DeltaFifo> for WriteAfterClose {
    const NAME: &'static str = "write_after_close";
    const SAYS: &'static str =
        "writers go on after the queue is closed, and a caller asks if it is closed";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        Stage::informer(world, []).write_after_close();
    }

    /// An entry that was added after the end is handed out.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| before.closed && over.listed().is_some())
            && some(history, |before, over| before.closed && over.popped().is_some())
    }
}

/// The queue is closed before there was a list, and a caller waits for that list.
struct CloseBeforeFirstList;

impl Scenario<DeltaFifo> for CloseBeforeFirstList {
    const NAME: &'static str = "close_before_first_list";
    const SAYS: &'static str = "a caller waits for the first list while the queue is closed";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        Stage::informer(world, []).closed_under_a_waiter();
    }

    /// The caller was asleep, and is told that there will be no list.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            matches!(over.op, Op::Close(_)) && before.asleep.count(Bed::Sync) > 0
        }) && some(history, |_, over| matches!(over.ret, Ret::WaitForSync(false)))
    }
}

/// The queue is closed with the last entry of the first list in it.
struct CloseWithAnEntryLeft;

impl Scenario<DeltaFifo> for CloseWithAnEntryLeft {
    const NAME: &'static str = "close_with_an_entry_left";
    const SAYS: &'static str =
        "the queue is closed while the first list is in it and a caller waits for that list";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let stage = Stage::informer(world, []);
        stage.list(&[(1, 1)]);
        stage.closed_under_a_waiter();
    }

    /// The waiter waits on although the queue is closed: the list is not processed yet.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let left = over.popped().is_some() && before.closed;
            left && before.asleep.count(Bed::Sync) > 0
        })
    }
}

/// A closed queue that was never used is emptied: there will be no first list (`cache:QU-14`).
struct OnlyResynced;

impl Scenario<DeltaFifo> for OnlyResynced {
    const NAME: &'static str = "only_resynced";
    const SAYS: &'static str =
        "a resync alone fills a queue, it is closed, and a caller waits for the first list";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        Stage::informer(world, [(1, 1)]).only_resynced();
    }

    /// The caller sleeps when the last entry is taken.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| over.popped().is_some() && before.asleep.count(Bed::Sync) == 1)
    }
}
