//! A node's clock: offset, rate and stalls, as a view on the time of the simulation.

/// A clock that may run too fast, too slow, or not at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeClock {
    /// Both readings at the last change of rate.
    real: u64,
    local: u64,
    rate_ppm: i64,
    stalled: bool,
}

const MILLION: u64 = 1_000_000;

fn narrow(wide: u128) -> u64 {
    u64::try_from(wide).unwrap_or(u64::MAX)
}

impl NodeClock {
    /// Makes a clock that reads `local` at the beginning of the simulation and gains `rate_ppm`
    /// millionths.
    #[must_use]
    pub fn new(local: u64, rate_ppm: i64) -> Self {
        Self { real: 0, local, rate_ppm: rate_ppm.max(-999_999), stalled: false }
    }

    fn rate(&self) -> u64 {
        MILLION.saturating_add_signed(self.rate_ppm)
    }

    /// Reads the clock.
    #[inline]
    #[must_use]
    pub fn read(&self, real: u64) -> u64 {
        let passed = real.saturating_sub(self.real);
        if self.stalled {
            self.local
        } else if self.rate_ppm == 0 {
            self.local.saturating_add(passed)
        } else {
            self.local.saturating_add(self.gained(passed))
        }
    }

    /// Returns the first moment at which the clock reads `local` or more, if it keeps its rate.
    #[inline]
    #[must_use]
    pub fn when(&self, local: u64) -> u64 {
        let ahead = local.saturating_sub(self.local);
        if self.rate_ppm == 0 || ahead == 0 {
            return self.real.saturating_add(ahead);
        }
        self.real.saturating_add(self.passes(ahead))
    }

    /// Returns how far the clock moves while this much time passes. The wide numbers are slow, and
    /// are needed only for hours.
    fn gained(&self, passed: u64) -> u64 {
        match passed.checked_mul(self.rate()) {
            Some(scaled) => scaled / MILLION,
            None => narrow(u128::from(passed) * u128::from(self.rate()) / u128::from(MILLION)),
        }
    }

    /// Returns how much time passes until the clock has moved this far.
    fn passes(&self, ahead: u64) -> u64 {
        match ahead.checked_mul(MILLION) {
            Some(scaled) => scaled.div_ceil(self.rate()),
            None => narrow((u128::from(ahead) * u128::from(MILLION)).div_ceil(self.rate().into())),
        }
    }

    /// Stops the clock, as a suspended machine does (`election:CX-6`).
    pub fn stall(&mut self, real: u64) {
        self.local = self.read(real);
        self.real = real;
        self.stalled = true;
    }

    /// Lets the clock go on from where it stopped.
    pub fn resume(&mut self, real: u64) {
        if self.stalled {
            self.real = real;
            self.stalled = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_the_first_at_which_the_clock_has_got_there() {
        for rate in [-900_000, -10_000, -1, 0, 1, 10_000, 3_000_000] {
            let clock = NodeClock::new(77, rate);
            for local in [0, 77, 78, 1_000, 999_999_937, 40_000_000_000_000_000] {
                let real = clock.when(local);
                assert!(clock.read(real) >= local, "{rate} {local}");
                assert!(real == 0 || clock.read(real - 1) < local, "{rate} {local}");
            }
        }
    }

    #[test]
    fn a_stalled_clock_goes_on_from_where_it_stopped() {
        let mut clock = NodeClock::new(0, 0);
        clock.stall(100);
        assert_eq!(clock.read(500), 100);
        clock.resume(600);
        assert_eq!(clock.read(650), 150);
        assert_eq!(clock.when(150), 650);
    }
}
