//! Flow control by a token bucket.

use std::fmt;
use std::future::poll_fn;
use std::task::Poll;

use crate::cancel::{CancelToken, Reason};
use crate::limiter::{FOREVER, Rate, Reservation, TokenBucket};
use crate::runtime::Runtime;

use super::{FlowLimiter, WaitError, Waits};

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

    /// As [`wait`](FlowLimiter::wait), for `n` tokens, in the order of checks of `workqueue:TB-15`.
    /// A wait for zero tokens ends when the debt is repaid.
    ///
    /// # Errors
    /// As [`wait`](FlowLimiter::wait).
    pub fn wait_for(&self, token: &CancelToken<R>, n: u64) -> Result<(), WaitError> {
        let taken = self.take(token, n)?;
        let act = taken.reservation.act();
        let ended = act > self.runtime.now() && token.wait_until(act);
        taken.settle(if ended { token.reason() } else { None })
    }

    /// As [`wait_for`](Self::wait_for), without a thread. Dropping the future gives up, and unused
    /// tokens are given back.
    ///
    /// # Errors
    /// As [`wait_for`](Self::wait_for).
    pub async fn wait_for_async(&self, token: &CancelToken<R>, n: u64) -> Result<(), WaitError> {
        let taken = self.take(token, n)?;
        let act = taken.reservation.act();
        let mut alarms = None;
        let ended = poll_fn(|context| {
            let reason = token.reason();
            if reason.is_some() || act <= self.runtime.now() {
                return Poll::Ready(reason);
            }
            let waker = context.waker();
            alarms = Some((token.on_end(waker.clone()), self.runtime.wake_at(act, waker.clone())));
            Poll::Pending
        })
        .await;
        taken.settle(ended)
    }

    fn take(&self, token: &CancelToken<R>, n: u64) -> Result<Taken<'_, R>, WaitError> {
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
        Ok(Taken { flow: self, reservation, is_settled: false })
    }

    fn lock(&self) -> R::Guard<'_, TokenBucket> {
        self.runtime.lock(&self.bucket)
    }
}

/// A caller's reservation. Dropping it gives back the unused part.
struct Taken<'a, R: Runtime> {
    flow: &'a TokenBucketFlow<R>,
    reservation: Reservation,
    is_settled: bool,
}

impl<R: Runtime> Taken<'_, R> {
    /// Ends the wait, because of its turn or of the end of its token. If both came at the same
    /// moment, the turn counts.
    fn settle(mut self, ended: Option<Reason>) -> Result<(), WaitError> {
        let early = self.flow.runtime.now() < self.reservation.act();
        self.is_settled = !early || ended.is_none();
        ended.filter(|_| early).map_or(Ok(()), |reason| Err(WaitError::Ended(reason)))
    }
}

impl<R: Runtime> Drop for Taken<'_, R> {
    fn drop(&mut self) {
        if !self.is_settled {
            let now = self.flow.runtime.now();
            self.flow.lock().cancel(now, &self.reservation);
        }
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

    fn wait_async<'a>(&'a self, token: &'a CancelToken<R>) -> Waits<'a> {
        Box::pin(self.wait_for_async(token, 1))
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
