//! Back-off from overloaded hosts (`election:RQ-71` to `RQ-76`).

use std::fmt;
use std::time::Duration;

use crate::limiter::KeyedBackoff;
use crate::runtime::Runtime;

/// A back-off for every host. It grows with each answer that says the host is overloaded, and ends
/// with any other answer.
pub struct HostBackoff<R: Runtime> {
    runtime: R,
    delays: KeyedBackoff<String, R>,
}

impl<R: Runtime> HostBackoff<R> {
    /// Makes a back-off that begins with `initial` and stays below `max`.
    pub fn new(runtime: &R, initial: Duration, max: Duration) -> Self {
        Self { runtime: runtime.clone(), delays: KeyedBackoff::new(runtime, initial, max) }
    }

    /// Returns how long to wait before the next request to a host.
    #[must_use]
    pub fn delay(&self, host: &str) -> Duration {
        self.delays.get(&host.to_owned())
    }

    /// Notes the result of an attempt; `None` means no answer.
    pub fn update(&self, host: &str, status: Option<u16>) {
        let host = host.to_owned();
        match status {
            Some(429 | 500..) => drop(self.delays.next(&host, self.runtime.now())),
            _ => self.delays.reset(&host),
        }
    }
}

impl<R: Runtime> fmt::Debug for HostBackoff<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostBackoff")
    }
}
