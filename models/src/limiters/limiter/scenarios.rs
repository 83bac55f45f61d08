//! Small concurrent programs on a limiter, each named by the case that it must reach.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use seatrial_core::limiter::{Item, Limiter as Asked, RateLimiter};
use seatrial_core::machine::{Boxed, Cx};
use seatrial_core::runtime::Instant;

use super::Limiter;
use super::machine::{Alone, Call, Said};
use crate::engine::AnyRuntime;
use crate::queues::fixtures::{FixedHasher, caller, in_turns, millis, sleep};
use crate::shared::at_once;
use crate::trial::{Scenario, World};

pub(super) fn all() -> Vec<Scenario<Limiter>> {
    vec![two_threads_fail(), forgotten_between(), paced_together(), fails_for_long(), many_fail()]
}

/// The machine under trial as a limiter, for the lock that ships.
struct Tried {
    runtime: AnyRuntime,
    machine: RefCell<Boxed<Alone<Box<dyn Asked<u8>>>>>,
}

impl Tried {
    fn ask(&self, mut call: Call) -> Said {
        let mut machine = self.machine.borrow_mut();
        at_once(machine.0.step(&mut call, &mut Cx::new(&self.runtime)))
    }
}

impl Asked<u8> for Tried {
    fn when(&mut self, item: Item<'_, u8>, _: Instant) -> Duration {
        match self.ask(Call::When(*item.key())) {
            Said::Delay(delay) => delay,
            other => unreachable!("{other:?} is no delay"),
        }
    }

    fn forget(&mut self, item: Item<'_, u8>, _: &mut Vec<u8>) {
        self.ask(Call::Forget(*item.key()));
    }

    fn num_requeues(&self, item: Item<'_, u8>) -> u32 {
        match self.ask(Call::NumRequeues(*item.key())) {
            Said::Count(count) => count,
            other => unreachable!("{other:?} is no count"),
        }
    }

    fn reads_time(&self) -> bool {
        false // the machine reads it by itself
    }
}

type Shared = Arc<RateLimiter<u8, Tried, AnyRuntime>>;

fn limiter(world: &World<Limiter>) -> Shared {
    let machine = RefCell::new(world.machine());
    let tried = Tried { runtime: world.runtime().clone(), machine };
    Arc::new(RateLimiter::with_hasher(world.runtime(), FixedHasher::default(), tried))
}

/// Two threads report a failure of one item, and one of them also a failure of another.
fn two_threads_fail() -> Scenario<Limiter> {
    Scenario::new(
        "two_threads_fail",
        "two threads report failures of one item, and one of them also of another",
        |world| {
            let limiter = limiter(world);
            let other = caller(world, "other", &limiter, |limiter| {
                let _delay = limiter.when(&1);
                let _delay = limiter.when(&2);
                let _failures = limiter.num_requeues(&2);
            });
            let _delay = limiter.when(&1);
            let _failures = limiter.num_requeues(&1);
            let _delay = limiter.when(&1);
            world.join(other);
        },
        in_turns,
    )
}

/// An item is forgotten between two failures.
fn forgotten_between() -> Scenario<Limiter> {
    Scenario::new(
        "forgotten_between",
        "an item fails and is forgotten repeatedly, beside another item",
        |world| {
            let limiter = limiter(world);
            let _delay = limiter.when(&2);
            let other = caller(world, "other", &limiter, |limiter| limiter.forget(&1));
            let _delay = limiter.when(&1);
            let _delay = limiter.when(&1);
            let _failures = limiter.num_requeues(&1);
            world.join(other);
            limiter.forget(&1);
            let _failures = limiter.num_requeues(&1);
            let _failures = limiter.num_requeues(&2);
            let _delay = limiter.when(&1);
        },
        in_turns,
    )
}

/// The common pace of all items holds each of them back.
fn paced_together() -> Scenario<Limiter> {
    Scenario::new(
        "paced_together",
        "more items fail at once than the bucket holds, and one fails again later",
        |world| {
            let limiter = limiter(world);
            let other = caller(world, "other", &limiter, |limiter| {
                let _delay = limiter.when(&1);
                let _delay = limiter.when(&2);
            });
            for item in 3..=6 {
                let _delay = limiter.when(&item);
            }
            world.join(other);
            limiter.forget(&3);
            sleep(world, millis(300));
            let _delay = limiter.when(&3);
        },
        in_turns,
    )
}

/// An item fails until its delay would no longer fit (museum W8).
fn fails_for_long() -> Scenario<Limiter> {
    Scenario::new(
        "fails_for_long",
        "an item fails so often that doubling its delay would overflow",
        |world| {
            let limiter = limiter(world);
            for _ in 0..80 {
                let _delay = limiter.when(&1);
            }
            let _failures = limiter.num_requeues(&1);
        },
        |history| history.events.len() > 80,
    )
}

const MANY: u8 = 150;

/// More items fail than fit into one piece of the memory for failures.
fn many_fail() -> Scenario<Limiter> {
    Scenario::new(
        "many_fail",
        "many items fail, every second one is forgotten, and the failures of all are read",
        |world| {
            let limiter = limiter(world);
            for item in 1..=MANY {
                let _delay = limiter.when(&item);
            }
            (1..=MANY).step_by(2).for_each(|item| limiter.forget(&item));
            for item in 1..=MANY {
                let _failures = limiter.num_requeues(&item);
            }
        },
        // The failures of all items are read, when half of the items are remembered.
        |history| {
            let asks = |call: &Call| matches!(call, Call::NumRequeues(_));
            let asked = history.events.iter().filter_map(|event| event.returned());
            asked.filter(|(call, _)| asks(call)).count() == usize::from(MANY)
        },
    )
}
