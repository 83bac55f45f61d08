//! Small concurrent programs on the queue, each named by the case that it must reach.

use std::collections::hash_map::DefaultHasher;
use std::hash::BuildHasherDefault;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use seatrial_core::machine::{Boxed, Step};
use seatrial_core::queue::{Drain, DrainUntil, Fifo, Op, Queue as Rules, Ret, WorkQueue};
use seatrial_core::runtime::Runtime;

use super::ledger::{Ledger, at_every_event};
use super::{Event, History, Queue};
use crate::trial::{DynScenario, Scenario, What, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<Queue>>> {
    vec![
        Box::new(TwoProducersOneItem),
        Box::new(AddWhileProcessing),
        Box::new(TwoGetters),
        Box::new(TwoWorkers),
        Box::new(ShutDownWhileWaiting),
        Box::new(DrainReleasedByShutdown),
        Box::new(TwoDrains),
        Box::new(DrainAfterShutdown),
        Box::new(DrainWithReprocess),
        Box::new(StrictDrain),
        Box::new(StaleToken),
        Box::new(Misuse),
        Box::new(PanickingWorker),
    ]
}

/// The hasher that every execution computes alike.
type FixedHasher = BuildHasherDefault<DefaultHasher>;
type Tried<R> = Arc<WorkQueue<u8, R, Fifo, FixedHasher, Boxed<Rules<u8>>>>;

fn queue<R: Runtime>(world: &World<R, Queue>) -> Tried<R> {
    Arc::new(WorkQueue::with_host(world.runtime(), FixedHasher::default(), world.machine()))
}

/// A consumer that works until the queue is shut down and empty.
fn worker<R: Runtime>(world: &World<R, Queue>, name: &str, queue: &Tried<R>) -> R::Join<()> {
    let queue = Arc::clone(queue);
    world.spawn(name, move || {
        while let Some((token, _)) = queue.take() {
            queue.done(token);
        }
    })
}

/// Runs a few calls on a thread of their own.
fn caller<R: Runtime>(
    world: &World<R, Queue>,
    name: &str,
    queue: &Tried<R>,
    calls: impl FnOnce(&Tried<R>) + Send + 'static,
) -> R::Join<()> {
    let queue = Arc::clone(queue);
    world.spawn(name, move || calls(&queue))
}

/// Tells whether some event meets a condition that knows what happened before it.
fn some(history: &History, wanted: impl Fn(&Ledger, &Event) -> bool) -> bool {
    let found = |before: &Ledger, event: &Event| {
        if wanted(before, event) { Err(String::new()) } else { Ok(()) }
    };
    at_every_event(history, found).is_err()
}

fn adds(event: &Event) -> Option<u8> {
    match &event.what {
        What::Step { op: Op::Add(add), .. } => add.key,
        _ => None,
    }
}

fn drain_waits(event: &Event) -> bool {
    matches!(&event.what, What::Step { op: Op::Drain(_), outcome: Step::Wait { .. }, .. })
}

fn drain_returns(event: &Event) -> bool {
    matches!(event.returned(), Some((Op::Drain(_), _)))
}

/// Two producers add the same item while one consumer works (`workqueue:SC-1`).
struct TwoProducersOneItem;

impl Scenario<Queue> for TwoProducersOneItem {
    const NAME: &'static str = "two_producers_one_item";
    const SAYS: &'static str = "two producers add the same item while one consumer works";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        let consumer = worker(world, "consumer", &queue);
        let producer = caller(world, "producer", &queue, |queue| queue.add(1));
        queue.add(1);
        world.join(producer);
        world.quiesce();
        queue.shut_down();
        world.join(consumer);
    }

    /// The second add finds the item waiting.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            adds(event).is_some_and(|key| before.spec.waiting.contains(&key))
        })
    }
}

/// An item is added twice while it is processed; two consumers wait (`workqueue:SC-2`).
struct AddWhileProcessing;

impl Scenario<Queue> for AddWhileProcessing {
    const NAME: &'static str = "add_while_processing";
    const SAYS: &'static str = "an item is added while one consumer processes it and another waits";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        queue.add(1);
        let (token, _) = queue.take().expect("one item waits");
        let consumer = worker(world, "consumer", &queue);
        let producer = caller(world, "producer", &queue, |queue| {
            queue.add(1);
            queue.add(1);
        });
        queue.done(token);
        world.join(producer);
        world.quiesce();
        queue.shut_down();
        world.join(consumer);
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| adds(event).is_some_and(|key| before.in_processing(key)))
    }
}

/// Two consumers wait for one item each while two are added (`workqueue:SC-3`).
struct TwoGetters;

impl Scenario<Queue> for TwoGetters {
    const NAME: &'static str = "two_getters";
    const SAYS: &'static str = "two consumers take one item each, and are long about it";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        let getter = |name| {
            let queue = Arc::clone(&queue);
            world.spawn(name, move || queue.take())
        };
        let (first, second) = (getter("first"), getter("second"));
        queue.add(1);
        queue.add(2);
        world.quiesce();
        for getter in [first, second] {
            if let Some((token, _)) = world.join(getter) {
                queue.done(token);
            }
        }
    }

    /// Both consumers sleep when an item comes.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| adds(event).is_some() && before.getters.len() == 2)
    }
}

/// Two consumers work while two items are added.
struct TwoWorkers;

impl Scenario<Queue> for TwoWorkers {
    const NAME: &'static str = "two_workers";
    const SAYS: &'static str = "two consumers work while two items are added";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        let first = worker(world, "first", &queue);
        let second = worker(world, "second", &queue);
        queue.add(1);
        queue.add(2);
        world.quiesce();
        let _waiting = queue.len();
        queue.shut_down();
        world.join(first);
        world.join(second);
    }

    /// Both consumers sleep when an item comes.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| adds(event).is_some() && before.getters.len() == 2)
    }
}

/// A consumer waits while the queue is shut down and an item is added (`workqueue:SC-4`).
struct ShutDownWhileWaiting;

impl Scenario<Queue> for ShutDownWhileWaiting {
    const NAME: &'static str = "shut_down_while_waiting";
    const SAYS: &'static str = "two consumers wait while an item is added and the queue shut down";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        let first = worker(world, "first", &queue);
        let second = worker(world, "second", &queue);
        let producer = caller(world, "producer", &queue, |queue| {
            queue.add(1);
            let _says = queue.is_shutting_down();
        });
        queue.shut_down();
        world.join(producer);
        world.join(first);
        world.join(second);
    }

    /// Both consumers sleep when the queue is shut down.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let shuts_down = matches!(&event.what, What::Step { op: Op::ShutDown(_), .. });
            shuts_down && before.getters.len() == 2
        })
    }
}

/// A drain waits for an item that is not done; shut_down releases it (`workqueue:SC-5`).
struct DrainReleasedByShutdown;

impl Scenario<Queue> for DrainReleasedByShutdown {
    const NAME: &'static str = "drain_released_by_shutdown";
    const SAYS: &'static str = "a drain waits for an item that is not done, and shut_down comes";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        queue.add(1);
        queue.add(2);
        let (token, _) = queue.take().expect("two items wait");
        let drain = caller(world, "drain", &queue, |queue| queue.shut_down_with_drain());
        let observer = caller(world, "observer", &queue, |queue| {
            let _says = queue.is_shutting_down();
            let _waiting = queue.len();
        });
        queue.shut_down();
        world.join(observer);
        world.quiesce();
        queue.done(token); // for a drain that began after the shut_down
        world.join(drain);
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            drain_returns(event) && before.drains.values().any(|drain| drain.was_released)
        })
    }
}

/// Two drains wait for one item (`workqueue:SC-6`).
struct TwoDrains;

impl Scenario<Queue> for TwoDrains {
    const NAME: &'static str = "two_drains";
    const SAYS: &'static str = "two drains wait for one item in flight, which is then done";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        queue.add(1);
        let (token, _) = queue.take().expect("one item waits");
        let first = caller(world, "first", &queue, |queue| queue.shut_down_with_drain());
        let second = caller(world, "second", &queue, |queue| queue.shut_down_with_drain());
        queue.done(token);
        world.join(first);
        world.join(second);
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| before.drains.len() == 2 && drain_returns(event))
    }
}

/// A drain is released while a new drain starts (`workqueue:SC-7`).
struct DrainAfterShutdown;

impl Scenario<Queue> for DrainAfterShutdown {
    const NAME: &'static str = "drain_after_shutdown";
    const SAYS: &'static str = "shut_down releases a drain while another drain starts";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        queue.add(1);
        let (token, _) = queue.take().expect("one item waits");
        let early = caller(world, "early", &queue, |queue| queue.shut_down_with_drain());
        let late = caller(world, "late", &queue, |queue| {
            queue.shut_down();
            queue.shut_down_with_drain();
        });
        world.quiesce();
        queue.done(token);
        world.join(early);
        world.join(late);
    }

    /// The late drain goes to sleep before the early one has left.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let released = before.drains.values().any(|drain| drain.was_released);
            drain_waits(event) && released && !before.drains.contains_key(&event.thread)
        })
    }
}

/// An item that was added while processed meets a drain (`workqueue:SC-8`).
struct DrainWithReprocess;

impl Scenario<Queue> for DrainWithReprocess {
    const NAME: &'static str = "drain_with_reprocess";
    const SAYS: &'static str = "a drain meets an item that was added while it was processed";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        queue.add(1);
        queue.add(2);
        let (token, _) = queue.take().expect("two items wait");
        queue.add(1);
        let consumer = worker(world, "consumer", &queue);
        let drain = caller(world, "drain", &queue, |queue| queue.shut_down_with_drain());
        let late = caller(world, "late", &queue, |queue| queue.add(3));
        queue.done(token);
        world.quiesce();
        world.join(late);
        world.join(drain);
        world.join(consumer);
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let done = matches!(&event.what, What::Step { op: Op::Done(_), .. });
            done && before.drains.len() == 1 && before.spec.dirty.contains(&1)
        })
    }
}

/// A strict drain waits for everything that was accepted (`workqueue:WQ-33`).
struct StrictDrain;

impl Scenario<Queue> for StrictDrain {
    const NAME: &'static str = "strict_drain";
    const SAYS: &'static str = "a strict drain waits until a consumer has finished all work";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        queue.add(1);
        let (token, _) = queue.take().expect("one item waits");
        queue.add(1);
        let drain = caller(world, "drain", &queue, |queue| queue.shut_down_when_done());
        let consumer = worker(world, "consumer", &queue);
        queue.done(token);
        queue.work(|_| {}); // whoever is done asks again: the other may have left (WQ-13)
        world.join(drain);
        world.join(consumer);
    }

    /// The drain is asleep while the item that returned at done waits for its second processing.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let strict =
                |op: &Op<u8>| matches!(op, Op::Drain(Drain { until: DrainUntil::AllWorkDone, .. }));
            let drained = event.returned().is_some_and(|(op, _)| strict(op));
            drained && before.gets.get(&1) == Some(&2)
        })
    }
}

/// A token is used again after its item was handed out anew (`workqueue:WQ-22`).
struct StaleToken;

impl Scenario<Queue> for StaleToken {
    const NAME: &'static str = "stale_token";
    const SAYS: &'static str = "a token is used again while another consumer processes its item";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        queue.add(1);
        let (token, _) = queue.take().expect("one item waits");
        queue.done(token);
        queue.add(1);
        let other = worker(world, "other", &queue);
        let again = caller(world, "again", &queue, move |queue| {
            queue.done(token);
            queue.add(1);
        });
        world.join(again);
        world.quiesce();
        queue.shut_down();
        world.join(other);
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let misses = matches!(
                event.returned(),
                Some((_, Ret::Done(seatrial_core::queue::Finished::NotInProcessing)))
            );
            misses && before.in_processing(1)
        })
    }
}

/// Done is called for an item that waits (`workqueue:WQ-21`).
struct Misuse;

impl Scenario<Queue> for Misuse {
    const NAME: &'static str = "misuse";
    const SAYS: &'static str = "done is called for an item that waits, with two consumers about";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        queue.add(1);
        let misuser = caller(world, "misuser", &queue, |queue| {
            queue.done_key(&1);
        });
        let first = worker(world, "first", &queue);
        let second = worker(world, "second", &queue);
        world.join(misuser);
        world.quiesce();
        queue.shut_down();
        world.join(first);
        world.join(second);
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let done = matches!(&event.what, What::Step { op: Op::DoneKey(_), .. });
            done && before.spec.waiting.contains(&1)
        })
    }
}

/// A consumer panics in the middle of its work (`workqueue:CL-2`, `LIV-13`).
struct PanickingWorker;

impl Scenario<Queue> for PanickingWorker {
    const NAME: &'static str = "panicking_worker";
    const SAYS: &'static str = "a consumer panics in the middle of its work while a drain waits";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        queue.add(1);
        let note = world.clone();
        let consumer = caller(world, "consumer", &queue, move |queue| {
            let process = |_: &u8| -> () {
                note.note("panics", 1);
                panic!("the reconcile function fails");
            };
            let worked = catch_unwind(AssertUnwindSafe(|| queue.work(process)));
            let _the_queue_may_be_shut_down_first = worked;
        });
        queue.add(1);
        queue.shut_down_with_drain();
        world.join(consumer);
        queue.shut_down();
    }

    fn reaches(history: &History) -> bool {
        history.notes("panics").next().is_some() && some(history, |_, event| drain_waits(event))
    }
}
