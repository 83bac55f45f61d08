//! The end of a queue.

use seatrial_core::ordered_fifo::Op;

use super::{Config, Stage, is_unlocked, some};
use crate::events::fixtures::Bed;
use crate::ordered_fifo::OrderedFifo;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<OrderedFifo>> {
    vec![
        close_while_two_wait(),
        close_while_processing(),
        close_with_events_left(),
        write_after_close(),
        close_before_first_list(),
        only_resynced(),
    ]
}

/// Two consumers wait while an object is added and the queue closed (`cache:SC-1`, `SC-2`).
fn close_while_two_wait() -> Scenario<OrderedFifo> {
    Scenario::new(
        "close_while_two_wait",
        "two consumers wait while an object is added and the queue is closed",
        |world| Stage::plain(world, []).close_while_two_wait(),
        // Both sleep when the queue is closed.
        |history| {
            some(history, |before, over| {
                matches!(over.op, Op::Close(_)) && before.asleep.count(Bed::Pop) == 2
            })
        },
    )
}

/// The queue is closed while one consumer waits for another to finish.
fn close_while_processing() -> Scenario<OrderedFifo> {
    Scenario::new(
        "close_while_processing",
        "the queue is closed while one consumer processes, lock released, and another one waits",
        |world| {
            let stage = Stage::new(world, Config::informer());
            let consumers = ["first", "second"].map(|name| stage.consumer(name));
            stage.add((1, 1));
            stage.add((2, 1));
            stage.queue.close();
            stage.world.quiesce();
            stage.join(consumers);
        },
        // The queue is closed while one processes and the other sleeps.
        |history| {
            some(history, |before, over| {
                let other_waits = is_unlocked(before) && before.asleep.count(Bed::Pop) == 1;
                matches!(over.op, Op::Close(_)) && other_waits && before.state.events.len() == 1
            })
        },
    )
}

/// A closed queue hands out the remaining events.
fn close_with_events_left() -> Scenario<OrderedFifo> {
    Scenario::new(
        "close_with_events_left",
        "the queue is closed with events left, and a caller waits for the first list",
        |world| {
            let stage = Stage::plain(world, []);
            let waiter = stage.waiter("waiter");
            let consumer = stage.consumer("consumer");
            stage.list(&[(1, 1), (2, 1)]);
            stage.queue.close();
            stage.join([waiter, consumer]);
        },
        |history| some(history, |before, over| over.taken().is_some() && before.closed),
    )
}

/// A closed queue takes in new events and hands them out (`cache:QU-3`, `cache:QU-4`).
fn write_after_close() -> Scenario<OrderedFifo> {
    Scenario::new(
        "write_after_close",
        "writers go on after the queue is closed",
        |world| {
            let stage = Stage::new(world, Config::atomic());
            let consumer = stage.consumer("consumer");
            let writer = stage.on("writer", |stage| {
                stage.add((1, 1));
                stage.list(&[(2, 1)]);
            });
            stage.queue.close();
            stage.join([writer, consumer]);
            while stage.pop().is_ok() {} // what came after the consumer left
        },
        |history| {
            some(history, |before, over| before.closed && over.writes())
                && some(history, |before, over| before.closed && over.taken().is_some())
        },
    )
}

/// The queue is closed before there was a list, and a caller waits for that list.
fn close_before_first_list() -> Scenario<OrderedFifo> {
    Scenario::new(
        "close_before_first_list",
        "a caller waits for the first list while the queue is closed",
        |world| {
            let stage = Stage::new(world, Config::informer());
            let waiter = stage.waiter("waiter");
            let consumer = stage.consumer("consumer");
            stage.resync();
            stage.queue.close();
            stage.join([waiter, consumer]);
        },
        // The waiter is asleep when the queue is closed.
        |history| {
            some(history, |before, over| {
                matches!(over.op, Op::Close(_)) && before.asleep.count(Bed::Sync) == 1
            })
        },
    )
}

/// A closed queue that was never used is emptied: there will be no first list (`cache:QU-14`).
fn only_resynced() -> Scenario<OrderedFifo> {
    Scenario::new(
        "only_resynced",
        "a resync alone fills a queue, it is closed, and a caller waits for the first list",
        |world| Stage::plain(world, [(1, 1)]).only_resynced(),
        // The caller sleeps when the last entry is taken.
        |history| {
            some(history, |before, over| {
                over.taken().is_some() && before.asleep.count(Bed::Sync) == 1
            })
        },
    )
}
