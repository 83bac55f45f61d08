//! `std`'s time: the clock of the run, or the real one.

use std::ops::{Add, AddAssign, Sub, SubAssign};

pub use std::time::Duration;

use super::moment::Moment;

/// [`std::time::Instant`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Instant(pub(crate) Moment);

impl Instant {
    /// Reads the clock.
    #[must_use]
    pub fn now() -> Self {
        Self(Moment::now())
    }

    /// Returns the time that has passed since an earlier one, zero if that is later.
    #[must_use]
    pub fn duration_since(&self, earlier: Self) -> Duration {
        self.0.since(earlier.0).unwrap_or_default()
    }

    /// The same; `None` if that is later.
    #[must_use]
    pub fn checked_duration_since(&self, earlier: Self) -> Option<Duration> {
        self.0.since(earlier.0)
    }

    /// The same; zero if that is later.
    #[must_use]
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.duration_since(earlier)
    }

    /// Returns the time that has passed since then.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Self::now().duration_since(*self)
    }

    /// Returns the one that much later, if there is one.
    #[must_use]
    pub fn checked_add(&self, time: Duration) -> Option<Self> {
        self.0.after(time).map(Self)
    }

    /// Returns the one that much earlier, if there is one.
    #[must_use]
    pub fn checked_sub(&self, time: Duration) -> Option<Self> {
        self.0.before(time).map(Self)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, time: Duration) -> Self {
        self.checked_add(time).expect("overflow when adding duration to instant")
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    fn sub(self, time: Duration) -> Self {
        self.checked_sub(time).expect("overflow when subtracting duration from instant")
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.duration_since(earlier)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, time: Duration) {
        *self = *self + time;
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, time: Duration) {
        *self = *self - time;
    }
}
