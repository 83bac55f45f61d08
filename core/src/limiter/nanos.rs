//! Durations as signed nanoseconds, because rules that subtract times need the sign.

use std::time::Duration;

use crate::runtime::Instant;

/// The longest delay, about 292 years: "never" (`workqueue:CV-3`).
pub const FOREVER: Duration = Duration::from_nanos(i64::MAX as u64);

/// Returns a duration as nanoseconds, at most [`FOREVER`].
pub(crate) fn nanos(d: Duration) -> i64 {
    i64::try_from(d.as_nanos()).unwrap_or(i64::MAX)
}

/// Returns nanoseconds as a duration; zero if they are negative.
pub(crate) fn duration(nanos: i64) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
}

/// Returns the time from `earlier` to `later`; negative if they are reversed.
pub(crate) fn between(earlier: Instant, later: Instant) -> i64 {
    let difference = i128::from(later.as_nanos()) - i128::from(earlier.as_nanos());
    i64::try_from(difference).unwrap_or(if difference < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_signed_and_saturate() {
        let (early, late) = (Instant::from_nanos(3), Instant::from_nanos(10));
        assert_eq!(between(early, late), 7);
        assert_eq!(between(late, early), -7);
        assert_eq!(between(early, Instant::NEVER), i64::MAX);
        assert_eq!(between(Instant::NEVER, early), i64::MIN);
    }

    #[test]
    fn durations_beyond_the_longest_are_the_longest() {
        assert_eq!(nanos(Duration::MAX), i64::MAX);
        assert_eq!(duration(i64::MAX), FOREVER);
        assert_eq!(duration(-1), Duration::ZERO);
    }
}
