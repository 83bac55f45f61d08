//! Lists as one event, and processing with the lock released.

use seatrial_core::ordered_fifo::{Event, Op};

use super::{Config, Stage, is_unlocked, lists, some};
use crate::events::fixtures::{Bed, PANICS, over};
use crate::ordered_fifo::OrderedFifo;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<OrderedFifo>> {
    vec![
        write_while_processing(),
        whole_lists_locked(),
        two_consumers_unlocked(),
        two_consumers_locked(),
        list_for_two(),
        two_for_two(),
        long_queue(),
        mode_switch(),
        bookmarks(),
        unasked_bookmarks(),
        readers_between(),
        failing_consumer(),
        panicking_consumer(),
    ]
}

/// Writers go on while the consumer processes (`cache:SC-11`).
fn write_while_processing() -> Scenario<OrderedFifo> {
    Scenario::new(
        "write_while_processing",
        "a list, a change and a resync arrive while a consumer processes with the lock released",
        |world| {
            let stage = Stage::new(world, Config::informer());
            let consumer = stage.consumer("consumer");
            stage.list(&[(1, 1), (2, 1)]);
            stage.update((1, 2));
            stage.resync();
            stage.end([consumer]);
        },
        // A write comes while events are processed.
        |history| some(history, |before, over| over.writes() && is_unlocked(before)),
    )
}

/// A list, a resync and a bookmark wait while the consumer processes under the lock.
fn whole_lists_locked() -> Scenario<OrderedFifo> {
    Scenario::new(
        "whole_lists_locked",
        "a list, a resync and a bookmark arrive while a consumer processes under the lock",
        |world| {
            let stage = Stage::new(world, Config::atomic().with_bookmarks());
            let consumer = stage.consumer("consumer");
            stage.list(&[(1, 1)]);
            stage.resync();
            stage.queue.bookmark("1");
            stage.end([consumer]);
        },
        // All three wait when the list is taken.
        |history| some(history, |before, over| over.held && before.state.events.len() == 3),
    )
}

/// A second consumer waits until the first is done (`cache:RF-32`).
fn two_consumers_unlocked() -> Scenario<OrderedFifo> {
    Scenario::new(
        "two_consumers_unlocked",
        "two consumers take two changes with the lock released",
        |world| {
            let stage = Stage::new(world, Config::informer());
            let consumers = ["first", "second"].map(|name| stage.consumer(name));
            stage.add((1, 1));
            stage.add((2, 1));
            stage.end(consumers);
        },
        // One sleeps with a change in the queue, because the other is processing.
        |history| {
            some(history, |before, over| {
                let waits = before.asleep.count(Bed::Pop) == 1 && !before.state.events.is_empty();
                matches!(over.op, Op::Processed(_)) && waits
            })
        },
    )
}

/// Two consumers and two writers in plain mode (`cache:QU-12`).
fn two_consumers_locked() -> Scenario<OrderedFifo> {
    Scenario::new(
        "two_consumers_locked",
        "two consumers take the events of a list and a change, under the lock",
        |world| {
            let stage = Stage::plain(world, []);
            let consumers = ["first", "second"].map(|name| stage.consumer(name));
            stage.list(&[(1, 1), (2, 1)]);
            stage.update((1, 2));
            stage.end(consumers);
        },
        // Both sleep when the list comes.
        |history| {
            some(history, |before, over| lists(over.op) && before.asleep.count(Bed::Pop) == 2)
        },
    )
}

/// A list brings one event for each of two waiting consumers.
fn list_for_two() -> Scenario<OrderedFifo> {
    Scenario::new(
        "list_for_two",
        "two consumers wait for one event each, and a list of two objects arrives",
        |world| Stage::plain(world, []).two_consumers_one_list(&[(1, 1), (2, 1)]),
        // Both sleep when the list comes.
        |history| {
            some(history, |before, over| lists(over.op) && before.asleep.count(Bed::Pop) == 2)
        },
    )
}

/// Two changes come for two waiting consumers.
fn two_for_two() -> Scenario<OrderedFifo> {
    Scenario::new(
        "two_for_two",
        "two consumers wait for one event each, and two changes arrive",
        |world| {
            let stage = Stage::plain(world, []);
            let poppers = ["first", "second"].map(|name| stage.popper(name));
            stage.add((1, 1));
            stage.add((2, 1));
            stage.end(poppers);
        },
        // The second comes while the first waits, and one consumer sleeps.
        |history| {
            some(history, |before, over| {
                let first_waits = before.state.events.len() == 1;
                over.writes() && first_waits && before.asleep.count(Bed::Pop) >= 1
            })
        },
    )
}

/// A long queue is processed under the lock, so that it does not grow (`cache:RF-31`).
fn long_queue() -> Scenario<OrderedFifo> {
    Scenario::new(
        "long_queue",
        "a long queue is consumed while a writer adds to it",
        |world| {
            let stage = Stage::new(world, Config::informer().batches_of(1));
            for key in 1..=3 {
                stage.add((key, 1));
            }
            let consumer = stage.consumer("consumer");
            stage.update((1, 2));
            stage.end([consumer]);
        },
        // One event is taken with the lock held, another with the lock released.
        |history| {
            some(history, |_, over| over.taken().is_some() && over.held)
                && some(history, |_, over| over.taken().is_some() && !over.held)
        },
    )
}

/// A queue grows long while one consumer processes unlocked and two others wait for it to finish.
/// The next one processes under the lock, and the last one must still get its turn.
fn mode_switch() -> Scenario<OrderedFifo> {
    Scenario::new(
        "mode_switch",
        "three consumers take one event each from a queue that grows long meanwhile",
        |world| {
            let stage = Stage::new(world, Config::informer().batches_of(1));
            stage.add((1, 1));
            let grow = |_: &_| {
                let poppers = ["second", "third"].map(|name| stage.popper(name));
                for key in 2..=4 {
                    stage.add((key, 1));
                }
                world.quiesce();
                poppers
            };
            let (_, poppers) = stage.queue.pop(grow).expect("one event waits");
            stage.end(poppers);
        },
        // One takes an event under the lock while another sleeps.
        |history| {
            some(history, |before, over| {
                over.taken().is_some() && over.held && before.asleep.count(Bed::Pop) > 0
            })
        },
    )
}

/// Bookmarks come before the first list and behind it (`cache:RF-14`).
fn bookmarks() -> Scenario<OrderedFifo> {
    Scenario::new(
        "bookmarks",
        "one bookmark arrives before the first list and another one after it",
        |world| {
            let stage = Stage::new(world, Config::informer().with_bookmarks());
            let consumer = stage.consumer("consumer");
            let observer = stage.observer(2);
            stage.queue.bookmark("1");
            stage.list(&[(1, 1)]);
            stage.queue.bookmark("2");
            stage.end([consumer, observer]);
        },
        // A caller asks between the first bookmark and the list.
        |history| {
            some(history, |before, over| {
                let marked = matches!(before.state.events.first(), Some(Event::Bookmark(_)));
                matches!(over.op, Op::HasSynced(_)) && marked && !before.spec.populated
            })
        },
    )
}

/// Bookmarks come to a queue that does not emit them.
fn unasked_bookmarks() -> Scenario<OrderedFifo> {
    Scenario::new(
        "unasked_bookmarks",
        "a bookmark arrives at a queue that does not emit bookmarks",
        |world| {
            let stage = Stage::new(world, Config::informer());
            let popper = stage.popper("popper");
            stage.queue.bookmark("1");
            stage.add((1, 1));
            stage.end([popper]);
        },
        // The consumer stays asleep.
        |history| {
            some(history, |before, over| {
                matches!(over.op, Op::Mark(_)) && before.asleep.count(Bed::Pop) == 1
            })
        },
    )
}

/// Readers look while events come and go.
fn readers_between() -> Scenario<OrderedFifo> {
    Scenario::new(
        "readers_between",
        "a reader looks at the queue while events arrive, are processed and leave",
        |world| {
            let stage = Stage::new(world, Config::informer());
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
            some(history, |before, over| {
                let between = is_unlocked(before) && before.state.events.len() == 1;
                matches!(over.op, Op::Len(_)) && between
            }) && some(history, |before, over| {
                matches!(over.op, Op::List(_)) && before.state.events.len() == 2
            })
        },
    )
}

/// A consumer fails: the events that it took are gone all the same (`cache:QU-8`).
fn failing_consumer() -> Scenario<OrderedFifo> {
    Scenario::new(
        "failing_consumer",
        "a consumer fails to process a change while another change arrives",
        |world| Stage::new(world, Config::informer()).failing_consumer(),
        |history| some(history, |before, over| over.writes() && is_unlocked(before)),
    )
}

/// A consumer panics with the lock released (`cache:RF-33`, `cache:QU-22`).
fn panicking_consumer() -> Scenario<OrderedFifo> {
    Scenario::new(
        "panicking_consumer",
        "a consumer panics while it processes and another consumer waits",
        |world| Stage::new(world, Config::informer()).panicking_consumer(),
        // The consumer panics, and the other one takes an event afterwards.
        |history| {
            let panics = history.events.iter().position(|event| event.noted(PANICS).is_some());
            let takes =
                |event| over::over::<OrderedFifo>(event).is_some_and(|it| it.taken().is_some());
            panics.is_some_and(|at| history.events[at..].iter().any(takes))
        },
    )
}
