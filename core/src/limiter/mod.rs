//! How long to wait: limiters per item and shared, the token bucket, flow control, and the keyed
//! back-off.
//!
//! | part | question that it answers |
//! |---|---|
//! | [`Limiter`] | how long a failed item waits before it is tried again |
//! | [`Exponential`], [`FastSlow`] | the same, by how often that item failed |
//! | [`Bucket`] | the same, by how much is tried in total |
//! | [`MaxOf`], [`WithMaxWait`] | a combination |
//! | [`RateLimiter`] | any of them under a lock, for any number of threads |
//! | [`TokenBucket`] | the arithmetic of a number of tokens per second |
//! | [`FlowLimiter`] | whether, or when, a caller may go on |
//! | [`KeyedBackoff`] | how long a key backs off after its events |
//!
//! Limiters, buckets and back-offs are plain values: every call passes the time and never waits.
//! Delays saturate at [`FOREVER`] and are exact to the nanosecond.
//!
//! ```
//! use std::time::Duration;
//! use seatrial_core::limiter::{Exponential, RateLimiter};
//! use seatrial_core::runtime::System;
//!
//! let ms = Duration::from_millis;
//! let limiter = RateLimiter::new(&System::new(), Exponential::new(ms(5), ms(1_000_000)));
//! assert_eq!(limiter.when(&"web"), ms(5));
//! assert_eq!(limiter.when(&"web"), ms(10));
//! assert_eq!(limiter.num_requeues(&"web"), 2);
//! limiter.forget(&"web"); // it succeeded
//! assert_eq!(limiter.when(&"web"), ms(5));
//! ```

mod backoff;
mod bucket;
mod combine;
mod failures;
mod flow;
mod locked;
pub(crate) mod nanos;
mod per_item;
#[cfg(test)]
mod tests;
mod token_bucket;

use std::time::Duration;

use crate::runtime::Instant;

pub use crate::slab::Item;
pub use backoff::KeyedBackoff;
pub use bucket::Bucket;
pub use combine::{MaxOf, WithMaxWait};
pub use flow::{AlwaysAccept, FlowLimiter, NeverAccept, TokenBucketFlow, WaitError, Waits};
pub use locked::RateLimiter;
pub use nanos::FOREVER;
pub use per_item::{Exponential, FastSlow};
pub use token_bucket::{Rate, Reservation, TokenBucket};

for_harness! {
    use backoff::BackoffTable;
    use flow::{Gate, GateOp, GateRet, Pass, Stop};
}

/// Decides how long failed items wait. A plain value; to share it, put it under a lock.
pub trait Limiter<K>: Send + 'static {
    /// Counts a failure of an item and returns how long it waits before it is tried again.
    fn when(&mut self, item: Item<'_, K>, now: Instant) -> Duration;

    /// Forgets the failures of an item that succeeded or is given up. Keys that the limiter held
    /// for it go to `left`, to be dropped outside the lock: dropping a key runs foreign code.
    fn forget(&mut self, item: Item<'_, K>, left: &mut Vec<K>);

    /// Returns how often an item failed since it was last forgotten.
    fn num_requeues(&self, item: Item<'_, K>) -> u32;

    /// Tells whether [`when`](Self::when) uses the time. If not, a caller may pass any time and
    /// need not read the clock.
    fn reads_time(&self) -> bool {
        true
    }
}

impl<K: 'static, L: Limiter<K> + ?Sized> Limiter<K> for Box<L> {
    fn when(&mut self, item: Item<'_, K>, now: Instant) -> Duration {
        (**self).when(item, now)
    }

    fn forget(&mut self, item: Item<'_, K>, left: &mut Vec<K>) {
        (**self).forget(item, left);
    }

    fn num_requeues(&self, item: Item<'_, K>) -> u32 {
        (**self).num_requeues(item)
    }

    fn reads_time(&self) -> bool {
        (**self).reads_time()
    }
}

/// The default limiter of controllers: 5 ms doubling up to 1000 s per item, and at most 10 retries
/// a second after a burst of 100 (`workqueue:RL-23`).
pub type DefaultLimiter<K> = MaxOf<(Exponential<K>, Bucket)>;

/// Makes the default limiter of controllers (`workqueue:RL-23`).
#[must_use]
pub fn default_controller<K: Eq + Clone>() -> DefaultLimiter<K> {
    let per_item = Exponential::new(Duration::from_millis(5), Duration::from_secs(1000));
    MaxOf((per_item, Bucket::new(Rate::per_second(10.0), 100)))
}

/// Makes the default limiter that only counts per item: 1 ms doubling up to 1000 s
/// (`workqueue:RL-24`).
#[must_use]
pub fn default_item_based<K: Eq + Clone>() -> Exponential<K> {
    Exponential::new(Duration::from_millis(1), Duration::from_secs(1000))
}
