//! What is logged of calls that the limiter lets wait (`election:RQ-53`).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tracing::Level;

use crate::runtime::Instant;

use super::execution::Retry;
use super::verb::Verb;

/// A wait that nobody needs to know of.
const SHORT: Duration = Duration::from_millis(50);

/// A wait that is long, even for those who do not look at details.
const LONG: Duration = Duration::from_secs(1);

/// When a client has last said that a call waited for long. One that is slowed down says so now and
/// then, and not for every call.
#[derive(Debug, Default)]
pub(super) struct Late(AtomicU64);

impl Late {
    /// A call has waited, up to now.
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

    /// Whether it is time to say it again; then it is said.
    fn is_due(&self, now: Instant, pause: Duration) -> bool {
        let last = self.0.load(Ordering::Relaxed); // zero: never
        let is_due = last == 0 || now.since(Instant::from_nanos(last)) >= pause;
        let now = now.as_nanos().max(1);
        let swap =
            || self.0.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        is_due && swap()
    }
}
