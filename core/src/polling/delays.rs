//! Where a loop gets its delays from.

use std::time::Duration;

use crate::runtime::{Ambient, Instant};

use super::backoff::{Backoff, jitter};

/// One delay after the other.
pub trait Delays {
    /// Returns the next delay.
    fn next(&mut self, ambient: &dyn Ambient) -> Duration;
}

impl<D: Delays + ?Sized> Delays for &mut D {
    fn next(&mut self, ambient: &dyn Ambient) -> Duration {
        (**self).next(ambient)
    }
}

/// The same delay every time, with a random part on top (`workqueue:WT-15`).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Jittered {
    /// The delay.
    pub period: Duration,
    /// How large a part of itself is added at most; not above zero is none.
    pub factor: f64,
}

impl Delays for Jittered {
    fn next(&mut self, ambient: &dyn Ambient) -> Duration {
        if self.factor > 0.0 { jitter(self.period, self.factor, ambient) } else { self.period }
    }
}

/// The steps of a back-off (`workqueue:WT-7`).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stepping(pub Backoff);

impl Delays for Stepping {
    fn next(&mut self, ambient: &dyn Ambient) -> Duration {
        self.0.step(ambient)
    }
}

/// The steps of a back-off that starts over now and then (`workqueue:WT-8`).
///
/// The interval counts from the last start, so it starts over also if it is used all the time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Resetting {
    backoff: Backoff,
    initial: Backoff,
    interval: Duration,
    started: Instant,
}

impl Resetting {
    /// Makes delays that start over once more than `interval` has passed since they started last.
    /// Without an interval the first delay stays; without a factor nothing starts over.
    #[must_use]
    pub fn new(backoff: Backoff, interval: Duration, now: Instant) -> Self {
        // A factor that is not above zero keeps its own rule: there is nothing to start over.
        let constant = backoff.factor > 0.0 && interval.is_zero();
        let initial = if constant { Backoff { steps: 0, factor: 0.0, ..backoff } } else { backoff };
        Self { backoff: initial, initial, interval, started: now }
    }
}

impl Delays for Resetting {
    fn next(&mut self, ambient: &dyn Ambient) -> Duration {
        if self.initial.factor > 0.0 {
            let now = ambient.now();
            if now.since(self.started) > self.interval {
                (self.backoff, self.started) = (self.initial, now);
            }
        }
        self.backoff.step(ambient)
    }
}

/// Delays that grow to a maximum and stay there, until they are not used for a while
/// (`workqueue:WT-9`).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ExponentialDelays {
    backoff: Backoff,
    initial: Duration,
    reset: Duration,
    used: Instant,
}

impl ExponentialDelays {
    /// Makes delays from `initial` to `max`, each `factor` times the one before and with a random
    /// part of up to `jitter` times itself on top. They start over when more than `reset` has
    /// passed since the last one was asked for.
    #[must_use]
    pub fn new(
        initial: Duration,
        max: Duration,
        reset: Duration,
        factor: f64,
        jitter: f64,
        now: Instant,
    ) -> Self {
        let backoff = Backoff { duration: initial, factor, jitter, steps: u32::MAX, cap: max };
        Self { backoff, initial, reset, used: now }
    }
}

impl Delays for ExponentialDelays {
    fn next(&mut self, ambient: &dyn Ambient) -> Duration {
        let now = ambient.now();
        if now.since(self.used) > self.reset {
            (self.backoff.duration, self.backoff.steps) = (self.initial, u32::MAX);
        }
        self.used = now;
        self.backoff.step(ambient)
    }
}
