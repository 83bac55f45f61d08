//! A limiter under a lock, for callers without a queue.

use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use foldhash::fast::SeedableRandomState;

use crate::caught::Remains;
use crate::runtime::{Instant, Runtime};
use crate::slab::{Item, hasher};

use super::Limiter;

/// A limiter for any number of threads; every call is atomic. Clones share its state.
///
/// A clone is itself a [`Limiter`], so one state can serve two queues. Then forgetting an item in
/// one queue resets it in the other, too (`workqueue:RL-26`). That is why queues share nothing by
/// default.
pub struct RateLimiter<K, L, R, B = SeedableRandomState>
where
    L: Limiter<K>,
    R: Runtime,
{
    shared: Arc<Shared<L, R, B>>,
    item: PhantomData<fn(&K)>,
}

struct Shared<L: Send + 'static, R: Runtime, B> {
    runtime: R,
    limiter: R::Mutex<L>,
    hasher: B,
}

impl<K: Hash, L: Limiter<K>, R: Runtime> RateLimiter<K, L, R> {
    /// Puts a limiter under a lock of `runtime`.
    pub fn new(runtime: &R, limiter: L) -> Self {
        Self::with_hasher(runtime, hasher(runtime), limiter)
    }
}

impl<K: Hash, L: Limiter<K>, R: Runtime, B: BuildHasher> RateLimiter<K, L, R, B> {
    /// As [`new`](RateLimiter::new), with your own hasher.
    pub fn with_hasher(runtime: &R, hasher: B, limiter: L) -> Self {
        let limiter = runtime.mutex(limiter);
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
impl<K, L, R, B> Limiter<K> for RateLimiter<K, L, R, B>
where
    K: Hash + 'static,
    L: Limiter<K>,
    R: Runtime,
    B: BuildHasher + Send + Sync + 'static,
{
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

impl<K, L: Limiter<K>, R: Runtime, B> Clone for RateLimiter<K, L, R, B> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), item: PhantomData }
    }
}

impl<K, L: Limiter<K>, R: Runtime, B> fmt::Debug for RateLimiter<K, L, R, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RateLimiter")
    }
}
