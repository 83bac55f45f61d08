//! Sequences of calls, and the property that the bucket agrees with the one in whole numbers.

use std::time::Duration;

use seatrial_core::limiter::FOREVER;
use seatrial_core::runtime::Instant;

use super::machine::{Ask, Call, Ships};
use super::plain::{Plain, Rate};
use crate::shared::agree;
use crate::single_step::{HandClock, each_call};

/// A call; times are in 1/32 s.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Op {
    Advance(u8),
    /// Gives the next calls an earlier time, as after a race for the lock.
    GoBack(u8),
    /// Cancels one of the reservations.
    Cancel(u8),
    Ask(Ask),
}

const TICK: u64 = 1_000_000_000 / 32;
/// A tick can be halved four times before nanoseconds are too coarse and the two buckets round
/// differently. Waits at two tokens a second use one of these halvings. Each cancel of a
/// reservation that was made at another rate than the current one may use another.
const STRANGE_CANCELS: usize = 3;
/// Far enough from zero for times that go back.
const START: u64 = 1_000 * 32 * TICK;

/// Runs the calls that bytes stand for on the bucket that ships and on the one in whole numbers.
///
/// # Panics
/// If the two disagree.
pub fn check(bytes: &[u8]) {
    let ((rate, burst), ops) = decode(bytes);
    let (mut ours, mut plain) = (Ships::new(rate, burst), Plain::new(rate, burst));
    let (mut now, mut strange_cancels) = (START, 0);
    for op in each_call(ops) {
        let ask = match op {
            Op::Advance(ticks) => {
                now += u64::from(ticks) * TICK;
                Ask::Tokens
            }
            Op::GoBack(ticks) => {
                now -= (u64::from(ticks) * TICK).min(now - START);
                Ask::Tokens
            }
            Op::Cancel(which) => {
                let Some(at) = usize::from(which).checked_rem(plain.made.len()) else { continue };
                if plain.made[at].rate != plain.rate {
                    if strange_cancels == STRANGE_CANCELS {
                        continue;
                    }
                    strange_cancels += 1;
                }
                Ask::Cancel(at as u8)
            }
            Op::Ask(ask) => ask,
        };
        let at = Instant::from_nanos(now);
        agree(&mut ours, &mut plain, Call { at, ask }, &HandClock::default());
        let tokens = plain.tokens_at(now.into()) as f64 / 1e9;
        assert_eq!(ours.bucket.tokens_at(at).to_bits(), (tokens + 0.0).to_bits());
        let newest = plain.made.last().map(|made| made.delay_from(now.into()));
        assert_eq!(ours.made.last().map(|made| made.delay_from(at)), newest);
    }
}

/// Reads a rate, a burst and calls from bytes: one each, then two for each call.
pub(super) fn decode(bytes: &[u8]) -> ((Rate, u8), Vec<Op>) {
    let rate = |byte: u8| match byte % 8 {
        0 => Rate::PerSecond(0),
        1 => Rate::Unlimited,
        odd if odd % 2 == 1 => Rate::PerSecond(1),
        _ => Rate::PerSecond(2),
    };
    let op = |bytes: &[u8]| {
        let n = bytes[1];
        Op::Ask(match bytes[0] % 16 {
            0..4 => return Op::Advance(n % 64),
            4 => return Op::GoBack(n % 64),
            5..7 => Ask::Allow(n % 6),
            7..10 => Ask::Reserve(n % 6, FOREVER),
            10 => Ask::Reserve(n % 6, Duration::from_nanos(u64::from(n / 6) * TICK)),
            11..14 => return Op::Cancel(n),
            14 => Ask::SetRate(rate(n)),
            _ => Ask::SetBurst(n % 6),
        })
    };
    let (setup, ops) = bytes.split_at_checked(2).unwrap_or((&[2, 2], &[]));
    ((rate(setup[0]), setup[1] % 6), ops.chunks_exact(2).map(op).collect())
}
