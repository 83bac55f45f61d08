//! How consumers process popped objects, with and without failures.

use seatrial_core::fifo::{AfterPop, Op, Processed};
use seatrial_core::runtime::Runtime;

use super::{Stage, some, steps};
use crate::engine::Engine;
use crate::events::fixtures::{Bed, PANICS, Slow};
use crate::fifo::ledger::{popped, writes};
use crate::fifo::{Fifo, History};
use crate::trial::{DynScenario, Scenario, World, sleeps};

pub(super) fn all() -> Vec<Box<dyn DynScenario<Fifo>>> {
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

/// A consumer fails: the popped object is gone all the same (`cache:QU-8`).
struct FailingConsumer;

impl Scenario<Fifo> for FailingConsumer {
    const NAME: &'static str = "failing_consumer";
    const SAYS: &'static str = "a consumer fails to process an object while the object changes";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        Stage::new(world).failing_consumer();
    }

    /// The update comes after the failure.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| writes(event) && before.spec.items.is_empty())
    }
}

/// A consumer fails and asks for the object again (`cache:QU-9`).
struct AskedBack;

impl Scenario<Fifo> for AskedBack {
    const NAME: &'static str = "asked_back";
    const SAYS: &'static str = "a consumer asks an object back while the object changes";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        let stage = Stage::new(world);
        stage.list(&[(2, 1), (1, 1)]);
        let observer = stage.observer(1);
        let consumer = stage.on("consumer", |stage| {
            drop(stage.queue.pop_or_requeue(|_| (AfterPop::Requeue, ())));
            while stage.pop().is_ok() {}
        });
        stage.update((2, 2));
        stage.end([observer, consumer]);
    }

    /// The object goes back behind another one, and then changes.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| writes(event) && before.spec.queue.iter().eq(&[1, 2]))
    }
}

/// An object that goes back is given to a waiter.
struct AskedBackForAnother;

impl Scenario<Fifo> for AskedBackForAnother {
    const NAME: &'static str = "asked_back_for_another";
    const SAYS: &'static str =
        "a consumer asks an object back and leaves, and a waiting consumer gets the object";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        let stage = Stage::new(world);
        let other = stage.popper("other");
        let leaving = stage.on("leaving", |stage| {
            drop(stage.queue.pop_or_requeue(|_| (AfterPop::Requeue, ())));
        });
        stage.add((1, 1));
        stage.end([leaving, other]);
    }

    /// The other consumer sleeps when the object goes back.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let back = |op: &Op<_, _>| matches!(op, Op::Processed(Processed { requeue: Some(_) }));
            steps(event, back) && before.asleep.count(Bed::Pop) == 1
        })
    }
}

/// An object is put back after the lock was released: a newer state wins (`cache:QU-10`, `QU-11`).
struct PutBackLate;

impl Scenario<Fifo> for PutBackLate {
    const NAME: &'static str = "put_back_late";
    const SAYS: &'static str =
        "a consumer puts an object back late, when a newer state may be queued";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        let stage = Stage::new(world);
        stage.add((1, 1));
        let consumer = stage.on("consumer", |stage| {
            let Ok((popped, ())) = stage.queue.pop(|_| ()) else { return };
            stage.queue.add_if_absent(popped.object).expect("it has a key");
            while stage.pop().is_ok() {}
        });
        stage.update((1, 2));
        stage.end([consumer]);
    }

    /// A newer state waits in the queue.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let back = steps(event, |op| matches!(op, Op::AddIfAbsent(_)));
            back && before.spec.items.contains_key(&1)
        })
    }
}

/// An object that is put into an empty queue is a write, and is given to a waiter.
struct PutBackForAnother;

impl Scenario<Fifo> for PutBackForAnother {
    const NAME: &'static str = "put_back_for_another";
    const SAYS: &'static str =
        "an object that was never popped is put back, and a waiting consumer gets it";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        let stage = Stage::new(world);
        let observer = stage.observer(2);
        let other = stage.popper("other");
        stage.queue.add_if_absent((1, 1)).expect("it has a key");
        stage.end([observer, other]);
    }

    /// The other consumer sleeps when the object comes, and then a caller asks whether the list is
    /// processed.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let back = steps(event, |op| matches!(op, Op::AddIfAbsent(_)));
            back && before.asleep.count(Bed::Pop) == 1
        }) && some(history, |before, event| {
            steps(event, |op| matches!(op, Op::HasSynced(_))) && before.spec.populated
        })
    }
}

/// A consumer panics under the lock (`cache:QU-22`, `cache:LK-8`).
struct PanickingConsumer;

impl Scenario<Fifo> for PanickingConsumer {
    const NAME: &'static str = "panicking_consumer";
    const SAYS: &'static str =
        "a consumer panics while it holds the lock and another consumer waits";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        Stage::new(world).panicking_consumer();
    }

    /// The consumer panics, and the other one pops afterwards.
    fn reaches(history: &History) -> bool {
        let panics = history.events.iter().position(|event| event.noted(PANICS).is_some());
        panics.is_some_and(|at| history.events[at..].iter().any(|event| popped(event).is_some()))
    }
}

/// Slow processing is told, and only where many wait (`cache:QU-21`).
struct SlowConsumer;

impl Scenario<Fifo> for SlowConsumer {
    const NAME: &'static str = "slow_consumer";
    const SAYS: &'static str = "a consumer is slow while many objects wait, and less slow or fewer";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        let slow = Slow::new();
        Stage::told(world, Some(slow.hook())).slow_consumer(&slow);
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}
