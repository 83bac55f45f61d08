//! The adversary of `election:SF-20`: it chooses every delay and leaves none to chance.

use seatrial_core::elector::{JITTER, Timing};

use super::super::invariants::nanos;
use crate::cluster::faults::{Attempted, Faults};
use crate::cluster::{Fate, NodeClock};

/// The leader's node; the follower's is the other.
pub(super) const LEADER: u8 = 0;

/// One steered run.
#[derive(Clone, Debug)]
pub(super) struct Steered {
    pub(super) timing: Timing,
    /// The leader's clock and the follower's.
    pub(super) clocks: [NodeClock; 2],
    /// The number of the last write that succeeds: zero for the acquisition.
    pub(super) last_write: u32,
    /// How long its answer takes.
    pub(super) reply: u64,
    /// How long the work winds down, and how late timers are.
    pub(super) work: u64,
    pub(super) scheduling: u64,
    /// When the follower is to read the last write, in real time: right after it.
    pub(super) look_at: u64,
    writes: u32,
    /// When the follower last read something new, on its clock.
    observed: Option<u64>,
}

/// How far past the end of a lease the follower aims, so that rounding never makes it early.
const AIM_NANOS: u64 = 10;

impl Steered {
    pub(super) fn new(timing: Timing, clocks: [NodeClock; 2], last_write: u32, reply: u64) -> Self {
        // The first write and the first renewal are sent at the beginning, the others a retry
        // period apart on the leader's clock.
        let periods = u64::from(last_write.saturating_sub(1));
        let local = clocks[0].read(0) + periods * nanos(timing.retry);
        let sent = clocks[0].when(local);
        Self {
            timing,
            clocks,
            last_write,
            reply,
            work: 0,
            scheduling: 0,
            look_at: sent + 1,
            writes: 0,
            observed: None,
        }
    }

    fn leader_call(&mut self, call: &Attempted<'_>) -> Fate {
        let reads = *call.io == seatrial_core::elector::Io::Get;
        if self.writes > self.last_write {
            return Fate::LOST;
        }
        if reads {
            return Fate::INSTANT;
        }
        self.writes += 1;
        if self.writes > self.last_write { Fate::reply_after(self.reply) } else { Fate::INSTANT }
    }

    /// Chooses when the follower reads next: it reads the last write as early as it can, and reads
    /// again when that lease is over.
    fn follower_gap(&self, at: u64) -> u64 {
        let now = self.clocks[1].read(at);
        let retry = nanos(self.timing.retry);
        let target = match self.observed {
            Some(observed) => observed + nanos(self.timing.stored_lease()) + AIM_NANOS,
            None => self.clocks[1].read(self.look_at) + AIM_NANOS,
        };
        let left = target.saturating_sub(now);
        let longest = (retry as f64 * (1.0 + JITTER)) as u64 - 1;
        let steps = left.div_ceil(longest).max(1);
        (left / steps).max(retry)
    }
}

impl Faults for Steered {
    fn fate(&mut self, call: &Attempted<'_>) -> Fate {
        if call.node == LEADER {
            return self.leader_call(call);
        }
        if call.at >= self.look_at && self.observed.is_none() {
            self.observed = Some(self.clocks[1].read(call.at));
        }
        Fate::INSTANT
    }

    fn entropy(&mut self, node: u8, at: u64) -> u64 {
        if node == LEADER {
            return 0;
        }
        let retry = nanos(self.timing.retry) as f64;
        let fraction = (self.follower_gap(at) as f64 / retry - 1.0) / JITTER;
        (fraction.clamp(0.0, 1.0 - f64::EPSILON) * (1u64 << 53) as f64) as u64 * (1 << 11)
    }

    fn lateness(&mut self, node: u8) -> u64 {
        if node == LEADER { self.scheduling } else { 0 }
    }

    fn winds_down(&mut self) -> u64 {
        self.work
    }
}
