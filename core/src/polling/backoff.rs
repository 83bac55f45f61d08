//! Delays that grow step by step.

use std::time::Duration;

use crate::limiter::nanos::{duration, nanos};
use crate::runtime::Ambient;

/// Adds a random part of `factor * delay`, never the whole. A factor that is not above zero counts
/// as one (`workqueue:WT-1`).
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
    /// The next delay is this one times the factor; zero leaves it as it is.
    pub factor: f64,
    /// How large a random part of itself is added to a delay at most; not above zero is none. It
    /// does not grow the next delay and may exceed the cap (`workqueue:WT-4`).
    pub jitter: f64,
    /// How often the delay grows.
    pub steps: u32,
    /// A delay does not grow beyond it, and ends its growing there; zero is none.
    pub cap: Duration,
}

impl Backoff {
    /// Makes a delay that never grows.
    #[must_use]
    pub const fn new(duration: Duration) -> Self {
        Self { duration, factor: 0.0, jitter: 0.0, steps: 0, cap: Duration::ZERO }
    }

    /// Returns the next delay and grows the one after it (`workqueue:WT-2`, `WT-3`).
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
            return; // the cap is not looked at either (WT-4)
        }
        self.duration = duration((nanos(self.duration) as f64 * self.factor) as i64);
        if !self.cap.is_zero() && self.duration > self.cap {
            self.duration = self.cap;
            self.steps = 0;
        }
    }
}
