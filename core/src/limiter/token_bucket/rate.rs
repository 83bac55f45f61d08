//! Tokens per second, and the conversions between tokens and time.

use std::time::Duration;

const SECOND: i64 = 1_000_000_000;

/// A number of tokens per second.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Rate(f64);

impl Rate {
    /// Nothing is ever refilled.
    pub const ZERO: Self = Self(0.0);
    /// Every request is granted at once (`workqueue:TB-8`).
    pub const UNLIMITED: Self = Self(f64::INFINITY);

    /// Makes a rate. A negative number or NaN counts as zero, the largest finite number as
    /// unlimited.
    #[must_use]
    pub fn per_second(tokens: f64) -> Self {
        match tokens {
            f64::MAX.. => Self::UNLIMITED,
            positive if positive > 0.0 => Self(positive),
            _ => Self::ZERO,
        }
    }

    /// Makes the rate of one token per `interval`; a zero interval is unlimited
    /// (`workqueue:TB-22`).
    #[must_use]
    pub fn every(interval: Duration) -> Self {
        if interval.is_zero() {
            return Self::UNLIMITED;
        }
        Self::per_second(1.0 / seconds(super::nanos(interval)))
    }

    /// Returns the tokens per second; infinite if unlimited.
    #[must_use]
    pub fn tokens_per_second(self) -> f64 {
        self.0
    }

    /// Tells whether every request is granted at once.
    pub(crate) fn is_unlimited(self) -> bool {
        self == Self::UNLIMITED
    }

    /// Returns the tokens that come in `nanos`, in the order of operations of `workqueue:TB-3`.
    pub(super) fn tokens_in(self, nanos: i64) -> f64 {
        if self == Self::ZERO { 0.0 } else { seconds(nanos) * self.0 }
    }

    /// Returns the nanoseconds in which `tokens` come, truncated; the largest number if that is too
    /// long to represent (`workqueue:TB-4`, `TB-9`).
    pub(super) fn nanos_for(self, tokens: f64) -> i64 {
        if self == Self::ZERO {
            return i64::MAX;
        }
        // The conversion truncates and saturates as the rule demands, even at exactly 2^63.
        (tokens / self.0 * SECOND as f64) as i64
    }
}

/// Converts in the reference's order of operations: both parts carry the sign.
fn seconds(nanos: i64) -> f64 {
    (nanos / SECOND) as f64 + (nanos % SECOND) as f64 / SECOND as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_round_where_the_rules_say() {
        // In a different order of operations, each result would differ in its last bit, or by one.
        let interval = Duration::from_nanos(35_433_382_497);
        assert_eq!(Rate::every(interval).tokens_per_second(), 0.028_221_974_012_350_246, "TB-22");
        assert_eq!(Rate::per_second(10.0).nanos_for(41.0), 4_099_999_999, "TB-4");
        let whole_and_rest = |whole: f64, rest: f64| (whole + rest / 1e9) * 20.5;
        let tokens = Rate::per_second(20.5).tokens_in(4_550_384_980);
        assert_eq!(tokens, whole_and_rest(4.0, 550_384_980.0), "TB-3");
        assert_ne!(tokens, 4_550_384_980.0 / 1e9 * 20.5);
        assert!(
            Rate::every(Duration::MAX).tokens_per_second() > 1e-10,
            "no longer than time can be"
        );
    }
}
