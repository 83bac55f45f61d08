//! The moment when the first list is processed, as other callers see it.

use seatrial_core::ordered_fifo::{Event, Op};

use super::{Config, Stage, is_unlocked, lists, some};
use crate::events::fixtures::Bed;
use crate::ordered_fifo::OrderedFifo;
use crate::queues::fixtures::waits;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<OrderedFifo>> {
    vec![
        first_list_awaited(),
        first_list_awaited_unlocked(),
        resync_before_first_list(),
        write_before_first_list(),
        synced_at_once(),
        delete_before_first_list(),
        refused_writes(),
        second_list(),
    ]
}

/// Two wait for the first list and then read the store (`cache:SC-9`).
fn first_list_awaited() -> Scenario<OrderedFifo> {
    Scenario::new(
        "first_list_awaited",
        "two callers wait for the first list and read the consumer's store",
        |world| Stage::plain(world, []).first_list_awaited(&[(2, 1), (1, 1)]),
        // Both wait when the last event of the list is taken.
        |history| {
            some(history, |before, over| {
                let last = over.taken().is_some() && before.spec.initial_left == 1;
                last && before.asleep.count(Bed::Sync) == 2
            })
        },
    )
}

/// As [`first_list_awaited`], with the lock released while the list is processed.
fn first_list_awaited_unlocked() -> Scenario<OrderedFifo> {
    Scenario::new(
        "first_list_awaited_unlocked",
        "one caller waits for the first list and another one asks about it, lock released",
        |world| {
            let stage = Stage::new(world, Config::informer());
            let waiter = stage.reader_of_the_first_list("waiter", 2);
            let consumer = stage.consumer("consumer");
            stage.list(&[(2, 1), (1, 1)]);
            let _says = stage.queue.has_synced();
            stage.end([waiter, consumer]);
        },
        // A caller asks while the list is processed.
        |history| {
            some(history, |before, over| matches!(over.op, Op::HasSynced(_)) && is_unlocked(before))
        },
    )
}

/// Events taken before the first list came belong to no list (`cache:SC-12`, `cache:RF-17`).
fn resync_before_first_list() -> Scenario<OrderedFifo> {
    Scenario::new(
        "resync_before_first_list",
        "the first list arrives while a resync is processed with the lock released",
        |world| {
            let stage = Stage::new(world, Config::informer());
            let consumer = stage.on("consumer", |stage| {
                let _first = stage.pop();
                let _says = stage.queue.has_synced();
                while stage.pop().is_ok() {}
            });
            stage.resync();
            stage.list(&[(1, 1)]);
            stage.end([consumer]);
        },
        // The list comes while the resync is in process, and a caller asks before the list is taken.
        |history| {
            some(history, |before, over| lists(over.op) && is_unlocked(before))
                && some(history, |before, over| {
                    let waits = matches!(before.state.events.first(), Some(Event::ReplacedAll(_)));
                    matches!(over.op, Op::HasSynced(_)) && waits
                })
        },
    )
}

/// A write comes before the first list, or not (`cache:QU-15`).
fn write_before_first_list() -> Scenario<OrderedFifo> {
    Scenario::new(
        "write_before_first_list",
        "an object is added before or after the first list",
        |world| Stage::plain(world, []).write_before_first_list(&[(2, 1), (1, 2)]),
        // The queue counts as synced at once, with the list still waiting.
        |history| {
            some(history, |before, over| {
                let at_once = before.spec.has_synced() && before.state.events.len() >= 2;
                matches!(over.op, Op::HasSynced(_)) && at_once
            })
        },
    )
}

/// The deletion of an unknown object is a write, too (`cache:QU-14`).
fn delete_before_first_list() -> Scenario<OrderedFifo> {
    Scenario::new(
        "delete_before_first_list",
        "an unknown object is deleted before the first list",
        |world| {
            let stage = Stage::plain(world, []);
            let observer = stage.observer(2);
            stage.delete_unseen(1, None);
            stage.list(&[(2, 1)]);
            let consumer = stage.consumer("consumer");
            stage.end([observer, consumer]);
        },
        |history| {
            some(history, |before, over| {
                matches!(over.op, Op::HasSynced(_)) && before.state.events.len() == 2
            })
        },
    )
}

/// A refused object counts as a write; a refused list does not (`cache:QU-19`).
fn refused_writes() -> Scenario<OrderedFifo> {
    Scenario::new(
        "refused_writes",
        "a list is refused, then an object without a key, and then a good list arrives",
        |world| {
            let stage = Stage::plain(world, []);
            let observer = stage.observer(2);
            stage.list_in_vain(&[(1, 1)]);
            assert!(stage.queue.add((0, 1)).is_err(), "key 0 is none");
            stage.list(&[(2, 1)]);
            let consumer = stage.consumer("consumer");
            stage.end([observer, consumer]);
        },
        // A caller asks before the refused object and after it.
        |history| {
            let asks = |populated: bool| {
                some(history, |before, over| {
                    matches!(over.op, Op::HasSynced(_)) && before.spec.populated == populated
                })
            };
            asks(false) && asks(true)
        },
    )
}

/// Only the first list counts (`cache:QU-16`).
fn second_list() -> Scenario<OrderedFifo> {
    Scenario::new(
        "second_list",
        "a second list arrives before or after the first one is processed",
        |world| {
            let stage = Stage::plain(world, []);
            let consumer = stage.consumer("consumer");
            let observer = stage.observer(2);
            stage.list(&[(1, 1)]);
            stage.list(&[(1, 2), (2, 1)]);
            stage.end([consumer, observer]);
            let _still = stage.queue.has_synced();
        },
        // The second list waits when the first was processed, and a caller asks.
        |history| {
            some(history, |before, over| {
                let waits = before.spec.has_synced() && before.state.events.len() == 2;
                matches!(over.op, Op::HasSynced(_)) && waits
            })
        },
    )
}

/// The first write leaves nothing to process (`cache:QU-17`).
fn synced_at_once() -> Scenario<OrderedFifo> {
    Scenario::new(
        "synced_at_once",
        "a caller waits for the first list, which is empty, or a single write comes instead",
        |world| Stage::plain(world, []).synced_at_once(),
        // The caller sleeps.
        |history| waits(history) > 0,
    )
}
