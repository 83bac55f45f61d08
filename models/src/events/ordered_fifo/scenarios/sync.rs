//! The moment when the first list is processed, as other callers see it, and the end of a queue.

use seatrial_core::ordered_fifo::Event;

use super::{Led, Stage, informer, is_unlocked, plain, scenario, waiting};
use crate::events::fixtures::{Bed, Kind};
use crate::ordered_fifo::OrderedFifo;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<OrderedFifo>> {
    let mut all = of_lists();
    all.extend(of_closing());
    all.extend([resync_before_first_list(), refused_writes()]);
    all
}

fn of_lists() -> Vec<Scenario<OrderedFifo>> {
    vec![
        scenario(
            "first_list_awaited_unlocked",
            "one caller waits for the first list and another one asks about it, lock released",
            informer,
            |stage| {
                let waiter = stage.reader_of_the_first_list("waiter", 2);
                let consumer = stage.consumer("consumer");
                stage.list(&[(2, 1), (1, 1)]);
                let _says = stage.queue.has_synced();
                stage.end([waiter, consumer]);
            },
            // A caller asks while the list is processed.
            |before, over| over.is(Kind::HasSynced) && is_unlocked(before),
        ),
        scenario(
            "delete_before_first_list",
            "an unknown object is deleted before the first list",
            plain,
            |stage| {
                let observer = stage.observer(2);
                stage.delete_unseen(1, None);
                stage.list(&[(2, 1)]);
                let consumer = stage.consumer("consumer");
                stage.end([observer, consumer]);
            },
            // The deletion of an unknown object is a write, too (`cache:QU-14`).
            |before, over| over.is(Kind::HasSynced) && waiting(before) == 2,
        ),
        scenario(
            "second_list",
            "a second list arrives before or after the first one is processed",
            plain,
            |stage| {
                let consumer = stage.consumer("consumer");
                let observer = stage.observer(2);
                stage.list(&[(1, 1)]);
                stage.list(&[(1, 2), (2, 1)]);
                stage.end([consumer, observer]);
                let _still = stage.queue.has_synced();
            },
            // The second list waits when the first was processed, and a caller asks (`cache:QU-16`).
            |before, over| over.is(Kind::HasSynced) && before.has_synced() && waiting(before) == 2,
        ),
    ]
}

fn of_closing() -> Vec<Scenario<OrderedFifo>> {
    vec![
        scenario(
            "close_while_processing",
            "the queue is closed while one consumer processes, lock released, and another one waits",
            informer,
            |stage| {
                let consumers = ["first", "second"].map(|name| stage.consumer(name));
                stage.add((1, 1));
                stage.add((2, 1));
                stage.queue.close();
                stage.world.quiesce();
                stage.join(consumers);
            },
            // The queue is closed while one processes and the other sleeps.
            |before, over| {
                let other_waits = is_unlocked(before) && before.asleep.count(Bed::Pop) == 1;
                over.is(Kind::Close) && other_waits && waiting(before) == 1
            },
        ),
        scenario(
            "close_with_events_left",
            "the queue is closed with events left, and a caller waits for the first list",
            plain,
            |stage| {
                let waiter = stage.waiter("waiter");
                let consumer = stage.consumer("consumer");
                stage.list(&[(1, 1), (2, 1)]);
                stage.queue.close();
                stage.join([waiter, consumer]);
            },
            |before, over| over.takes() && before.closed,
        ),
        scenario(
            "close_before_first_list",
            "a caller waits for the first list while the queue is closed",
            informer,
            |stage| {
                let waiter = stage.waiter("waiter");
                let consumer = stage.consumer("consumer");
                stage.resync();
                stage.queue.close();
                stage.join([waiter, consumer]);
            },
            // The waiter is asleep when the queue is closed.
            |before, over| over.is(Kind::Close) && before.asleep.count(Bed::Sync) == 1,
        ),
    ]
}

/// Events taken before the first list came belong to no list (`cache:SC-12`, `cache:RF-17`).
fn resync_before_first_list() -> Scenario<OrderedFifo> {
    Scenario::new(
        "resync_before_first_list",
        "the first list arrives while a resync is processed with the lock released",
        |world| {
            let stage = Stage::new(world, &informer());
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
            Led::call(history, |before, over| over.is(Kind::List) && is_unlocked(before))
                && Led::call(history, |before, over| {
                    let waits = matches!(before.state.waiting.first(), Some(Event::ReplacedAll(_)));
                    over.is(Kind::HasSynced) && waits
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
            let stage = Stage::new(world, &plain());
            let observer = stage.observer(2);
            stage.list_in_vain(&[(1, 1)]);
            assert!(stage.queue.add((0, 1)).is_err(), "key 0 is none");
            stage.list(&[(2, 1)]);
            let consumer = stage.consumer("consumer");
            stage.end([observer, consumer]);
        },
        // A caller asks before the refused object and after it.
        |history| {
            [false, true].into_iter().all(|populated| {
                Led::call(history, |before, over| {
                    over.is(Kind::HasSynced) && before.plain.populated == populated
                })
            })
        },
    )
}
