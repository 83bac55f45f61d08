//! Times of tests, in milliseconds.

use std::time::Duration;

use super::Instant;

pub(crate) fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// The time so long after the clock began.
pub(crate) fn at(millis: u64) -> Instant {
    Instant::ZERO + ms(millis)
}
