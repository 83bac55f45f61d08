//! How consumers process popped entries, with and without failures.

use seatrial_core::delta_fifo::{Op, Processed};
use seatrial_core::fifo::AfterPop;
use seatrial_core::runtime::Runtime;

use super::{Config, Stage, some};
use crate::delta_fifo::{DeltaFifo, History};
use crate::engine::Engine;
use crate::events::fixtures::{Bed, PANICS, Slow};
use crate::trial::{DynScenario, Scenario, World, sleeps};

pub(super) fn all() -> Vec<Box<dyn DynScenario<DeltaFifo>>> {
    vec![
        Box::new(SlowConsumer),
        Box::new(FailingConsumer),
        Box::new(AskedBack),
        Box::new(AskedBackForAnother),
        Box::new(PutBackLate),
        Box::new(PutBackForAnother),
        Box::new(PanickingConsumer),
    ]
}

/// A consumer fails: the popped entry is gone all the same (`cache:QU-8`).
struct FailingConsumer;

impl Scenario<DeltaFifo> for FailingConsumer {
    const NAME: &'static str = "failing_consumer";
    const SAYS: &'static str =
        "a consumer fails to apply an entry while the entry's object changes";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        Stage::informer(world, []).failing_consumer();
    }

    /// The update comes after the failure.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| over.writes() && before.forgone.contains(&1))
    }
}

/// A consumer fails and asks for the entry again (`cache:QU-9`).
struct AskedBack;

impl Scenario<DeltaFifo> for AskedBack {
    const NAME: &'static str = "asked_back";
    const SAYS: &'static str = "a consumer asks an entry back while two objects change";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let stage = Stage::informer(world, []);
        stage.list(&[(1, 1), (2, 1)]);
        let observer = stage.observer(1);
        let consumer = stage.on("consumer", |stage| {
            drop(stage.queue.pop_or_requeue(|_| (AfterPop::Requeue, ())));
            while stage.pop().is_ok() {}
        });
        stage.update((1, 2));
        stage.end([observer, consumer]);
    }

    /// The entry goes back behind another one, and then its object changes.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let behind = before.state.pending.first().is_some_and(|(key, _)| *key == 2);
            over.writes() && before.forgone.contains(&1) && behind
        })
    }
}

/// An entry that goes back is given to a waiter.
struct AskedBackForAnother;

impl Scenario<DeltaFifo> for AskedBackForAnother {
    const NAME: &'static str = "asked_back_for_another";
    const SAYS: &'static str =
        "a consumer asks an entry back and leaves, and a waiting consumer gets the entry";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let stage = Stage::informer(world, []);
        let other = stage.popper("other");
        let leaving = stage.on("leaving", |stage| {
            drop(stage.queue.pop_or_requeue(|_| (AfterPop::Requeue, ())));
        });
        stage.add((1, 1));
        stage.end([leaving, other]);
    }

    /// The other consumer sleeps when the entry goes back.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let goes_back = matches!(over.op, Op::Processed(Processed { requeue: Some(_) }));
            goes_back && before.asleep.count(Bed::Pop) > 0
        })
    }
}

/// Changes are put back after the lock was released: newer ones win (`cache:QU-10`, `QU-11`).
struct PutBackLate;

impl Scenario<DeltaFifo> for PutBackLate {
    const NAME: &'static str = "put_back_late";
    const SAYS: &'static str =
        "a consumer puts changes back late, when newer changes may be pending";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
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
    }

    /// There are newer ones.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            matches!(over.op, Op::AddIfAbsent(_)) && before.state.is_pending(1)
        })
    }
}

/// Changes that are put back late are given to a waiter.
struct PutBackForAnother;

impl Scenario<DeltaFifo> for PutBackForAnother {
    const NAME: &'static str = "put_back_for_another";
    const SAYS: &'static str =
        "a consumer puts changes back late and leaves, and a waiting consumer gets them";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let stage = Stage::informer(world, []);
        let other = stage.popper("other");
        let leaving = stage.on("leaving", |stage| {
            let Ok((popped, ())) = stage.queue.pop(|_| ()) else { return };
            stage.queue.add_if_absent(popped.deltas).expect("there are changes");
        });
        stage.delete_unseen(1, None); // an unknown object: ignored
        stage.add((1, 1));
        stage.end([leaving, other]);
    }

    /// The other consumer sleeps when the changes come back.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            matches!(over.op, Op::AddIfAbsent(_)) && before.asleep.count(Bed::Pop) > 0
        })
    }
}

/// A consumer panics under the lock (`cache:QU-22`, `cache:LK-8`).
struct PanickingConsumer;

impl Scenario<DeltaFifo> for PanickingConsumer {
    const NAME: &'static str = "panicking_consumer";
    const SAYS: &'static str =
        "a consumer panics while it holds the lock and another consumer waits";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        Stage::informer(world, []).panicking_consumer();
    }

    /// The consumer panics, and the other one pops afterwards.
    fn reaches(history: &History) -> bool {
        history.notes(PANICS).next().is_some()
            && some(history, |before, over| !before.forgone.is_empty() && over.popped().is_some())
    }
}

/// Slow processing is told, and only where many wait (`cache:QU-21`).
struct SlowConsumer;

impl Scenario<DeltaFifo> for SlowConsumer {
    const NAME: &'static str = "slow_consumer";
    const SAYS: &'static str = "a consumer is slow while many objects wait, and less slow or fewer";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let slow = Slow::new();
        Stage::told(world, Config::default(), Some(slow.hook())).slow_consumer(&slow);
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}
