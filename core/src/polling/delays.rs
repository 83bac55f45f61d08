//! The sources of a loop's delays.

use std::time::Duration;

use crate::runtime::{Ambient, Instant};

use super::backoff::{Backoff, jitter};

/// A sequence of delays.
pub trait Delays {
    /// Returns the next delay.
    fn next(&mut self, ambient: &dyn Ambient) -> Duration;
}

impl<D: Delays + ?Sized> Delays for &mut D {
    fn next(&mut self, ambient: &dyn Ambient) -> Duration {
        (**self).next(ambient)
    }
}

/// The same delay every time, plus a random part (`workqueue:WT-15`).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Jittered {
    /// The delay.
    pub period: Duration,
    /// The largest random part, as a factor of the delay; none if it is not positive.
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

/// The steps of a back-off that starts over regularly (`workqueue:WT-8`).
///
/// The interval counts from the last start, so it starts over even under constant use.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Resetting {
    backoff: Backoff,
    initial: Backoff,
    interval: Duration,
    started: Instant,
}

impl Resetting {
    /// Makes delays that start over once more than `interval` has passed since their last start.
    /// With a zero interval the first delay never changes; with a zero factor nothing starts over.
    #[must_use]
    pub fn new(backoff: Backoff, interval: Duration, now: Instant) -> Self {
        // With a factor that is not positive there is nothing to start over.
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

/// Delays that grow to a maximum and stay there until they are unused for a while
/// (`workqueue:WT-9`).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ExponentialDelays {
    backoff: Backoff,
    initial: Duration,
    reset: Duration,
    used: Instant,
}

impl ExponentialDelays {
    /// Makes delays from `initial` to `max`. Each is `factor` times the one before, plus a random
    /// part of up to `jitter` times itself. They start over when more than `reset` has passed since
    /// the last one was taken.
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
