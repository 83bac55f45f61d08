//! Lists as one event, and processing with the lock released.

use seatrial_core::ordered_fifo::{Event, Op};

use super::{Led, Stage, atomic, informer, is_unlocked, plain, scenario, waiting};
use crate::events::fixtures::{Bed, Config, Kind, shared};
use crate::ordered_fifo::OrderedFifo;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<OrderedFifo>> {
    let mut all = of_writers();
    all.extend(of_two());
    all.extend(of_bookmarks());
    all.extend([long_queue(), mode_switch(), readers_between()]);
    all
}

fn of_writers() -> Vec<Scenario<OrderedFifo>> {
    vec![
        scenario(
            "write_while_processing",
            "a list, a change and a resync arrive while a consumer processes with the lock released",
            informer,
            |stage| {
                let consumer = stage.consumer("consumer");
                stage.list(&[(1, 1), (2, 1)]);
                stage.update((1, 2));
                stage.resync();
                stage.end([consumer]);
            },
            // A write comes while events are processed (`cache:SC-11`).
            |before, over| over.writes() && is_unlocked(before),
        ),
        scenario(
            "whole_lists_locked",
            "a list, a resync and a bookmark arrive while a consumer processes under the lock",
            || Config { emit_bookmarks: true, ..atomic() },
            |stage| {
                let consumer = stage.consumer("consumer");
                stage.list(&[(1, 1)]);
                stage.resync();
                stage.queue.bookmark("1");
                stage.end([consumer]);
            },
            // All three wait when the list is taken.
            |before, over| over.takes() && waiting(before) == 3,
        ),
    ]
}

fn of_two() -> Vec<Scenario<OrderedFifo>> {
    vec![
        scenario(
            "two_consumers_unlocked",
            "two consumers take two changes with the lock released",
            informer,
            |stage| {
                let consumers = ["first", "second"].map(|name| stage.consumer(name));
                stage.add((1, 1));
                stage.add((2, 1));
                stage.end(consumers);
            },
            // One sleeps with a change in the queue, because the other is processing
            // (`cache:RF-32`).
            |before, over| {
                let waits = before.asleep.count(Bed::Pop) == 1 && waiting(before) > 0;
                over.is(Kind::Processed) && waits
            },
        ),
        scenario(
            "two_consumers_locked",
            "two consumers take the events of a list and a change, under the lock",
            plain,
            |stage| {
                let consumers = ["first", "second"].map(|name| stage.consumer(name));
                stage.list(&[(1, 1), (2, 1)]);
                stage.update((1, 2));
                stage.end(consumers);
            },
            |before, over| over.is(Kind::List) && shared::all_sleep(before),
        ),
        scenario(
            "two_for_two",
            "two consumers wait for one event each, and two changes arrive",
            plain,
            |stage| {
                let poppers = ["first", "second"].map(|name| stage.popper(name));
                stage.add((1, 1));
                stage.add((2, 1));
                stage.end(poppers);
            },
            // The second comes while the first waits, and one consumer sleeps.
            |before, over| {
                over.writes() && waiting(before) == 1 && before.asleep.count(Bed::Pop) >= 1
            },
        ),
    ]
}

fn of_bookmarks() -> Vec<Scenario<OrderedFifo>> {
    vec![
        scenario(
            "bookmarks",
            "one bookmark arrives before the first list and another one after it",
            || Config { emit_bookmarks: true, ..informer() },
            |stage| {
                let consumer = stage.consumer("consumer");
                let observer = stage.observer(2);
                stage.queue.bookmark("1");
                stage.list(&[(1, 1)]);
                stage.queue.bookmark("2");
                stage.end([consumer, observer]);
            },
            // A caller asks between the first bookmark and the list (`cache:RF-14`).
            |before, over| {
                let marked = matches!(before.state.waiting.first(), Some(Event::Bookmark(_)));
                over.is(Kind::HasSynced) && marked && !before.plain.populated
            },
        ),
        scenario(
            "unasked_bookmarks",
            "a bookmark arrives at a queue that does not emit bookmarks",
            informer,
            |stage| {
                let popper = stage.popper("popper");
                stage.queue.bookmark("1");
                stage.add((1, 1));
                stage.end([popper]);
            },
            // The consumer stays asleep.
            |before, over| over.is(Kind::Bookmark) && before.asleep.count(Bed::Pop) == 1,
        ),
    ]
}

/// A long queue is processed under the lock, so that it does not grow (`cache:RF-31`).
fn long_queue() -> Scenario<OrderedFifo> {
    Scenario::new(
        "long_queue",
        "a long queue is consumed while a writer adds to it",
        |world| {
            let stage = Stage::new(world, &informer().batches_of(1));
            (1..=3).for_each(|key| stage.add((key, 1)));
            let consumer = stage.consumer("consumer");
            stage.update((1, 2));
            stage.end([consumer]);
        },
        // One event is processed with the lock held, another with the lock released.
        |history| {
            [false, true].into_iter().all(|locked| {
                Led::call(history, |before, over| {
                    let held = before.in_process.iter().any(|it| it.locked == locked);
                    over.is(Kind::Processed) && held
                })
            })
        },
    )
}

/// A queue grows long while one consumer processes unlocked and two others wait for it to finish.
/// The next one processes under the lock, and the last one must still get its turn.
fn mode_switch() -> Scenario<OrderedFifo> {
    scenario(
        "mode_switch",
        "three consumers take one event each from a queue that grows long meanwhile",
        || informer().batches_of(1),
        |stage| {
            stage.add((1, 1));
            let grow = |_: &_| {
                let poppers = ["second", "third"].map(|name| stage.popper(name));
                (2..=4).for_each(|key| stage.add((key, 1)));
                stage.world.quiesce();
                poppers
            };
            let (_, poppers) = stage.queue.pop(grow).expect("one event waits");
            stage.end(poppers);
        },
        // One processes an event under the lock while another sleeps.
        |before, over| {
            let held = before.in_process.iter().any(|it| it.locked);
            over.is(Kind::Processed) && held && before.asleep.count(Bed::Pop) > 0
        },
    )
}

/// Readers look while events come and go.
fn readers_between() -> Scenario<OrderedFifo> {
    Scenario::new(
        "readers_between",
        "a reader looks at the queue while events arrive, are processed and leave",
        |world| {
            let stage = Stage::new(world, &informer());
            let consumer = stage.consumer("consumer");
            let reader = stage.on("reader", |stage| {
                let _waiting = stage.queue.list();
                let _length = stage.queue.len();
            });
            stage.add((1, 1));
            stage.update((1, 2));
            stage.end([consumer, reader]);
            let _closed = stage.queue.is_closed();
        },
        // The reader looks while one event is in process and another waits.
        |history| {
            Led::call(history, |before, over| {
                matches!(over.op, Op::Len(_)) && is_unlocked(before) && waiting(before) == 1
            }) && Led::call(history, |before, over| {
                matches!(over.op, Op::List(_)) && waiting(before) == 2
            })
        },
    )
}
