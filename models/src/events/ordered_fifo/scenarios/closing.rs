//! The end of a queue.

use seatrial_core::ordered_fifo::Op;
use seatrial_core::runtime::Runtime;

use super::{Config, Stage, is_unlocked, some};
use crate::events::fixtures::Bed;
use crate::ordered_fifo::{History, OrderedFifo};
use crate::trial::{DynScenario, Scenario, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<OrderedFifo>>> {
    vec![
        Box::new(CloseWhileTwoWait),
        Box::new(CloseWhileProcessing),
        Box::new(CloseWithEventsLeft),
        Box::new(WriteAfterClose),
        Box::new(CloseBeforeFirstList),
        Box::new(OnlyResynced),
    ]
}

/// Two consumers wait while an object is added and the queue closed (`cache:SC-1`, `SC-2`).
struct CloseWhileTwoWait;

impl Scenario<OrderedFifo> for CloseWhileTwoWait {
    const NAME: &'static str = "close_while_two_wait";
    const SAYS: &'static str =
        "two consumers wait while an object is added and the queue is closed";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        Stage::plain(world, []).close_while_two_wait();
    }

    /// Both sleep when the queue is closed.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            matches!(over.op, Op::Close(_)) && before.asleep.count(Bed::Pop) == 2
        })
    }
}

/// The queue is closed while one consumer waits for another to finish.
struct CloseWhileProcessing;

impl Scenario<OrderedFifo> for CloseWhileProcessing {
    const NAME: &'static str = "close_while_processing";
    const SAYS: &'static str =
        "the queue is closed while one consumer processes, lock released, and another one waits";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        let stage = Stage::new(world, Config::informer());
        let consumers = ["first", "second"].map(|name| stage.consumer(name));
        stage.add((1, 1));
        stage.add((2, 1));
        stage.queue.close();
        stage.world.quiesce();
        stage.join(consumers);
    }

    /// The queue is closed while one processes and the other sleeps.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let other_waits = is_unlocked(before) && before.asleep.count(Bed::Pop) == 1;
            matches!(over.op, Op::Close(_)) && other_waits && before.state.events.len() == 1
        })
    }
}

/// A closed queue hands out the remaining events.
struct CloseWithEventsLeft;

impl Scenario<OrderedFifo> for CloseWithEventsLeft {
    const NAME: &'static str = "close_with_events_left";
    const SAYS: &'static str =
        "the queue is closed with events left, and a caller waits for the first list";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        let stage = Stage::plain(world, []);
        let waiter = stage.waiter("waiter");
        let consumer = stage.consumer("consumer");
        stage.list(&[(1, 1), (2, 1)]);
        stage.queue.close();
        stage.join([waiter, consumer]);
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, over| over.taken().is_some() && before.closed)
    }
}

/// A closed queue takes in new events and hands them out (`cache:QU-3`, `cache:QU-4`).
struct WriteAfterClose;

impl Scenario<OrderedFifo> for WriteAfterClose {
    const NAME: &'static str = "write_after_close";
    const SAYS: &'static str = "writers go on after the queue is closed";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        let stage = Stage::new(world, Config::atomic());
        let consumer = stage.consumer("consumer");
        let writer = stage.on("writer", |stage| {
            stage.add((1, 1));
            stage.list(&[(2, 1)]);
        });
        stage.queue.close();
        stage.join([writer, consumer]);
        while stage.pop().is_ok() {} // what came after the consumer left
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, over| before.closed && over.writes())
            && some(history, |before, over| before.closed && over.taken().is_some())
    }
}

/// The queue is closed before there was a list, and a caller waits for that list.
struct CloseBeforeFirstList;

impl Scenario<OrderedFifo> for CloseBeforeFirstList {
    const NAME: &'static str = "close_before_first_list";
    const SAYS: &'static str = "a caller waits for the first list while the queue is closed";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        let stage = Stage::new(world, Config::informer());
        let waiter = stage.waiter("waiter");
        let consumer = stage.consumer("consumer");
        stage.resync();
        stage.queue.close();
        stage.join([waiter, consumer]);
    }

    /// The waiter is asleep when the queue is closed.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            matches!(over.op, Op::Close(_)) && before.asleep.count(Bed::Sync) == 1
        })
    }
}

/// A closed queue that was never used is emptied: there will be no first list (`cache:QU-14`).
struct OnlyResynced;

impl Scenario<OrderedFifo> for OnlyResynced {
    const NAME: &'static str = "only_resynced";
    const SAYS: &'static str =
        "a resync alone fills a queue, it is closed, and a caller waits for the first list";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        Stage::plain(world, [(1, 1)]).only_resynced();
    }

    /// The caller sleeps when the last entry is taken.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| over.taken().is_some() && before.asleep.count(Bed::Sync) == 1)
    }
}
