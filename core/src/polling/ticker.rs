//! A fixed rate.

use std::time::Duration;

use crate::runtime::Instant;

/// Ticks at a fixed rate and keeps at most one tick that was not taken (`workqueue:CK-3`).
pub(super) struct Ticker {
    began: Instant,
    interval: Duration,
    /// How many ticks had come when the last one was taken.
    taken: u64,
}

impl Ticker {
    pub(super) fn new(began: Instant, interval: Duration) -> Self {
        Self { began, interval, taken: 0 }
    }

    /// Returns when the next tick can be taken; in the past if one is waiting.
    pub(super) fn next(&self) -> Instant {
        let ticks = u128::from(self.taken) + 1;
        let nanos = self.interval.as_nanos().saturating_mul(ticks);
        self.began + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Takes a tick and drops the others that have come. With a zero interval there is always a
    /// tick.
    pub(super) fn take(&mut self, now: Instant) {
        let came = now.since(self.began).as_nanos().checked_div(self.interval.as_nanos());
        self.taken = u64::try_from(came.unwrap_or(0)).unwrap_or(u64::MAX);
    }
}
