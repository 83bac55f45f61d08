//! Sequences of calls, and the property that the bucket agrees with the one in whole numbers.

use std::time::Duration;

use seatrial_core::limiter::{FOREVER, Reservation, TokenBucket};
use seatrial_core::runtime::Instant;

use super::machine::our_rate;
use super::spec::{NEVER, Rate, Reserved, Spec};
use crate::single_step::each_call;

/// A call; times are in 1/32 s.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the variants are the calls of the bucket")]
pub enum Op {
    Advance(u8),
    /// Gives the next calls an earlier time, as after a race for the lock.
    GoBack(u8),
    Allow(u8),
    Reserve(u8),
    /// Reserves if the wait is not longer than this.
    ReserveWithin(u8, u8),
    /// Cancels one of the reservations.
    Cancel(u8),
    SetRate(Rate),
    SetBurst(u8),
}

/// The set-up of a bucket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setup {
    /// The rate at which tokens come.
    pub rate: Rate,
    /// The number of tokens that fit.
    pub burst: u8,
}

const TICK: u64 = 1_000_000_000 / 32;
/// A tick can be halved four times before nanoseconds are too coarse and the two buckets round
/// differently. Waits at two tokens a second use one of these halvings. Each cancel of a
/// reservation that was made at another rate than the current one may use another.
const STRANGE_CANCELS: usize = 3;
/// Far enough from zero for times that go back.
const START: u64 = 1_000 * 32 * TICK;

/// Runs calls on the bucket that ships and on the one in whole numbers.
///
/// # Panics
/// If the two disagree.
pub fn check(setup: Setup, ops: &[Op]) {
    let mut pair = Pair {
        ours: TokenBucket::new(our_rate(setup.rate), setup.burst.into()),
        spec: Spec::new(setup.rate, setup.burst),
        now: START,
        made: Vec::new(),
        strange_cancels: 0,
    };
    for op in each_call(ops) {
        pair.step(*op);
    }
}

/// Reads a setup and calls from bytes: two for the setup, then two for each call.
pub fn decode(bytes: &[u8]) -> (Setup, Vec<Op>) {
    let rate = |byte: u8| match byte % 8 {
        0 => Rate::PerSecond(0),
        1 => Rate::Unlimited,
        odd if odd % 2 == 1 => Rate::PerSecond(1),
        _ => Rate::PerSecond(2),
    };
    let op = |bytes: &[u8]| {
        let n = bytes[1];
        match bytes[0] % 16 {
            0..4 => Op::Advance(n % 64),
            4 => Op::GoBack(n % 64),
            5..7 => Op::Allow(n % 6),
            7..10 => Op::Reserve(n % 6),
            10 => Op::ReserveWithin(n % 6, n / 6),
            11..14 => Op::Cancel(n),
            14 => Op::SetRate(rate(n)),
            _ => Op::SetBurst(n % 6),
        }
    };
    let (setup, ops) = bytes.split_at_checked(2).unwrap_or((&[2, 2], &[]));
    let setup = Setup { rate: rate(setup[0]), burst: setup[1] % 6 };
    (setup, ops.chunks_exact(2).map(op).collect())
}

/// The bucket and the one in whole numbers, which get the same calls.
struct Pair {
    ours: TokenBucket,
    spec: Spec,
    now: u64,
    made: Vec<(Reservation, Reserved)>,
    strange_cancels: usize,
}

impl Pair {
    fn step(&mut self, op: Op) {
        let (t, now) = (Instant::from_nanos(self.now), i128::from(self.now));
        match op {
            Op::Advance(ticks) => self.now += u64::from(ticks) * TICK,
            Op::GoBack(ticks) => self.now -= (u64::from(ticks) * TICK).min(self.now - START),
            Op::Allow(n) => {
                let allowed = self.spec.reserve(now, n, 0).is_some();
                assert_eq!(self.ours.allow(t, n.into()), allowed);
            }
            Op::Reserve(n) => self.reserve(n, FOREVER, NEVER),
            Op::ReserveWithin(n, ticks) => {
                let nanos = u64::from(ticks) * TICK;
                self.reserve(n, Duration::from_nanos(nanos), nanos.into());
            }
            Op::Cancel(which) => self.cancel(which),
            Op::SetRate(new) => {
                self.ours.set_rate(t, our_rate(new));
                self.spec.set_rate(now, new);
            }
            Op::SetBurst(burst) => {
                self.ours.set_burst(t, burst.into());
                self.spec.set_burst(now, burst);
            }
        }
        self.compare();
    }

    fn reserve(&mut self, n: u8, patience: Duration, nanos: i128) {
        let (t, now) = (Instant::from_nanos(self.now), i128::from(self.now));
        let ours = self.ours.reserve(t, n.into(), patience);
        let spec = self.spec.reserve(now, n, nanos);
        assert_eq!(ours.is_granted(), spec.is_some());
        match spec {
            Some(spec) => self.made.push((ours, spec)),
            None => assert_eq!(ours.delay_from(t), FOREVER),
        }
    }

    fn cancel(&mut self, which: u8) {
        let Some(at) = usize::from(which).checked_rem(self.made.len()) else { return };
        let (ours, spec) = self.made[at];
        if spec.rate != self.spec.rate {
            if self.strange_cancels == STRANGE_CANCELS {
                return;
            }
            self.strange_cancels += 1;
        }
        self.ours.cancel(Instant::from_nanos(self.now), &ours);
        self.spec.cancel(self.now.into(), &spec);
    }

    fn compare(&self) {
        let (t, now) = (Instant::from_nanos(self.now), i128::from(self.now));
        let tokens = self.spec.tokens_at(now) as f64 / 1e9;
        assert_eq!(self.ours.tokens_at(t).to_bits(), (tokens + 0.0).to_bits());
        if let Some((ours, spec)) = self.made.last() {
            let delay = i128::try_from(ours.delay_from(t).as_nanos());
            assert_eq!(delay, Ok(spec.delay_from(now)));
        }
    }
}
