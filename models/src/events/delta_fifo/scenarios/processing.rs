//! How consumers process popped entries, with and without failures.

use seatrial_core::delta_fifo::{Op, Processed};
use seatrial_core::fifo::AfterPop;

use super::{Config, Stage, some};
use crate::delta_fifo::DeltaFifo;
use crate::events::fixtures::{Bed, PANICS, Slow};
use crate::trial::{Scenario, sleeps};

pub(super) fn all() -> Vec<Scenario<DeltaFifo>> {
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

/// A consumer fails: the popped entry is gone all the same (`cache:QU-8`).
fn failing_consumer() -> Scenario<DeltaFifo> {
    Scenario::new(
        "failing_consumer",
        "a consumer fails to apply an entry while the entry's object changes",
        |world| Stage::informer(world, []).failing_consumer(),
        // The update comes after the failure.
        |history| some(history, |before, over| over.writes() && before.forgone.contains(&1)),
    )
}

/// A consumer fails and asks for the entry again (`cache:QU-9`).
fn asked_back() -> Scenario<DeltaFifo> {
    Scenario::new(
        "asked_back",
        "a consumer asks an entry back while two objects change",
        |world| {
            let stage = Stage::informer(world, []);
            stage.list(&[(1, 1), (2, 1)]);
            let observer = stage.observer(1);
            let consumer = stage.on("consumer", |stage| {
                drop(stage.queue.pop_or_requeue(|_| (AfterPop::Requeue, ())));
                while stage.pop().is_ok() {}
            });
            stage.update((1, 2));
            stage.end([observer, consumer]);
        },
        // The entry goes back behind another one, and then its object changes.
        |history| {
            some(history, |before, over| {
                let behind = before.state.pending.first().is_some_and(|(key, _)| *key == 2);
                over.writes() && before.forgone.contains(&1) && behind
            })
        },
    )
}

/// An entry that goes back is given to a waiter.
fn asked_back_for_another() -> Scenario<DeltaFifo> {
    Scenario::new(
        "asked_back_for_another",
        "a consumer asks an entry back and leaves, and a waiting consumer gets the entry",
        |world| {
            let stage = Stage::informer(world, []);
            let other = stage.popper("other");
            let leaving = stage.on("leaving", |stage| {
                drop(stage.queue.pop_or_requeue(|_| (AfterPop::Requeue, ())));
            });
            stage.add((1, 1));
            stage.end([leaving, other]);
        },
        // The other consumer sleeps when the entry goes back.
        |history| {
            some(history, |before, over| {
                let goes_back = matches!(over.op, Op::Processed(Processed { requeue: Some(_) }));
                goes_back && before.asleep.count(Bed::Pop) > 0
            })
        },
    )
}

/// Changes are put back after the lock was released: newer ones win (`cache:QU-10`, `QU-11`).
fn put_back_late() -> Scenario<DeltaFifo> {
    Scenario::new(
        "put_back_late",
        "a consumer puts changes back late, when newer changes may be pending",
        |world| {
            let stage = Stage::informer(world, []);
            stage.list_in_vain(&[(1, 1)]);
            let observer = stage.observer(2);
            let consumer = stage.on("consumer", |stage| {
                let Ok((popped, ())) = stage.queue.pop(|_| ()) else { return };
                stage.queue.add_if_absent(popped.deltas).expect("there are changes");
                while stage.pop().is_ok() {}
            });
            stage.update((1, 2));
            stage.end([observer, consumer]);
        },
        // There are newer ones.
        |history| {
            some(history, |before, over| {
                matches!(over.op, Op::AddIfAbsent(_)) && before.state.is_pending(1)
            })
        },
    )
}

/// Changes that are put back late are given to a waiter.
fn put_back_for_another() -> Scenario<DeltaFifo> {
    Scenario::new(
        "put_back_for_another",
        "a consumer puts changes back late and leaves, and a waiting consumer gets them",
        |world| {
            let stage = Stage::informer(world, []);
            let other = stage.popper("other");
            let leaving = stage.on("leaving", |stage| {
                let Ok((popped, ())) = stage.queue.pop(|_| ()) else { return };
                stage.queue.add_if_absent(popped.deltas).expect("there are changes");
            });
            stage.delete_unseen(1, None); // an unknown object: ignored
            stage.add((1, 1));
            stage.end([leaving, other]);
        },
        // The other consumer sleeps when the changes come back.
        |history| {
            some(history, |before, over| {
                matches!(over.op, Op::AddIfAbsent(_)) && before.asleep.count(Bed::Pop) > 0
            })
        },
    )
}

/// A consumer panics under the lock (`cache:QU-22`, `cache:LK-8`).
fn panicking_consumer() -> Scenario<DeltaFifo> {
    Scenario::new(
        "panicking_consumer",
        "a consumer panics while it holds the lock and another consumer waits",
        |world| Stage::informer(world, []).panicking_consumer(),
        // The consumer panics, and the other one pops afterwards.
        |history| {
            history.notes(PANICS).next().is_some()
                && some(history, |before, over| {
                    !before.forgone.is_empty() && over.popped().is_some()
                })
        },
    )
}

/// Slow processing is told, and only where many wait (`cache:QU-21`).
fn slow_consumer() -> Scenario<DeltaFifo> {
    Scenario::<DeltaFifo>::new(
        "slow_consumer",
        "a consumer is slow while many objects wait, and less slow or fewer",
        |world| {
            let slow = Slow::new();
            Stage::told(world, Config::default(), Some(slow.hook())).slow_consumer(&slow);
        },
        |history| history.finished(),
    )
    .not_on(sleeps)
}
