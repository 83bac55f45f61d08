//! The settings of a reflector.

use std::time::Duration;

read_by_harness! {
    /// How a reflector lists and watches (`cache:RE-2`).
    #[derive(Clone, PartialEq, Eq, Debug)]
    #[non_exhaustive]
    pub struct Config {
        /// How often the consumer is shown everything again; zero for never.
        resync: Duration,
        /// How many objects a page has; zero lets the reflector choose.
        page_size: u32,
        /// The least time after which a server ends a watch; the actual time is random, up to twice
        /// as long. Less than five minutes has no effect, nor has more than 68 years.
        min_watch: Duration,
        /// For how long a watch that fails by an internal error of the server is retried at once;
        /// zero for never.
        retry_internal: Duration,
        /// Whether the first objects come by a stream, if the source supports that.
        stream_lists: bool,
    }
}

/// The smallest value of `min_watch` that has an effect (`cache:RE-16`).
const MIN_WATCH: Duration = Duration::from_secs(300);

/// The longest time that is asked for. A longer one overflows when it is added to a clock, here and
/// at the server.
const MAX_WATCH: u64 = i32::MAX as u64;

impl Default for Config {
    fn default() -> Self {
        Self {
            resync: Duration::ZERO,
            page_size: 0,
            min_watch: MIN_WATCH,
            retry_internal: Duration::ZERO,
            stream_lists: true,
        }
    }
}

impl Config {
    /// Sets how often the consumer is shown everything again; zero for never.
    #[must_use]
    pub fn resync(mut self, period: Duration) -> Self {
        self.resync = period;
        self
    }

    /// Sets how many objects a page has; zero lets the reflector choose.
    #[must_use]
    pub fn page_size(mut self, size: u32) -> Self {
        self.page_size = size;
        self
    }

    /// Sets the least time after which a server ends a watch; the actual time is random, up to
    /// twice as long. Less than five minutes has no effect, nor has more than 68 years.
    #[must_use]
    pub fn min_watch(mut self, least: Duration) -> Self {
        self.min_watch = least;
        self
    }

    /// Sets whether the first objects come by a stream, if the source supports that.
    #[must_use]
    pub fn stream_lists(mut self, choice: bool) -> Self {
        self.stream_lists = choice;
        self
    }

    /// Sets for how long a watch that fails by an internal error of the server is retried at once;
    /// zero for never.
    #[must_use]
    pub fn retry_internal(mut self, limit: Duration) -> Self {
        self.retry_internal = limit;
        self
    }

    /// Returns a time in whole seconds from the least up to twice as much; `part` is from 0 up to
    /// 1.
    pub(super) fn watch_timeout(&self, part: f64) -> Duration {
        let least = self.min_watch.max(MIN_WATCH).as_secs();
        Duration::from_secs(least.saturating_add((least as f64 * part) as u64).min(MAX_WATCH))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_lasts_as_long_as_is_asked_for_and_five_minutes_at_least() {
        let timeout = |minutes: u64, part| {
            let config = Config::default().min_watch(Duration::from_secs(60 * minutes));
            config.watch_timeout(part).as_secs()
        };
        assert_eq!([timeout(1, 0.0), timeout(10, 0.0), timeout(10, 0.5)], [300, 600, 900], "RE-16");
        let for_ever = Config::default().min_watch(Duration::MAX).watch_timeout(0.9);
        assert_eq!(for_ever.as_secs(), 2_147_483_647, "every clock and server can add this");
    }
}
