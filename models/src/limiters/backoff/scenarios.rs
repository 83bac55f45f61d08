//! Small concurrent programs on a keyed back-off, each named by the case that it must reach.

use std::time::Duration;

use seatrial_core::runtime::{Ambient as _, Instant};

use super::machine::{Call, Said};
use super::{Backoff, INITIAL, MAX};
use crate::queues::fixtures::{caller, in_turns, sleep};
use crate::shared::Shared;
use crate::trial::{Scenario, sleeps};

pub(super) fn all() -> Vec<Scenario<Backoff>> {
    vec![two_threads_fail(), asked_about_times(), starts_over(), garbage_between()]
}

impl Shared<Backoff> {
    /// An event of a key happens now.
    fn fail(&self, key: u8) -> Duration {
        match self.call(Call::Next(key, self.runtime.now())) {
            Said::Delay(delay) => delay,
            other => unreachable!("{other:?} is no delay"),
        }
    }
}

/// One key fails in two threads, another in one of them.
fn two_threads_fail() -> Scenario<Backoff> {
    Scenario::new(
        "two_threads_fail",
        "two threads report failures of one key, and one of them also of another",
        |world| {
            let table = Shared::new(world);
            let other = caller(world, "other", &table, |table| {
                table.fail(1);
                table.fail(2);
                table.call(Call::Get(2));
            });
            table.fail(1);
            table.call(Call::Get(1));
            for _ in 0..5 {
                table.fail(1);
            }
            table.call(Call::Get(1));
            world.join(other);
            table.call(Call::Get(2));
            table.call(Call::Get(3));
        },
        in_turns,
    )
}

/// At the very end of its delay, before it and after it, threads ask whether a key backs off.
fn asked_about_times() -> Scenario<Backoff> {
    Scenario::<Backoff>::new(
        "asked_about_times",
        "threads ask around the end of a key's delay whether the key backs off",
        |world| {
            let table = Shared::new(world);
            sleep(world, MAX);
            let began = table.runtime.now();
            let other = caller(world, "other", &table, |table| {
                table.call(Call::Since(2, Instant::ZERO));
            });
            let early = Instant::from_nanos(began.as_nanos() - 2 * INITIAL.as_nanos() as u64);
            table.call(Call::Next(1, early));
            let Said::Delay(delay) = table.call(Call::Get(1)) else {
                unreachable!("a delay is told")
            };
            let other_delay = table.fail(2);
            for event in [early, began, began + delay, began + delay * 2] {
                table.call(Call::Since(1, event));
                table.call(Call::SinceUpdate(1, event));
            }
            sleep(world, delay);
            table.call(Call::Since(1, began));
            table.call(Call::Since(2, began + other_delay));
            table.call(Call::SinceUpdate(1, began));
            world.join(other);
        },
        |history| history.events.len() > 10,
    )
    .not_on(sleeps)
}

/// A key fails for the last time just within twice the maximum, and then just beyond it.
fn starts_over() -> Scenario<Backoff> {
    Scenario::<Backoff>::new(
        "starts_over",
        "a key fails again after twice the maximum, and again after a little more",
        |world| {
            let table = Shared::new(world);
            for _ in 0..3 {
                table.fail(1);
            }
            let other = caller(world, "other", &table, |table| {
                table.call(Call::Get(1));
            });
            sleep(world, MAX * 2);
            table.fail(1);
            world.join(other);
            sleep(world, MAX * 2 + Duration::from_nanos(1));
            table.call(Call::Get(1));
            table.call(Call::Since(1, table.runtime.now()));
            table.fail(1);
        },
        |history| {
            history.events.iter().any(|event| event.at.as_nanos() > MAX.as_nanos() as u64 * 4)
        },
    )
    .not_on(sleeps)
}

/// Garbage is collected while keys fail and are forgotten.
fn garbage_between() -> Scenario<Backoff> {
    Scenario::<Backoff>::new(
        "garbage_between",
        "garbage is collected while keys fail and are reset",
        |world| {
            let table = Shared::new(world);
            table.fail(1);
            sleep(world, MAX * 2 + Duration::from_nanos(1));
            let other = caller(world, "other", &table, |table| {
                table.call(Call::CollectGarbage);
                table.fail(3);
            });
            table.fail(2);
            table.fail(1);
            world.join(other);
            table.call(Call::Reset(2));
            table.call(Call::Reset(2));
            for key in 1..=3 {
                table.call(Call::Get(key));
            }
            table.call(Call::CollectGarbage);
            sleep(world, MAX * 3);
            table.call(Call::CollectGarbage);
            table.call(Call::Get(1));
        },
        // A key fails between two collections of garbage.
        in_turns,
    )
    .not_on(sleeps)
}
