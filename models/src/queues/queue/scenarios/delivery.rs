//! Items on their way through the queue.

use seatrial_core::queue::Ret;
use seatrial_core::runtime::Runtime;

use super::{adds, caller, end, ends, queue, some, worker};
use crate::queue::{History, Queue};
use crate::queues::fixtures::{millis, sleep};
use crate::trial::{Scenario, World};

/// Two producers add the same item while one consumer works (`workqueue:SC-1`).
pub(super) struct TwoProducersOneItem;

impl Scenario<Queue> for TwoProducersOneItem {
    const NAME: &'static str = "two_producers_one_item";
    const SAYS: &'static str = "two producers add the same item while one consumer works";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        let consumer = worker(world, "consumer", &queue);
        let producer = caller(world, "producer", &queue, |queue| queue.add(1));
        queue.add(1);
        world.join(producer);
        end(world, &queue, [consumer]);
    }

    /// The second add finds the item waiting.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            adds(event).is_some_and(|key| before.spec.waiting.contains(&key))
        })
    }
}

/// An item is added twice while it is processed; two consumers wait (`workqueue:SC-2`).
pub(super) struct AddWhileProcessing;

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
        end(world, &queue, [consumer]);
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| adds(event).is_some_and(|key| before.in_processing(key)))
    }
}

/// Two consumers wait for one item each while two are added (`workqueue:SC-3`).
pub(super) struct TwoGetters;

impl Scenario<Queue> for TwoGetters {
    const NAME: &'static str = "two_getters";
    const SAYS: &'static str = "two consumers take one item each and hold it for a long time";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        let getter = |name| caller(world, name, &queue, |queue| queue.take());
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

/// Two consumers each end an item and take the next in one step, while an item comes again.
pub(super) struct WorkersGoOn;

impl Scenario<Queue> for WorkersGoOn {
    const NAME: &'static str = "workers_go_on";
    const SAYS: &'static str =
        "two consumers end an item and take the next in one step, while an item is added again";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        let worker = |name| {
            caller(world, name, &queue, |queue| {
                let mut held = queue.take();
                while let Some((token, _)) = held {
                    held = queue.done_then_take(token);
                }
            })
        };
        let workers = [worker("first"), worker("second")];
        queue.add(1);
        queue.add(1);
        queue.add(2);
        end(world, &queue, workers);
    }

    /// One consumer ends an item that came again, while the other sleeps.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let comes_again = !before.spec.dirty.is_disjoint(&before.spec.processing);
            ends(event) && comes_again && before.getters.len() == 1
        })
    }
}

/// Two consumers work while two items are added.
pub(super) struct TwoWorkers;

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

/// Items wait and are processed for a while, one of them twice (`workqueue:MX-6`, `MX-9`).
pub(super) struct Timed;

impl Scenario<Queue> for Timed {
    const NAME: &'static str = "timed";
    const SAYS: &'static str =
        "an item waits and is processed for some time, and is added again meanwhile";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        sleep(world, millis(1));
        queue.add(1);
        let refresher = caller(world, "refresher", &queue, |queue| {
            queue.refresh_metrics(millis(5));
        });
        let producer = caller(world, "producer", &queue, |queue| queue.add(1));
        sleep(world, millis(2));
        let (token, _) = queue.take().expect("one item waits");
        queue.add(1); // counts from here, not from the done
        sleep(world, millis(4));
        queue.done(token);
        sleep(world, millis(1));
        let (token, _) = queue.take().expect("it was added again");
        sleep(world, millis(6));
        queue.done(token);
        world.join(producer);
        queue.shut_down();
        world.join(refresher);
    }

    /// The item is handed out a second time, because it was added while it was processed.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let taken = matches!(event.returned(), Some((_, Ret::Get(Some(_)))));
            taken && before.gets.contains_key(&1)
        })
    }
}
