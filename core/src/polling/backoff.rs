//! Delays that grow step by step.

use std::time::Duration;

use crate::limiter::nanos::{duration, nanos};
use crate::runtime::Ambient;

/// Adds a random part of `factor * delay`, always less than that. A factor that is not positive
/// counts as one (`workqueue:WT-1`).
pub fn jitter(delay: Duration, factor: f64, ambient: &dyn Ambient) -> Duration {
    let factor = if factor > 0.0 { factor } else { 1.0 };
    let delay = nanos(delay);
    // Conversions from a number that is too large saturate (workqueue:CV-4).
    duration(delay.saturating_add((ambient.uniform() * factor * delay as f64) as i64))
}

/// A delay and how it grows (`workqueue:WT-2`).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Backoff {
    /// The next delay.
    pub duration: Duration,
    /// The factor by which the next delay grows; zero leaves it unchanged.
    pub factor: f64,
    /// The largest random part that is added to a delay, as a factor of the delay; none if it is
    /// not positive. It does not affect the next delay and may exceed the cap (`workqueue:WT-4`).
    pub jitter: f64,
    /// How often the delay grows.
    pub steps: u32,
    /// The largest delay; growing stops there. Zero means no cap.
    pub cap: Duration,
}

impl Backoff {
    /// Makes a delay that never grows.
    #[must_use]
    pub const fn new(duration: Duration) -> Self {
        Self { duration, factor: 0.0, jitter: 0.0, steps: 0, cap: Duration::ZERO }
    }

    /// Returns the present delay and grows the next one (`workqueue:WT-2`, `WT-3`).
    pub fn step(&mut self, ambient: &dyn Ambient) -> Duration {
        let delay = self.duration;
        if self.steps > 0 {
            self.steps -= 1;
            self.grow();
        }
        if self.jitter > 0.0 { jitter(delay, self.jitter, ambient) } else { delay }
    }

    fn grow(&mut self) {
        if self.factor == 0.0 {
            return; // the cap is not checked either (WT-4)
        }
        self.duration = duration((nanos(self.duration) as f64 * self.factor) as i64);
        if !self.cap.is_zero() && self.duration > self.cap {
            self.duration = self.cap;
            self.steps = 0;
        }
    }
}
