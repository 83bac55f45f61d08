//! The end of a queue.

use seatrial_core::fifo::{Op, Ret};
use seatrial_core::runtime::Runtime;

use super::{Stage, some, steps};
use crate::events::fixtures::Bed;
use crate::fifo::ledger::{popped, writes};
use crate::fifo::{Fifo, History};
use crate::trial::{DynScenario, Scenario, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<Fifo>>> {
    vec![
        Box::new(CloseWhileTwoWait),
        Box::new(WriteAfterClose),
        Box::new(CloseBeforeFirstList),
        Box::new(CloseWithAnObjectLeft),
        Box::new(DeletedAfterClose),
    ]
}

/// Two consumers wait while an object is added and the queue closed (`cache:SC-1`, `SC-2`).
struct CloseWhileTwoWait;

impl Scenario<Fifo> for CloseWhileTwoWait {
    const NAME: &'static str = "close_while_two_wait";
    const SAYS: &'static str =
        "two consumers wait while an object is added and the queue is closed";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        Stage::new(world).close_while_two_wait();
    }

    /// Both sleep when the queue is closed.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            steps(event, |op| matches!(op, Op::Close(_))) && before.asleep.count(Bed::Pop) == 2
        })
    }
}

/// A closed queue takes in new objects and hands them out (`cache:QU-3`, `cache:QU-4`).
struct WriteAfterClose;

impl Scenario<Fifo> for WriteAfterClose {
    const NAME: &'static str = "write_after_close";
    const SAYS: &'static str =
        "writers go on after the queue is closed, and a caller asks if it is closed";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        Stage::new(world).write_after_close();
    }

    /// An object that was added after the end is handed out.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| before.closed && writes(event))
            && some(history, |before, event| before.closed && popped(event).is_some())
    }
}

/// The queue is closed before there was a list, and a caller waits for that list.
struct CloseBeforeFirstList;

impl Scenario<Fifo> for CloseBeforeFirstList {
    const NAME: &'static str = "close_before_first_list";
    const SAYS: &'static str = "a caller waits for the first list while the queue is closed";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        Stage::new(world).closed_under_a_waiter();
    }

    /// The caller was asleep, and is told that there will be no list.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            steps(event, |op| matches!(op, Op::Close(_))) && before.asleep.count(Bed::Sync) == 1
        }) && some(history, |_, event| {
            matches!(event.returned(), Some((_, Ret::WaitForSync(false))))
        })
    }
}

/// The queue is closed with the last object of the first list in it.
struct CloseWithAnObjectLeft;

impl Scenario<Fifo> for CloseWithAnObjectLeft {
    const NAME: &'static str = "close_with_an_object_left";
    const SAYS: &'static str =
        "the queue is closed while the first list is in it and a caller waits for that list";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        let stage = Stage::new(world);
        stage.list(&[(1, 1)]);
        stage.closed_under_a_waiter();
    }

    /// The waiter waits on although the queue is closed: the list is not processed yet.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            popped(event).is_some() && before.closed && before.asleep.count(Bed::Sync) == 1
        })
    }
}

/// The last object of a closed queue is deleted while a caller waits for a first list that is never
/// processed (`cache:FF-10`).
struct DeletedAfterClose;

impl Scenario<Fifo> for DeletedAfterClose {
    const NAME: &'static str = "deleted_after_close";
    const SAYS: &'static str =
        "a delete drains a closed queue; a caller waits for a first list that is never processed";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        let stage = Stage::new(world);
        stage.list(&[(1, 1), (2, 1)]);
        stage.list(&[(3, 1)]); // shorter, so it can stay unset
        let waiter = stage.waiter("waiter");
        stage.queue.close();
        stage.delete((3, 1));
        stage.join([waiter]);
    }

    /// The waiter is asleep, although it was woken when the queue was closed.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let deletes = steps(event, |op| matches!(op, Op::Delete(_)));
            deletes && before.closed && before.asleep.count(Bed::Sync) == 1
        })
    }
}
