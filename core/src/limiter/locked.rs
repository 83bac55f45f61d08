//! A limiter under a lock, for callers without a queue.

use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use crate::caught::Remains;
use crate::queue::Hashing;
use crate::runtime::{Instant, Runtime};
use crate::slab::Item;

use super::Limiter;

/// A limiter for any number of threads; every call is atomic. Clones share its state.
///
/// A clone is itself a [`Limiter`], so one state can serve two queues. Then forgetting an item in
/// one queue resets it in the other, too (`workqueue:RL-26`). That is why queues share nothing by
/// default.
pub struct RateLimiter<K, L: Limiter<K>, R: Runtime> {
    shared: Arc<Shared<L, R>>,
    item: PhantomData<fn(&K)>,
}

struct Shared<L: Send + 'static, R: Runtime> {
    runtime: R,
    limiter: R::Mutex<L>,
    hasher: Hashing,
}

impl<K: Hash, L: Limiter<K>, R: Runtime> RateLimiter<K, L, R> {
    /// Puts a limiter under a lock of `runtime`.
    pub fn new(runtime: &R, limiter: L) -> Self {
        Self::with_hasher(runtime, Hashing::keyed(runtime), limiter)
    }

    /// As [`new`](Self::new), with another hasher, for harnesses.
    #[cfg_attr(not(feature = "harness"), doc(hidden))]
    pub fn with_hasher(runtime: &R, hasher: impl Into<Hashing>, limiter: L) -> Self {
        let (limiter, hasher) = (runtime.mutex(limiter), hasher.into());
        let shared = Arc::new(Shared { runtime: runtime.clone(), limiter, hasher });
        Self { shared, item: PhantomData }
    }

    /// Counts a failure of an item and returns how long to wait before trying it again.
    pub fn when(&self, key: &K) -> Duration {
        let item = self.item(key);
        let mut limiter = self.lock();
        let reads_time = limiter.reads_time();
        limiter.when(item, if reads_time { self.shared.runtime.now() } else { Instant::ZERO })
    }

    /// Forgets the failures of an item.
    pub fn forget(&self, key: &K) {
        let mut left = Remains::new();
        let item = self.item(key);
        self.lock().forget(item, &mut left);
    }

    /// Returns how often an item failed since it was last forgotten.
    pub fn num_requeues(&self, key: &K) -> u32 {
        let item = self.item(key);
        self.lock().num_requeues(item)
    }

    fn item<'k>(&self, key: &'k K) -> Item<'k, K> {
        Item::new(key, self.shared.hasher.hash_one(key))
    }

    fn lock(&self) -> R::Guard<'_, L> {
        self.shared.runtime.lock(&self.shared.limiter)
    }
}

/// Hashes again, because two queues that share a limiter have different hashers.
impl<K: Hash + 'static, L: Limiter<K>, R: Runtime> Limiter<K> for RateLimiter<K, L, R> {
    fn when(&mut self, item: Item<'_, K>, now: Instant) -> Duration {
        let item = self.item(item.key());
        self.lock().when(item, now)
    }

    fn forget(&mut self, item: Item<'_, K>, left: &mut Vec<K>) {
        let item = self.item(item.key());
        self.lock().forget(item, left);
    }

    fn num_requeues(&self, item: Item<'_, K>) -> u32 {
        Self::num_requeues(self, item.key())
    }

    fn reads_time(&self) -> bool {
        self.lock().reads_time()
    }
}

impl<K, L: Limiter<K>, R: Runtime> Clone for RateLimiter<K, L, R> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), item: PhantomData }
    }
}

impl<K, L: Limiter<K>, R: Runtime> fmt::Debug for RateLimiter<K, L, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RateLimiter")
    }
}
