//! How consumers process popped objects, with and without failures.

use seatrial_core::fifo::{AfterPop, Op, Processed};

use super::{Stage, some, steps};
use crate::events::fixtures::{Bed, PANICS, Slow};
use crate::fifo::Fifo;
use crate::fifo::ledger::{popped, writes};
use crate::trial::{Scenario, sleeps};

pub(super) fn all() -> Vec<Scenario<Fifo>> {
    vec![
        slow_consumer(),
        failing_consumer(),
        asked_back(),
        asked_back_for_another(),
        put_back_late(),
        put_back_for_another(),
        panicking_consumer(),
    ]
}

/// A consumer fails: the popped object is gone all the same (`cache:QU-8`).
fn failing_consumer() -> Scenario<Fifo> {
    Scenario::new(
        "failing_consumer",
        "a consumer fails to process an object while the object changes",
        |world| Stage::new(world).failing_consumer(),
        // The update comes after the failure.
        |history| some(history, |before, event| writes(event) && before.spec.items.is_empty()),
    )
}

/// A consumer fails and asks for the object again (`cache:QU-9`).
fn asked_back() -> Scenario<Fifo> {
    Scenario::new(
        "asked_back",
        "a consumer asks an object back while the object changes",
        |world| {
            let stage = Stage::new(world);
            stage.list(&[(2, 1), (1, 1)]);
            let observer = stage.observer(1);
            let consumer = stage.on("consumer", |stage| {
                drop(stage.queue.pop_or_requeue(|_| (AfterPop::Requeue, ())));
                while stage.pop().is_ok() {}
            });
            stage.update((2, 2));
            stage.end([observer, consumer]);
        },
        // The object goes back behind another one, and then changes.
        |history| {
            some(history, |before, event| writes(event) && before.spec.queue.iter().eq(&[1, 2]))
        },
    )
}

/// An object that goes back is given to a waiter.
fn asked_back_for_another() -> Scenario<Fifo> {
    Scenario::new(
        "asked_back_for_another",
        "a consumer asks an object back and leaves, and a waiting consumer gets the object",
        |world| {
            let stage = Stage::new(world);
            let other = stage.popper("other");
            let leaving = stage.on("leaving", |stage| {
                drop(stage.queue.pop_or_requeue(|_| (AfterPop::Requeue, ())));
            });
            stage.add((1, 1));
            stage.end([leaving, other]);
        },
        // The other consumer sleeps when the object goes back.
        |history| {
            some(history, |before, event| {
                let back =
                    |op: &Op<_, _>| matches!(op, Op::Processed(Processed { requeue: Some(_) }));
                steps(event, back) && before.asleep.count(Bed::Pop) == 1
            })
        },
    )
}

/// An object is put back after the lock was released: a newer state wins (`cache:QU-10`, `QU-11`).
fn put_back_late() -> Scenario<Fifo> {
    Scenario::new(
        "put_back_late",
        "a consumer puts an object back late, when a newer state may be queued",
        |world| {
            let stage = Stage::new(world);
            stage.add((1, 1));
            let consumer = stage.on("consumer", |stage| {
                let Ok((popped, ())) = stage.queue.pop(|_| ()) else { return };
                stage.queue.add_if_absent(popped.object).expect("it has a key");
                while stage.pop().is_ok() {}
            });
            stage.update((1, 2));
            stage.end([consumer]);
        },
        // A newer state waits in the queue.
        |history| {
            some(history, |before, event| {
                let back = steps(event, |op| matches!(op, Op::AddIfAbsent(_)));
                back && before.spec.items.contains_key(&1)
            })
        },
    )
}

/// An object that is put into an empty queue is a write, and is given to a waiter.
fn put_back_for_another() -> Scenario<Fifo> {
    Scenario::new(
        "put_back_for_another",
        "an object that was never popped is put back, and a waiting consumer gets it",
        |world| {
            let stage = Stage::new(world);
            let observer = stage.observer(2);
            let other = stage.popper("other");
            stage.queue.add_if_absent((1, 1)).expect("it has a key");
            stage.end([observer, other]);
        },
        // The other consumer sleeps when the object comes, and then a caller asks whether the list is
        // processed.
        |history| {
            some(history, |before, event| {
                let back = steps(event, |op| matches!(op, Op::AddIfAbsent(_)));
                back && before.asleep.count(Bed::Pop) == 1
            }) && some(history, |before, event| {
                steps(event, |op| matches!(op, Op::HasSynced(_))) && before.spec.populated
            })
        },
    )
}

/// A consumer panics under the lock (`cache:QU-22`, `cache:LK-8`).
fn panicking_consumer() -> Scenario<Fifo> {
    Scenario::new(
        "panicking_consumer",
        "a consumer panics while it holds the lock and another consumer waits",
        |world| Stage::new(world).panicking_consumer(),
        // The consumer panics, and the other one pops afterwards.
        |history| {
            let panics = history.events.iter().position(|event| event.noted(PANICS).is_some());
            panics
                .is_some_and(|at| history.events[at..].iter().any(|event| popped(event).is_some()))
        },
    )
}

/// Slow processing is told, and only where many wait (`cache:QU-21`).
fn slow_consumer() -> Scenario<Fifo> {
    Scenario::<Fifo>::new(
        "slow_consumer",
        "a consumer is slow while many objects wait, and less slow or fewer",
        |world| {
            let slow = Slow::new();
            Stage::told(world, Some(slow.hook())).slow_consumer(&slow);
        },
        |history| history.finished(),
    )
    .not_on(sleeps)
}
