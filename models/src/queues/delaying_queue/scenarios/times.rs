//! Items that wait for the time at which they are added.

use std::time::Duration;

use seatrial_core::queue::Add;
use seatrial_core::runtime::{Instant, Runtime};

use super::{
    Call, Tried, caller, due, earlier_time, end, gives, millis, queue, sleep, some, three_due,
    worker,
};
use crate::delaying_queue::as_queue::moment;
use crate::delaying_queue::{DelayingQueue, History};
use crate::engine::Engine;
use crate::queues::fixtures::{due_apart, sleep_together, sooner};
use crate::trial::{Scenario, World};

/// Two consumers sleep until a time, and two earlier times are given.
pub(super) struct EarlierTime;

impl Scenario<DelayingQueue> for EarlierTime {
    const NAME: &'static str = "earlier_time";
    const SAYS: &'static str =
        "two slow consumers sleep until a time, and two items with earlier times are added";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        earlier_time(world, &queue(world));
    }

    /// Both consumers sleep until the late time when the early one is given.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| gives(event, 2) && before.getters.len() == 2)
    }
}

/// Several delays are given to one item (`workqueue:SC-10`).
pub(super) struct BroughtForward;

impl Scenario<DelayingQueue> for BroughtForward {
    const NAME: &'static str = "brought_forward";
    const SAYS: &'static str = "one item is added with three delays, and the earliest counts";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        let queue = queue(world);
        queue.add_after(1, millis(5));
        let consumer = worker(world, "consumer", &queue, Duration::ZERO);
        let producer = caller(world, "producer", &queue, |queue| queue.add_after(1, millis(7)));
        queue.add_after(1, millis(3));
        let _counted = queue.retries();
        world.join(producer);
        end(world, &queue, [consumer]);
    }

    /// The last of the three finds the item waiting for another time.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let gives_again = matches!(event.call(), Some(Call::AddAfter(_)));
            gives_again && before.times.retries == 2 && !before.times.later.is_empty()
        })
    }
}

/// The time of an item comes in the middle of other work.
pub(super) struct DueAtAnyTime;

impl Scenario<DelayingQueue> for DueAtAnyTime {
    const NAME: &'static str = "due_at_any_time";
    const SAYS: &'static str = "an item becomes due while a producer still adds another item";
    const FREE_DEADLINES: u32 = 1;

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        let queue = queue(world);
        let consumer = worker(world, "consumer", &queue, Duration::ZERO);
        queue.add_after(1, millis(2));
        queue.add(2);
        end(world, &queue, [consumer]);
    }

    /// An item is added at once at a time that no thread has slept for.
    fn reaches(history: &History) -> bool {
        some(history, |_, event| {
            matches!(event.call(), Some(Call::Add(_))) && event.at >= Instant::ZERO + millis(2)
        })
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        (engine == Engine::Threads).then_some("real time cannot pass at a chosen moment")
    }
}

/// An item that waits for its time is added at once (`workqueue:DQ-11`).
pub(super) struct AddWhileDelayed;

impl Scenario<DelayingQueue> for AddWhileDelayed {
    const NAME: &'static str = "add_while_delayed";
    const SAYS: &'static str =
        "a delayed item is added at once, by add and by add_after with no delay";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        let queue = queue(world);
        let consumer = worker(world, "consumer", &queue, Duration::ZERO);
        queue.add_after(1, millis(3));
        let producer = caller(world, "producer", &queue, |queue| queue.add(1));
        queue.add_after(1, Duration::ZERO);
        world.join(producer);
        end(world, &queue, [consumer]);
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let adds = matches!(event.call(), Some(Call::Add(Add { key: Some(1), .. })));
            adds && !before.times.later.is_empty() && !before.getters.is_empty()
        })
    }
}

/// Three times have come when two consumers look (`workqueue:DQ-13`).
pub(super) struct DueTogether;

impl Scenario<DelayingQueue> for DueTogether {
    const NAME: &'static str = "due_together";
    const SAYS: &'static str = "three items are already due when two consumers begin";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        let queue = queue(world);
        queue.add_after(1, millis(4));
        queue.add_after(2, millis(2));
        queue.add_after(3, millis(2));
        sleep(world, millis(5));
        let first = worker(world, "first", &queue, Duration::ZERO);
        let second = worker(world, "second", &queue, Duration::ZERO);
        queue.add(4);
        let _due = queue.len();
        end(world, &queue, [first, second]);
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            matches!(event.call(), Some(Call::Get(_))) && due(&before.times, event.at).len() == 3
        })
    }
}

/// Three consumers sleep until the time of three items.
pub(super) struct ThreeDue;

impl Scenario<DelayingQueue> for ThreeDue {
    const NAME: &'static str = "three_due";
    const SAYS: &'static str =
        "three consumers sleep until three items become due, and take one each";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        three_due(world, &queue(world));
    }

    /// The first consumer looks while the others sleep.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let looks = matches!(event.call(), Some(Call::Get(_)));
            looks && before.getters.len() == 3 && due(&before.times, event.at).len() == 3
        })
    }
}

/// The time of an item comes while it is processed (`workqueue:DQ-12`).
pub(super) struct DueWhileProcessing;

impl Scenario<DelayingQueue> for DueWhileProcessing {
    const NAME: &'static str = "due_while_processing";
    const SAYS: &'static str = "an item becomes due while a consumer processes it";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        let queue = queue(world);
        queue.add(1);
        let (token, _) = queue.take().expect("one item waits");
        let consumer = worker(world, "consumer", &queue, Duration::ZERO);
        let producer = caller(world, "producer", &queue, |queue| {
            queue.add_after(1, millis(2));
            queue.add_after(2, millis(2));
        });
        sleep(world, millis(6));
        queue.done(token);
        world.join(producer);
        end(world, &queue, [consumer]);
    }

    /// The item's time comes while it is processed.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let passed = |item: &(u8, Duration)| item.0 == 1 && item.1 <= moment(event.at);
            before.in_processing == 1 && before.times.later.iter().any(passed)
        })
    }
}

/// An item that is queued again at done goes behind the items whose time came before.
pub(super) struct DoneAfterDue;

impl Scenario<DelayingQueue> for DoneAfterDue {
    const NAME: &'static str = "done_after_due";
    const SAYS: &'static str =
        "an item that done queues again goes behind an item that became due earlier";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        let queue = queue(world);
        queue.add(1);
        let (token, _) = queue.take().expect("one item waits");
        queue.add(1);
        queue.add_after(2, millis(2));
        queue.add_after(3, millis(90));
        let at_that_time = world.clone();
        let observer = caller(world, "observer", &queue, move |queue| {
            sleep(&at_that_time, millis(3));
            let _waiting = queue.len();
        });
        sleep(world, millis(3));
        queue.done(token);
        let consumer = worker(world, "consumer", &queue, Duration::ZERO);
        world.join(observer);
        end(world, &queue, [consumer]);
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            matches!(event.call(), Some(Call::Done(_))) && !due(&before.times, event.at).is_empty()
        })
    }
}

/// Times come while the consumer is busy, and only the figures are refreshed (`workqueue:MX-10`).
pub(super) struct RefreshedWhileDue;

impl Scenario<DelayingQueue> for RefreshedWhileDue {
    const NAME: &'static str = "refreshed_while_due";
    const SAYS: &'static str =
        "items become due while the only consumer is busy and metrics are refreshed";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        let queue = queue(world);
        queue.add(1);
        let (token, _) = queue.take().expect("one item waits");
        queue.add_after(1, millis(2));
        queue.add_after(2, millis(4));
        let refresher = caller(world, "refresher", &queue, |queue| {
            queue.refresh_metrics(millis(5));
        });
        sleep(world, millis(7));
        queue.done(token);
        for _ in 1..=2 {
            let (token, _) = queue.take().expect("both are due");
            sleep(world, millis(1));
            queue.done(token);
        }
        queue.shut_down();
        world.join(refresher);
    }

    /// Both times have come when the figures are reported.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let refreshes = matches!(event.call(), Some(Call::Refresh(_)));
            refreshes && due(&before.times, event.at).len() == 2
        })
    }
}

/// More items are due together than one step adds.
pub(super) struct ManyDue;

impl Scenario<DelayingQueue> for ManyDue {
    const NAME: &'static str = "many_due";
    const SAYS: &'static str = "more items are due than one step adds, and two callers add them";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        let (queue, other) = many_due(world);
        for _ in 1..=3 {
            let (token, _) = queue.take().expect("many are due");
            queue.done(token);
        }
        world.join(other);
        queue.shut_down();
    }

    /// A consumer is handed the first of them before any of the others is added.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let first = matches!(event.returned(), Some((Call::Get(_), _)));
            first && due(&before.times, event.at).len() == usize::from(MANY)
        })
    }
}

/// More items are due than one step adds when the queue is shut down.
pub(super) struct ManyDueAtTheEnd;

impl Scenario<DelayingQueue> for ManyDueAtTheEnd {
    const NAME: &'static str = "many_due_at_the_end";
    const SAYS: &'static str =
        "a queue is shut down while more items are due than one step adds, and all are handed out";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        let (queue, other) = many_due(world);
        queue.shut_down();
        let mut taken = 0;
        while let Some((token, _)) = queue.take() {
            queue.done(token);
            taken += 1;
        }
        assert_eq!(taken, MANY, "what was due before the shutdown is handed out");
        world.join(other);
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let ends = matches!(event.call(), Some(Call::ShutDown(_)));
            ends && due(&before.times, event.at).len() == usize::from(MANY)
        })
    }
}

/// Two steps add them; the second step adds only a few.
const MANY: u8 = 70;

/// Makes a queue in which many items are due, and another caller that counts them.
fn many_due<R: Runtime>(world: &World<R, DelayingQueue>) -> (Tried<R>, R::Join<()>) {
    let queue = queue(world);
    (1..=MANY).for_each(|key| queue.add_after(key, millis(2)));
    sleep(world, millis(3));
    let other = caller(world, "other", &queue, |queue| {
        let _all = queue.len();
    });
    (queue, other)
}

/// An item for which a consumer sleeps gets an earlier time.
pub(super) struct Sooner;

impl Scenario<DelayingQueue> for Sooner {
    const NAME: &'static str = "sooner";
    const SAYS: &'static str =
        "a consumer sleeps until the time of an item, and the item gets an earlier one";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        sooner(world, &queue(world));
    }

    /// The consumer sleeps before the producer calls.
    fn reaches(history: &History) -> bool {
        sleep_together(history, 1)
    }
}

/// Two consumers sleep, and two items become due one after the other.
pub(super) struct DueApart;

impl Scenario<DelayingQueue> for DueApart {
    const NAME: &'static str = "due_apart";
    const SAYS: &'static str =
        "two consumers sleep on an empty queue, and take one item each, which become due in turn";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        due_apart(world, &queue(world));
    }

    /// Both consumers sleep.
    fn reaches(history: &History) -> bool {
        sleep_together(history, 2)
    }
}
