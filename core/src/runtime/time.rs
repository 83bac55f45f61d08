//! Points in time as plain numbers.
//!
//! The standard library's instants cannot be made by hand, so a virtual clock could not produce
//! them. The instants here count nanoseconds from the epoch of their runtime. All arithmetic
//! saturates (`workqueue:CV-4`): a deadline that is too far away to represent means "never".

use std::fmt;
use std::ops::Add;
use std::time::Duration;

/// A reading of the monotonic clock of one runtime.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

impl Instant {
    /// The epoch of the runtime.
    pub const ZERO: Self = Self(0);
    /// Later than every deadline that can be reached: "never".
    pub const NEVER: Self = Self(u64::MAX);

    /// Makes the instant `nanos` after the epoch.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns the nanoseconds since the epoch.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the time from `earlier` to `self`, zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// Saturates: a sum that cannot be represented is [`Instant::NEVER`].
impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, d: Duration) -> Self {
        Self(self.0.saturating_add(nanos(d)))
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NEVER {
            return f.write_str("never");
        }
        write!(f, "{:?}", Duration::from_nanos(self.0))
    }
}

/// A reading of the wall clock: signed nanoseconds since 1970-01-01T00:00:00Z.
///
/// It only fills timestamps in records and decides nothing (`election:ENV-1`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct WallTime(i64);

impl WallTime {
    /// Makes the time `nanos` after 1970 (before, if negative).
    #[must_use]
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Returns the nanoseconds since 1970.
    #[must_use]
    pub const fn as_nanos(self) -> i64 {
        self.0
    }
}

/// Saturates, as [`Instant`] does.
impl Add<Duration> for WallTime {
    type Output = Self;

    fn add(self, d: Duration) -> Self {
        Self(self.0.saturating_add_unsigned(nanos(d)))
    }
}

/// Returns a duration as nanoseconds, at most the largest number.
fn nanos(d: Duration) -> u64 {
    u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_beyond_the_end_of_time_is_never() {
        assert_eq!(Instant::from_nanos(5) + Duration::MAX, Instant::NEVER);
        assert_eq!(Instant::NEVER + Duration::from_nanos(1), Instant::NEVER);
        assert_eq!(WallTime::from_nanos(7) + Duration::MAX, WallTime::from_nanos(i64::MAX));
    }

    #[test]
    fn since_a_later_instant_is_zero() {
        let (early, late) = (Instant::from_nanos(3), Instant::from_nanos(10));
        assert_eq!(late.since(early), Duration::from_nanos(7));
        assert_eq!(early.since(late), Duration::ZERO);
    }

    #[test]
    fn never_prints_as_a_word() {
        assert_eq!(format!("{:?}", Instant::NEVER), "never");
        assert_eq!(format!("{:?}", Instant::from_nanos(1_500_000)), "1.5ms");
    }
}
