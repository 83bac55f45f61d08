//! Log messages for calls that the limiter delays (`election:RQ-53`).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tracing::Level;

use crate::runtime::Instant;

use super::execution::Retry;
use super::verb::Verb;

/// A wait up to this is not logged.
const SHORT: Duration = Duration::from_millis(50);

/// A wait above this is logged at a higher level than `trace`.
const LONG: Duration = Duration::from_secs(1);

/// When a client last logged a long wait. A client that is slowed down logs one now and then, and
/// not for every call.
#[derive(Debug, Default)]
pub(super) struct Late(AtomicU64);

impl Late {
    /// Logs that a call has waited, up to now.
    pub(super) fn waited(
        &self,
        waited: Duration,
        now: Instant,
        verb: &Verb,
        url: &str,
        retry: Option<&Retry>,
    ) {
        if waited <= SHORT {
            return;
        }
        let own = "the client's own limiter, not the server";
        let reason = retry.map_or_else(|| own.to_owned(), ToString::to_string);
        let verb = verb.as_str();
        tracing::trace!(?waited, reason, verb, url, "a call waited for its turn");
        if waited <= LONG {
            return;
        }
        if tracing::enabled!(Level::DEBUG) {
            if self.is_due(now, Duration::from_secs(1)) {
                tracing::debug!(?waited, reason, verb, url, "a call waited for long");
            }
        } else if self.is_due(now, Duration::from_secs(10)) {
            tracing::info!(?waited, reason, verb, url, "a call waited for long");
        }
    }

    /// Tells whether it is time to log again; if so, takes the turn.
    fn is_due(&self, now: Instant, pause: Duration) -> bool {
        let last = self.0.load(Ordering::Relaxed); // zero: never
        let is_due = last == 0 || now.since(Instant::from_nanos(last)) >= pause;
        let now = now.as_nanos().max(1);
        let swap =
            || self.0.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        is_due && swap()
    }
}
