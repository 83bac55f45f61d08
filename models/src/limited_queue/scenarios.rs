//! Small concurrent programs on the queue, each named by the case that it must reach.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use seatrial_core::limited_queue::{LimitedQueue as Shell, Op as Call, Outcome, Ret};
use seatrial_core::limiter::Exponential;
use seatrial_core::machine::{Boxed, Step};
use seatrial_core::queue::Fifo;
use seatrial_core::runtime::Runtime;

use super::as_delaying::Failures;
use super::{Event, History, LimitedQueue, Ours};
use crate::queue::family::{
    Delayed, FixedHasher, Worked, caller, earlier_time, end, millis, sleep, worker,
};
use crate::trial::{DynScenario, Ledger as _, Scenario, What, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<LimitedQueue>>> {
    vec![
        Box::new(FailsTwice),
        Box::new(FailuresOfTwo),
        Box::new(ForgottenBetween),
        Box::new(ProcessedAgain),
        Box::new(AddedWhileFailing),
        Box::new(StaleDelivery),
        Box::new(SettledForAnother),
        Box::new(SettledInEveryWay),
        Box::new(TakenTogether),
        Box::new(EarlierTime),
        Box::new(ShutDownWhileFailing),
    ]
}

const TWO: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);

type Queued<R> = Shell<u8, R, Exponential<u8>, Fifo, FixedHasher, Boxed<Ours>>;
type Tried<R> = Arc<Queued<R>>;

fn queue<R: Runtime>(world: &World<R, LimitedQueue>) -> Tried<R> {
    Arc::new(Shell::with_host(world.runtime(), FixedHasher::default(), world.machine()))
}

impl<R: Runtime> Worked for Queued<R> {
    fn work_once(&self, work: impl FnOnce()) -> bool {
        let Some((token, _)) = self.take() else { return false };
        work();
        self.settle(token, Outcome::Success);
        true
    }

    fn shut_down(&self) {
        self.shut_down();
    }
}

impl<R: Runtime> Delayed for Queued<R> {
    fn add_after(&self, item: u8, delay: Duration) {
        self.add_after(item, delay);
    }
}

/// A consumer to which the first deliveries fail.
fn failing<R: Runtime>(
    world: &World<R, LimitedQueue>,
    queue: &Tried<R>,
    outcomes: impl Into<Vec<Outcome>>,
) -> R::Join<()> {
    let mut outcomes = outcomes.into().into_iter();
    caller(world, "failing", queue, move |queue| {
        while let Some((token, _)) = queue.take() {
            queue.settle(token, outcomes.next().unwrap_or(Outcome::Success));
        }
    })
}

fn call(event: &Event) -> Option<&Call<u8>> {
    match &event.what {
        What::Step { op, .. } => Some(op),
        _ => None,
    }
}

fn sleeps(event: &Event) -> bool {
    matches!(event.what, What::Step { op: Call::Get(_), outcome: Step::Wait { .. }, .. })
}

/// Returns how often an item failed, as far as it is known.
fn failures(before: &Failures, key: u8) -> u32 {
    before.failures.get(&key).copied().unwrap_or_default()
}

/// An item fails twice and then succeeds (`workqueue:CL-3`).
struct FailsTwice;

impl Scenario<LimitedQueue> for FailsTwice {
    const NAME: &'static str = "fails_twice";
    const SAYS: &'static str = "an item fails twice and succeeds, while one asks how often it did";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        let queue = queue(world);
        let consumer = failing(world, &queue, [Outcome::Retry, Outcome::Retry]);
        queue.add(1);
        sleep(world, millis(2));
        let _failures = queue.num_requeues(&1);
        sleep(world, millis(5));
        let _failures = queue.num_requeues(&1);
        sleep(world, millis(10));
        let _failures = queue.num_requeues(&1);
        let _retries = queue.retries();
        end(world, &queue, [consumer]);
    }

    /// It is asked for after the second failure, and after the success.
    fn reaches(history: &History) -> bool {
        let asked = |times| {
            Failures::some(history, |before, event| {
                matches!(call(event), Some(Call::NumRequeues(_))) && failures(before, 1) == times
            })
        };
        asked(2) && asked(0)
    }
}

/// Two items fail on their own.
struct FailuresOfTwo;

impl Scenario<LimitedQueue> for FailuresOfTwo {
    const NAME: &'static str = "failures_of_two";
    const SAYS: &'static str = "two items fail at once, and one of them again, beside a consumer";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        let queue = queue(world);
        let consumer = worker(world, "consumer", &queue, Duration::ZERO);
        let other = caller(world, "other", &queue, |queue| queue.add_rate_limited(1));
        queue.add_rate_limited(1);
        queue.add_rate_limited(2);
        let _failures = queue.num_requeues(&2);
        world.join(other);
        end(world, &queue, [consumer]);
    }

    /// The consumer sleeps when the first has failed twice and the second once.
    fn reaches(history: &History) -> bool {
        Failures::some(history, |before, event| {
            sleeps(event) && failures(before, 1) == 2 && failures(before, 2) == 1
        })
    }
}

/// An item is forgotten between two failures (`workqueue:RQ-2`).
struct ForgottenBetween;

impl Scenario<LimitedQueue> for ForgottenBetween {
    const NAME: &'static str = "forgotten_between";
    const SAYS: &'static str = "an item fails twice, and is forgotten before, between or after";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        let queue = queue(world);
        let forgetter = caller(world, "forgetter", &queue, |queue| queue.forget(&1));
        queue.add_rate_limited(1);
        queue.add_rate_limited(1);
        let _failures = queue.num_requeues(&1);
        let consumer = worker(world, "consumer", &queue, Duration::ZERO);
        world.join(forgetter);
        end(world, &queue, [consumer]);
    }

    /// It has failed once since.
    fn reaches(history: &History) -> bool {
        Failures::some(history, |before, event| {
            matches!(call(event), Some(Call::NumRequeues(_))) && failures(before, 1) == 1
        })
    }
}

/// An item succeeds and is to be processed again (`workqueue:CL-9`).
struct ProcessedAgain;

impl Scenario<LimitedQueue> for ProcessedAgain {
    const NAME: &'static str = "processed_again";
    const SAYS: &'static str =
        "an item fails, then is to come again after a time, then is given up";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        let queue = queue(world);
        let outcomes = [Outcome::Retry, Outcome::RequeueAfter(millis(5)), Outcome::GiveUp];
        let consumer = failing(world, &queue, outcomes);
        queue.add(1);
        sleep(world, millis(4));
        let _failures = queue.num_requeues(&1);
        sleep(world, millis(9));
        queue.add_rate_limited(1);
        let _failures = queue.num_requeues(&1);
        end(world, &queue, [consumer]);
    }

    /// The failures are forgotten when it is asked for.
    fn reaches(history: &History) -> bool {
        Failures::some(history, |before, event| {
            matches!(call(event), Some(Call::NumRequeues(_))) && failures(before, 1) == 0
        })
    }
}

/// An item fails while it is added (`workqueue:CL-2`, `CL-5`).
struct AddedWhileFailing;

impl Scenario<LimitedQueue> for AddedWhileFailing {
    const NAME: &'static str = "added_while_failing";
    const SAYS: &'static str = "an item is added while it is processed, and fails";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        let queue = queue(world);
        queue.add(1);
        let consumer = failing(world, &queue, [Outcome::Retry]);
        let second = worker(world, "second", &queue, Duration::ZERO);
        queue.add(1);
        end(world, &queue, [consumer, second]);
    }

    /// It fails with another delivery due.
    fn reaches(history: &History) -> bool {
        let adds = |event: &Event| matches!(call(event), Some(Call::Add(_)));
        let second = history.events.iter().rposition(adds);
        let fails = |event: &Event| matches!(call(event), Some(Call::Settle(it)) if it.outcome == Outcome::Retry);
        second.is_some_and(|at| history.events[at..].iter().any(fails))
    }
}

/// A delivery is settled twice, the second time when another has the item.
struct StaleDelivery;

impl Scenario<LimitedQueue> for StaleDelivery {
    const NAME: &'static str = "stale_delivery";
    const SAYS: &'static str = "a delivery is settled twice while another has the item";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        let queue = queue(world);
        queue.add(1);
        let (token, _) = queue.take().expect("one item waits");
        queue.add(1);
        queue.settle(token, Outcome::Success);
        let consumer = worker(world, "consumer", &queue, Duration::ZERO);
        queue.settle(token, Outcome::Retry);
        let _failures = queue.num_requeues(&1);
        end(world, &queue, [consumer]);
    }

    /// The other has it by then.
    fn reaches(history: &History) -> bool {
        let takes = |event: &Event| matches!(call(event), Some(Call::Get(_)));
        let settles = |event: &Event| matches!(call(event), Some(Call::Settle(it)) if it.outcome == Outcome::Retry);
        let stale = history.events.iter().position(settles);
        stale.is_some_and(|at| history.events[..at].iter().filter(|it| takes(it)).count() == 2)
    }
}

/// An item that returns when its delivery is settled is for whoever waits.
struct SettledForAnother;

impl Scenario<LimitedQueue> for SettledForAnother {
    const NAME: &'static str = "settled_for_another";
    const SAYS: &'static str = "an item is settled that was added meanwhile, and another waits";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        let queue = queue(world);
        queue.add(1);
        let (token, _) = queue.take().expect("one item waits");
        let consumer = worker(world, "consumer", &queue, Duration::ZERO);
        queue.add(1);
        queue.settle(token, Outcome::Success);
        end(world, &queue, [consumer]);
    }

    /// The other sleeps when it is settled.
    fn reaches(history: &History) -> bool {
        let settles = |event: &Event| matches!(call(event), Some(Call::Settle(_)));
        let settled = history.events.iter().position(settles);
        settled.is_some_and(|at| history.events[..at].iter().any(sleeps))
    }
}

/// An item fails and is wanted later, fails again and is given up (`workqueue:CL-1`, `CL-9`).
struct SettledInEveryWay;

impl Scenario<LimitedQueue> for SettledInEveryWay {
    const NAME: &'static str = "settled_in_every_way";
    const SAYS: &'static str =
        "an item fails and is wanted later, fails again and is given up, and one asks how often";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        let queue = queue(world);
        queue.add(1);
        let other = caller(world, "other", &queue, |queue| {
            let _failures = queue.num_requeues(&1);
        });
        for outcome in
            [Outcome::Retry, Outcome::RequeueAfter(millis(3)), Outcome::Retry, Outcome::GiveUp]
        {
            let (token, _) = queue.take().expect("its time comes");
            queue.settle(token, outcome);
            let _failures = queue.num_requeues(&1);
        }
        world.join(other);
        queue.shut_down();
    }

    /// It is asked for when it has been forgotten twice, after one failure each.
    fn reaches(history: &History) -> bool {
        let asked = |event: &Event| matches!(call(event), Some(Call::NumRequeues(_)));
        let given_up = |event: &Event| matches!(call(event), Some(Call::Settle(it)) if it.outcome == Outcome::GiveUp);
        let at = history.events.iter().position(given_up);
        at.is_some_and(|at| history.events[at..].iter().any(asked))
    }
}

/// Two items are taken together, fail on their own, and their second deliveries end together.
struct TakenTogether;

impl Scenario<LimitedQueue> for TakenTogether {
    const NAME: &'static str = "taken_together";
    const SAYS: &'static str =
        "two items are taken together; one fails, one succeeds; then both are done together";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        let queue = queue(world);
        queue.add_all([1, 2]);
        let other = caller(world, "other", &queue, |queue| queue.add(2));
        let taken = queue.take_batch(TWO);
        let outcomes = [Outcome::Retry, Outcome::Success];
        for ((token, _), outcome) in taken.into_iter().zip(outcomes) {
            queue.settle(token, outcome);
        }
        world.join(other);
        sleep(world, millis(5));
        let again = queue.take_batch(TWO);
        queue.done_all(again.iter().map(|(token, _)| *token));
        for (token, _) in again {
            queue.settle(token, Outcome::Retry); // too late
        }
        let _failures = queue.num_requeues(&1);
        let consumer = worker(world, "consumer", &queue, Duration::ZERO);
        end(world, &queue, [consumer]);
    }

    /// The second delivery of both is taken at once.
    fn reaches(history: &History) -> bool {
        let two = |event: &&Event| match event.returned() {
            Some((_, Ret::GetBatch(taken))) => taken.len() == 2,
            _ => false,
        };
        history.events.iter().filter(two).count() == 2
    }
}

/// Two consumers sleep until a time, and two earlier ones are given.
struct EarlierTime;

impl Scenario<LimitedQueue> for EarlierTime {
    const NAME: &'static str = "earlier_time";
    const SAYS: &'static str = "two slow consumers sleep until a time, and two earlier ones come";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        earlier_time(world, &queue(world));
    }

    fn reaches(history: &History) -> bool {
        history.events.iter().filter(|event| sleeps(event)).count() >= 2
    }
}

/// The queue is shut down while an item waits for another try.
struct ShutDownWhileFailing;

impl Scenario<LimitedQueue> for ShutDownWhileFailing {
    const NAME: &'static str = "shut_down_while_failing";
    const SAYS: &'static str = "the queue is shut down while two sleep beside an item that failed";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        let queue = queue(world);
        queue.add_rate_limited(1);
        let consumers = ["first", "second"].map(|name| worker(world, name, &queue, Duration::ZERO));
        let late = caller(world, "late", &queue, |queue| queue.add_rate_limited(2));
        queue.shut_down();
        let _says = queue.is_shutting_down();
        let _retries = queue.retries();
        world.join(late);
        end(world, &queue, consumers);
    }

    /// Both sleep when the queue is shut down.
    fn reaches(history: &History) -> bool {
        let ends = |event: &Event| matches!(call(event), Some(Call::ShutDown(_)));
        let end = history.events.iter().position(ends);
        end.is_some_and(|at| history.events[..at].iter().filter(|it| sleeps(it)).count() >= 2)
    }
}
