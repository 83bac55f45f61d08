//! The polling loop (`election:ENV-7`).

use std::ops::ControlFlow;
use std::time::Duration;

use crate::cancel::{CancelToken, Reason, Tree};
use crate::machine::Host;
use crate::runtime::{Instant, Runtime};

/// Runs `run` once every `interval` until it breaks, and returns what it breaks with.
///
/// The first run is at once and looks at no token. Later ones begin `interval`, twice `interval`
/// and so on after the call, whatever the runs cost; a run that missed its time follows the one
/// before at once, and further missed ones are dropped. `run` is given a child of `token` that ends
/// after `timeout`; a run that breaks after that still counts. An `interval` of zero leaves no gap.
///
/// # Errors
/// The child ended between two runs: the reason is `token`'s, or that the time was over.
pub fn poll<R: Runtime, H: Host<Tree>, T>(
    interval: Duration,
    timeout: Duration,
    token: &CancelToken<R, H>,
    mut run: impl FnMut(&CancelToken<R, H>) -> ControlFlow<T>,
) -> Result<T, Reason> {
    let runtime = token.runtime();
    let began = runtime.now();
    let mut ticker = Ticker::new(began, interval);
    let child = token.child_with_deadline(began + timeout);
    loop {
        if let ControlFlow::Break(value) = run(&child) {
            return Ok(value);
        }
        if child.wait_until(ticker.next()) {
            return Err(child.reason().expect("a token that has ended stays so"));
        }
        ticker.take(runtime.now());
    }
}

/// Ticks at a fixed rate and keeps one tick that was not taken, not more (`workqueue:CK-3`).
pub(crate) struct Ticker {
    began: Instant,
    interval: Duration,
    /// How many ticks had come when one was taken last.
    taken: u64,
}

impl Ticker {
    pub(crate) fn new(began: Instant, interval: Duration) -> Self {
        Self { began, interval, taken: 0 }
    }

    /// Returns when the next tick can be taken; in the past, if one is kept.
    pub(crate) fn next(&self) -> Instant {
        let ticks = u128::from(self.taken) + 1;
        let nanos = self.interval.as_nanos().saturating_mul(ticks);
        self.began + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Takes a tick; others that came until now are dropped. Without an interval all are now.
    pub(crate) fn take(&mut self, now: Instant) {
        let came = now.since(self.began).as_nanos().checked_div(self.interval.as_nanos());
        self.taken = u64::try_from(came.unwrap_or(0)).unwrap_or(u64::MAX);
    }
}
