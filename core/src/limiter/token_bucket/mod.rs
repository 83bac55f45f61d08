//! The token bucket (the reference's `x/time/rate`): a number of tokens per second, and a burst.
//!
//! A bucket is a plain value and every call passes the time, so it can be tested without a clock.
//! To share it, put it under a lock. Times and token counts follow the reference's double precision
//! operation by operation (`workqueue:TB-3`, `TB-4`, `TB-17`).
//!
//! ```
//! use std::time::Duration;
//! use seatrial_core::limiter::{FOREVER, Rate, TokenBucket};
//! use seatrial_core::runtime::Instant;
//!
//! let mut bucket = TokenBucket::new(Rate::per_second(10.0), 2);
//! let now = Instant::ZERO;
//! assert!(bucket.allow(now, 2)); // it starts full
//! assert!(!bucket.allow(now, 1));
//! let reservation = bucket.reserve(now, 1, FOREVER); // a token from the future
//! assert_eq!(reservation.delay_from(now), Duration::from_millis(100));
//! ```

mod rate;
#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::runtime::Instant;

use super::nanos::{FOREVER, between, duration, nanos};

pub use rate::Rate;

/// A token bucket.
#[derive(Clone, PartialEq, Debug)]
pub struct TokenBucket {
    rate: Rate,
    burst: u64,
    /// The balance at `last`. A negative balance is a debt by reservations for the future (`TB-6`).
    tokens: f64,
    /// The time of `tokens`; it never decreases. `None` before the first operation: the bucket is
    /// full at its first use, whatever the time (`TB-1`).
    last: Option<Instant>,
    /// When the newest reservation may act.
    last_event: Instant,
}

/// The bucket's answer to a request for tokens.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reservation {
    granted: bool,
    tokens: u64,
    act: Instant,
    /// The wait is too long to represent; then `act` means "never" (`workqueue:CV-4`).
    never: bool,
    /// The rate at which it was made (`workqueue:TB-20`).
    rate: Rate,
}

impl Reservation {
    /// Tells whether the tokens are reserved.
    #[must_use]
    pub fn is_granted(&self) -> bool {
        self.granted
    }

    /// Returns when the holder may act; [`Instant::NEVER`] if that is too far away to represent or
    /// if nothing was reserved.
    #[must_use]
    pub fn act(&self) -> Instant {
        if self.granted && !self.never { self.act } else { Instant::NEVER }
    }

    /// Returns how long the holder must wait at `now` (`workqueue:TB-14`); [`FOREVER`] if nothing
    /// was reserved.
    #[must_use]
    pub fn delay_from(&self, now: Instant) -> Duration {
        match self.act() {
            Instant::NEVER => FOREVER,
            act => duration(between(now, act)),
        }
    }
}

impl TokenBucket {
    /// Makes a full bucket.
    #[must_use]
    pub fn new(rate: Rate, burst: u64) -> Self {
        Self { rate, burst, tokens: burst as f64, last: None, last_event: Instant::ZERO }
    }

    /// Returns the rate.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Returns the largest number of tokens.
    #[must_use]
    pub fn burst(&self) -> u64 {
        self.burst
    }

    /// Returns the balance at `t`; negative if future tokens are reserved.
    #[must_use]
    pub fn tokens_at(&self, t: Instant) -> f64 {
        self.advance(self.not_before_last(t))
    }

    /// Takes `n` tokens now or not at all (`workqueue:TB-11`).
    pub fn allow(&mut self, t: Instant, n: u64) -> bool {
        self.reserve(t, n, Duration::ZERO).is_granted()
    }

    /// Takes `n` tokens, future ones if necessary, if the wait for them is at most `patience`.
    ///
    /// A request that is not granted changes nothing (`workqueue:TB-5`). A request for more than
    /// the burst is never granted (`TB-12`).
    pub fn reserve(&mut self, t: Instant, n: u64, patience: Duration) -> Reservation {
        let t = self.not_before_last(t);
        let granted =
            |act, never| Reservation { granted: true, tokens: n, act, never, rate: self.rate };
        if self.rate.is_unlimited() {
            return granted(t, false);
        }
        let balance = self.advance(t) - n as f64;
        let wait = if balance < 0.0 { self.rate.nanos_for(-balance) } else { 0 };
        if self.never_grants(n) || wait > nanos(patience) {
            return Reservation { granted: false, ..granted(Instant::NEVER, true) };
        }
        let reservation = granted(t + duration(wait), wait == i64::MAX);
        self.settle(t, balance);
        self.last_event = reservation.act;
        reservation
    }

    /// Tells whether `n` tokens are never granted, however long the caller waits
    /// (`workqueue:TB-12`).
    pub(crate) fn never_grants(&self, n: u64) -> bool {
        n > self.burst && !self.rate.is_unlimited()
    }

    /// Gives back the unused tokens of a reservation. This is possible until the time when it may
    /// act.
    ///
    /// Later reservations keep their times. So cancelling the newest first restores everything, and
    /// cancelling the oldest first restores almost nothing (`workqueue:TB-19`). A bucket does not
    /// remember which reservations gave tokens back; a second cancel of the same one is computed
    /// again (`TB-28`).
    pub fn cancel(&mut self, t: Instant, reservation: &Reservation) {
        let t = self.not_before_last(t);
        let &Reservation { granted, tokens: n, act, rate, .. } = reservation;
        // A reservation from an unlimited bucket took nothing from it.
        if !granted || n == 0 || act < t || self.rate.is_unlimited() || rate.is_unlimited() {
            return;
        }
        let restore = n as f64 - rate.tokens_in(between(act, self.last_event));
        if restore <= 0.0 {
            return;
        }
        let tokens = (self.advance(t) + restore).min(self.burst as f64);
        self.settle(t, tokens);
        if act == self.last_event {
            let earlier = act.as_nanos().checked_sub(rate.nanos_for(n as f64).cast_unsigned());
            match earlier.map(Instant::from_nanos) {
                Some(earlier) if earlier >= t => self.last_event = earlier, // TB-18
                _ => {}
            }
        }
    }

    /// Changes the rate from `t` on; reservations keep their times (`workqueue:TB-21`).
    pub fn set_rate(&mut self, t: Instant, rate: Rate) {
        let t = self.not_before_last(t);
        self.settle(t, self.advance(t));
        self.rate = rate;
    }

    /// Changes the burst from `t` on. Raising it adds no tokens (`workqueue:TB-21`).
    pub fn set_burst(&mut self, t: Instant, burst: u64) {
        let t = self.not_before_last(t);
        self.settle(t, self.advance(t));
        self.burst = burst;
    }

    /// Keeps time from running backwards inside a bucket. Callers that read the clock before they
    /// take the lock may come in the wrong order, and the interval between them must not be
    /// credited twice (`workqueue:TB-23`).
    fn not_before_last(&self, t: Instant) -> Instant {
        self.last.map_or(t, |last| last.max(t))
    }

    /// Returns the balance at `t`, which is not before `last` (`workqueue:TB-2`).
    fn advance(&self, t: Instant) -> f64 {
        let burst = self.burst as f64;
        match self.last {
            None => burst,
            Some(last) if self.rate.is_unlimited() => {
                if t > last {
                    burst
                } else {
                    self.tokens
                }
            }
            Some(last) => (self.tokens + self.rate.tokens_in(between(last, t))).min(burst),
        }
    }

    fn settle(&mut self, t: Instant, tokens: f64) {
        self.last = Some(t);
        self.tokens = tokens;
        self.assert_valid();
    }

    /// Checks `workqueue:INV-17`: the balance is a number. Tokens above the burst never fit.
    fn assert_valid(&self) {
        debug_assert!(self.tokens.is_finite(), "a balance is a number");
    }
}
