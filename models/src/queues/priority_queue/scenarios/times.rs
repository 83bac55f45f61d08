//! Items that wait for the time at which they become ready.

use std::time::Duration;

use seatrial_core::priority_queue::Ret;
use seatrial_core::runtime::Runtime;

use super::{
    Call, adds, caller, earlier_time, end, later, millis, priority, queue, sleep, some, three_due,
    worker,
};
use crate::priority_queue::{History, PriorityQueue};
use crate::queues::fixtures::tasks::Awaited as _;
use crate::queues::fixtures::{due_apart, sleep_together, sooner};
use crate::trial::{Scenario, World};

/// Two consumers sleep until a time, and two earlier times are given (`workqueue:PQ-21`).
pub(super) struct EarlierTime;

impl Scenario<PriorityQueue> for EarlierTime {
    const NAME: &'static str = "earlier_time";
    const SAYS: &'static str =
        "two slow consumers sleep until a time, and two items with earlier times are added";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
        earlier_time(world, &queue(world));
    }

    /// Both consumers sleep until the late time when the early one is given.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| adds(event, 2) && before.getters.len() == 2)
    }
}

/// A waiting item is given other times and priorities (`workqueue:PQ-10`, `PQ-11`).
pub(super) struct BroughtForward;

impl Scenario<PriorityQueue> for BroughtForward {
    const NAME: &'static str = "brought_forward";
    const SAYS: &'static str =
        "a waiting item is added with an earlier and a later time, another without delay";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
        let queue = queue(world);
        queue.add_with(1, later(0, millis(5)));
        let consumer = worker(world, "consumer", &queue, Duration::ZERO);
        let producer = caller(world, "producer", &queue, |queue| {
            queue.add_with(1, later(1, millis(7)));
        });
        queue.add_with(1, later(0, millis(3)));
        queue.add_with(2, later(0, Duration::ZERO));
        let _given = queue.retries();
        world.join(producer);
        end(world, &queue, [consumer]);
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| adds(event, 1) && before.spec.retries == 2)
    }
}

/// Several times have come when a consumer looks (`workqueue:PQ-13`, `PQ-18`).
pub(super) struct DueTogether;

impl Scenario<PriorityQueue> for DueTogether {
    const NAME: &'static str = "due_together";
    const SAYS: &'static str =
        "two items are due before a consumer looks, and a waiting item is added at once";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
        let queue = queue(world);
        queue.add_with(1, later(0, millis(4)));
        queue.add_with(2, later(0, millis(2)));
        queue.add_with(3, later(0, millis(90)));
        queue.add_with(4, priority(0));
        sleep(world, millis(5));
        let producer = caller(world, "producer", &queue, |queue| {
            queue.add_with(3, priority(0)); // keeps its place, before 4
            queue.add_with(4, later(0, millis(1))); // is ready and stays so
            let _ready = queue.len();
        });
        world.join(producer);
        let consumer = worker(world, "consumer", &queue, Duration::ZERO);
        let second = worker(world, "second", &queue, Duration::ZERO);
        end(world, &queue, [consumer, second]);
    }

    /// All four are ready.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            matches!(event.call(), Some(Call::Get(_))) && before.spec.len() == 4
        })
    }
}

/// Three consumers sleep until the time of three items.
pub(super) struct ThreeDue;

impl Scenario<PriorityQueue> for ThreeDue {
    const NAME: &'static str = "three_due";
    const SAYS: &'static str =
        "three consumers sleep until three items become due, and take one each";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
        three_due(world, &queue(world));
    }

    /// The first consumer finds one of them while the others sleep.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let finds = matches!(event.returned(), Some((Call::Get(_), Ret::Get(Some(_)))));
            finds && before.getters.len() == 3
        })
    }
}

/// The time of an item comes while it is held (`workqueue:PQ-20`).
pub(super) struct DueWhileHeld;

impl Scenario<PriorityQueue> for DueWhileHeld {
    const NAME: &'static str = "due_while_held";
    const SAYS: &'static str = "an item becomes due while a consumer holds it";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
        let queue = queue(world);
        queue.add(1);
        let (token, ..) = queue.take_with_priority().expect("one item is ready");
        queue.add_after(1, millis(2));
        let consumer = worker(world, "consumer", &queue, Duration::ZERO);
        let producer = caller(world, "producer", &queue, |queue| queue.add_after(2, millis(9)));
        sleep(world, millis(4));
        let _ready = queue.len();
        queue.done(token);
        world.join(producer);
        end(world, &queue, [consumer]);
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let ready = before.spec.entry(&1).is_some_and(|entry| entry.until.is_none());
            matches!(event.call(), Some(Call::Done(_))) && before.is_held(1) && ready
        })
    }
}

/// Times come while the consumer is busy, and only the figures are refreshed (`workqueue:PQ-19`).
pub(super) struct RefreshedWhileDue;

impl Scenario<PriorityQueue> for RefreshedWhileDue {
    const NAME: &'static str = "refreshed_while_due";
    const SAYS: &'static str =
        "items become due while the only consumer is busy and metrics are refreshed";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
        let queue = queue(world);
        queue.add(1);
        let (token, ..) = queue.take_with_priority().expect("one item is ready");
        queue.add_with(1, later(0, millis(2)));
        queue.add_with(2, later(1, millis(4)));
        queue.add_with(3, later(1, millis(90)));
        let refresher = caller(world, "refresher", &queue, |queue| {
            queue.refresh_metrics(millis(5));
        });
        sleep(world, millis(7));
        queue.add_with(3, priority(2)); // no longer waits
        queue.add_with(3, priority(3));
        sleep(world, millis(1));
        queue.done(token);
        for _ in 1..=3 {
            let (token, ..) = queue.take_with_priority().expect("all are ready");
            sleep(world, millis(1));
            queue.done(token);
        }
        queue.shut_down();
        world.join(refresher);
    }

    /// Both times have come when the figures are reported.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            matches!(event.call(), Some(Call::Refresh(_))) && before.spec.len() == 2
        })
    }
}

/// More items are due than one step makes ready (`workqueue:PQ-22`).
pub(super) struct ManyDue;

impl Scenario<PriorityQueue> for ManyDue {
    const NAME: &'static str = "many_due";
    const SAYS: &'static str = "more items are due than one step makes ready, the last of them with \
                                the highest priority, and a task takes one";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
        let queue = queue(world);
        (1..MANY).for_each(|key| queue.add_with(key, later(0, millis(2))));
        queue.add_with(MANY, later(1, millis(3)));
        sleep(world, millis(4));
        let other = caller(world, "other", &queue, |queue| {
            let _all = queue.len();
        });
        assert!(world.runtime().block_on(queue.work_async()), "many are due");
        let (token, ..) = queue.take_with_priority().expect("many are due");
        queue.done(token);
        world.join(other);
        queue.shut_down();
    }

    /// The item that is due last comes first.
    fn reaches(history: &History) -> bool {
        some(history, |_, event| {
            matches!(event.returned(), Some((_, Ret::Get(Some((_, MANY, 1))))))
        })
    }
}

/// Two steps make them ready; the second step only a few.
const MANY: u8 = 70;

/// An item for which a consumer sleeps gets an earlier time.
pub(super) struct Sooner;

impl Scenario<PriorityQueue> for Sooner {
    const NAME: &'static str = "sooner";
    const SAYS: &'static str =
        "a consumer sleeps until the time of an item, and the item gets an earlier one";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
        sooner(world, &queue(world));
    }

    /// The consumer sleeps before the producer calls.
    fn reaches(history: &History) -> bool {
        sleep_together(history, 1)
    }
}

/// Two consumers sleep, and two items become due one after the other.
pub(super) struct DueApart;

impl Scenario<PriorityQueue> for DueApart {
    const NAME: &'static str = "due_apart";
    const SAYS: &'static str =
        "two consumers sleep on an empty queue, and take one item each, which become due in turn";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
        due_apart(world, &queue(world));
    }

    /// Both consumers sleep.
    fn reaches(history: &History) -> bool {
        sleep_together(history, 2)
    }
}
