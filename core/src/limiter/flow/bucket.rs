//! Flow control by a token bucket.

use std::fmt;

use crate::cancel::{CancelToken, Tree};
use crate::limiter::{FOREVER, Rate, Reservation, TokenBucket};
use crate::machine::Host;
use crate::runtime::{Instant, Runtime};

use super::{FlowLimiter, WaitError};

/// A token bucket under a lock, with the runtime's clock: callers take one token each.
pub struct TokenBucketFlow<R: Runtime> {
    runtime: R,
    bucket: R::Mutex<TokenBucket>,
    qps: f32,
}

impl<R: Runtime> TokenBucketFlow<R> {
    /// Makes a full bucket of `burst` tokens that is refilled with `qps` tokens a second.
    pub fn new(runtime: &R, qps: f32, burst: u64) -> Self {
        let bucket = TokenBucket::new(Rate::per_second(f64::from(qps)), burst);
        Self { bucket: runtime.mutex(bucket), runtime: runtime.clone(), qps }
    }

    /// As [`wait`](FlowLimiter::wait), for `n` tokens, in the order of checks of
    /// `workqueue:TB-15`. Zero tokens come when the debt is repaid.
    ///
    /// # Errors
    /// As [`wait`](FlowLimiter::wait).
    pub fn wait_for<H: Host<Tree>>(
        &self,
        token: &CancelToken<R, H>,
        n: u64,
    ) -> Result<(), WaitError> {
        if self.lock().never_grants(n) {
            return Err(WaitError::ExceedsBurst); // also if the token has ended
        }
        if let Some(reason) = token.reason() {
            return Err(WaitError::Ended(reason));
        }
        let now = self.runtime.now();
        let patience = token.deadline().map_or(FOREVER, |deadline| deadline.since(now));
        let reservation = self.lock().reserve(now, n, patience);
        if !reservation.is_granted() {
            return Err(WaitError::WouldExceedDeadline);
        }
        self.sleep(token, &reservation, now)
    }

    fn sleep<H: Host<Tree>>(
        &self,
        token: &CancelToken<R, H>,
        reservation: &Reservation,
        now: Instant,
    ) -> Result<(), WaitError> {
        let act = reservation.act();
        if act <= now || !token.wait_until(act) {
            return Ok(());
        }
        let now = self.runtime.now();
        match token.reason() {
            // The token ended before its turn came, not at that very moment.
            Some(reason) if now < act => {
                self.lock().cancel(now, reservation);
                Err(WaitError::Ended(reason))
            }
            _ => Ok(()),
        }
    }

    fn lock(&self) -> R::Guard<'_, TokenBucket> {
        self.runtime.lock(&self.bucket)
    }
}

impl<R: Runtime> FlowLimiter<R> for TokenBucketFlow<R> {
    fn try_accept(&self) -> bool {
        let now = self.runtime.now();
        self.lock().allow(now, 1)
    }

    fn accept(&self) {
        let now = self.runtime.now();
        let reservation = self.lock().reserve(now, 1, FOREVER);
        self.runtime.sleep_until(reservation.act());
    }

    fn wait(&self, token: &CancelToken<R>) -> Result<(), WaitError> {
        self.wait_for(token, 1)
    }

    fn qps(&self) -> f32 {
        self.qps
    }
}

impl<R: Runtime> fmt::Debug for TokenBucketFlow<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenBucketFlow").field("qps", &self.qps).finish_non_exhaustive()
    }
}
