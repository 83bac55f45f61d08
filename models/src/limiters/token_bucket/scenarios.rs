//! Small concurrent programs on a token bucket, each named by the case that it must reach.

use std::time::Duration;

use seatrial_core::limiter::FOREVER;
use seatrial_core::runtime::Instant;

use super::machine::{Ask, Call, Said};
use super::{Bucket, Rate};
use crate::queues::fixtures::{caller, in_turns, millis};
use crate::shared::Shared;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<Bucket>> {
    vec![
        two_threads_reserve(),
        cancelled_in_any_order(),
        clocks_read_early(),
        settings_change(),
        odd_rates(),
    ]
}

impl Shared<Bucket> {
    fn ask(&self, at: Duration, ask: Ask) -> Said {
        self.call(Call { at: Instant::from_nanos(1 << 40) + at, ask })
    }

    /// Reserves, however long the wait is, and returns the number of the reservation.
    fn reserve(&self, at: Duration, n: u8) -> Option<u8> {
        match self.ask(at, Ask::Reserve(n, FOREVER)) {
            Said::Reserved(_, number) => Some(number),
            _ => None,
        }
    }

    fn cancel(&self, at: Duration, number: Option<u8>) {
        if let Some(number) = number {
            self.ask(at, Ask::Cancel(number));
        }
    }
}

const START: Duration = Duration::ZERO;

/// Two threads take tokens, in the end tokens of the future.
fn two_threads_reserve() -> Scenario<Bucket> {
    Scenario::new(
        "two_threads_reserve",
        "two threads take the tokens that are there and then reserve, one with little patience",
        |world| {
            let bucket = Shared::new(world);
            let other = caller(world, "other", &bucket, |bucket| {
                bucket.ask(START, Ask::Allow(1));
                bucket.reserve(START, 1);
                bucket.ask(START, Ask::Reserve(2, millis(400)));
            });
            bucket.reserve(START, 2);
            bucket.ask(START, Ask::Allow(1));
            bucket.ask(START, Ask::Reserve(4, FOREVER));
            bucket.ask(START, Ask::Tokens);
            world.join(other);
            bucket.ask(millis(10_000), Ask::Tokens);
            bucket.ask(millis(10_000), Ask::Allow(3));
            bucket.ask(millis(10_000), Ask::Allow(1));
        },
        in_turns,
    )
}

/// Two threads take their reservations back, the newest and the oldest first.
fn cancelled_in_any_order() -> Scenario<Bucket> {
    Scenario::new(
        "cancelled_in_any_order",
        "two threads reserve tokens and cancel their reservations, early or late",
        |world| {
            let bucket = Shared::new(world);
            bucket.ask(START, Ask::Allow(2));
            let other = caller(world, "other", &bucket, |bucket| {
                let mine = bucket.reserve(START, 2);
                bucket.cancel(START, mine);
                bucket.ask(START, Ask::Tokens);
            });
            let [first, second] = [1, 2].map(|n| bucket.reserve(START, n));
            bucket.cancel(START, second);
            bucket.cancel(START, first);
            world.join(other);
            bucket.ask(START, Ask::Tokens);
            bucket.reserve(START, 1);
            bucket.cancel(millis(20_000), first);
            bucket.ask(millis(20_000), Ask::Tokens);
            let [older, newer] = [3, 3].map(|n| bucket.reserve(millis(20_000), n));
            bucket.cancel(millis(20_750), newer);
            bucket.cancel(millis(20_750), newer);
            bucket.cancel(millis(22_000), older);
            bucket.ask(millis(22_000), Ask::Tokens);
            let last = bucket.reserve(millis(30_000), 2);
            bucket.cancel(millis(30_000), last);
            bucket.cancel(millis(30_000), last);
            bucket.ask(millis(30_000), Ask::Tokens);
        },
        in_turns,
    )
}

/// Two threads read the clock, and reach the lock in the other order.
fn clocks_read_early() -> Scenario<Bucket> {
    Scenario::new(
        "clocks_read_early",
        "a thread that reads the clock first reaches the bucket last",
        |world| {
            let bucket = Shared::new(world);
            bucket.ask(START, Ask::Allow(3));
            let other = caller(world, "late", &bucket, |bucket| {
                bucket.ask(millis(500), Ask::Allow(1));
            });
            bucket.ask(millis(1_000), Ask::Allow(1));
            world.join(other);
            bucket.ask(millis(1_000), Ask::Allow(1));
            bucket.ask(millis(1_000), Ask::Allow(1));
            bucket.ask(millis(1_000), Ask::Tokens);
        },
        // The earlier reading reaches the lock later.
        |history| {
            let times: Vec<_> = history
                .events
                .iter()
                .filter_map(|it| it.returned())
                .map(|(call, _)| call.at)
                .collect();
            times.windows(2).any(|two| two[1] < two[0])
        },
    )
}

/// The rate and the number of tokens that fit change while tokens are reserved.
fn settings_change() -> Scenario<Bucket> {
    Scenario::new(
        "settings_change",
        "one thread changes the rate and the burst between the calls of another",
        |world| {
            let bucket = Shared::new(world);
            let old = bucket.reserve(START, 3);
            bucket.reserve(START, 1);
            let other = caller(world, "other", &bucket, |bucket| {
                bucket.ask(millis(500), Ask::SetRate(Rate::PerSecond(4)));
                bucket.ask(millis(500), Ask::SetBurst(5));
            });
            bucket.ask(millis(500), Ask::Tokens);
            let newer = bucket.reserve(millis(500), 1);
            world.join(other);
            bucket.ask(millis(500), Ask::Tokens);
            bucket.cancel(millis(500), newer);
            bucket.cancel(START, old);
            bucket.ask(millis(500), Ask::Tokens);
            let [held, _] = [2, 4].map(|n| bucket.reserve(millis(500), n));
            bucket.ask(millis(500), Ask::SetRate(Rate::PerSecond(1)));
            bucket.cancel(millis(500), held);
            bucket.ask(millis(500), Ask::Tokens);
            bucket.ask(millis(9_000), Ask::SetBurst(1));
            bucket.ask(millis(9_500), Ask::Allow(1));
        },
        in_turns,
    )
}

/// First no tokens come, and then as many as callers want.
fn odd_rates() -> Scenario<Bucket> {
    Scenario::new(
        "odd_rates",
        "the rate falls to zero, and is then unlimited",
        |world| {
            let bucket = Shared::new(world);
            let other = caller(world, "other", &bucket, |bucket| {
                bucket.ask(START, Ask::Allow(1));
                bucket.ask(START, Ask::Allow(3));
            });
            bucket.ask(START, Ask::SetRate(Rate::PerSecond(0)));
            bucket.ask(millis(1_000), Ask::Reserve(3, millis(5_000)));
            bucket.reserve(millis(1_000), 2);
            bucket.ask(millis(1_000), Ask::Tokens);
            bucket.ask(millis(1_000), Ask::SetRate(Rate::Unlimited));
            bucket.ask(millis(1_000), Ask::Allow(9));
            world.join(other);
            bucket.ask(millis(1_000), Ask::SetBurst(0));
            bucket.ask(millis(1_000), Ask::Reserve(7, START));
            bucket.ask(millis(2_000), Ask::Tokens);
        },
        in_turns,
    )
}
