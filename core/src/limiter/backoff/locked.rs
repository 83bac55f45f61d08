//! A keyed back-off under a lock.

use std::fmt;
use std::hash::{BuildHasher as _, Hash};
use std::time::Duration;

use foldhash::fast::SeedableRandomState;

use crate::caught::{drop_caught, drop_each};
use crate::runtime::{Instant, Runtime};
use crate::slab::{Item, hasher};

use super::BackoffTable;

/// A keyed back-off that any number of threads may use; every call is atomic.
pub struct KeyedBackoff<K: Send + 'static, R: Runtime> {
    runtime: R,
    table: R::Mutex<BackoffTable<K>>,
    hasher: SeedableRandomState,
}

impl<K: Eq + Hash + Clone + Send + 'static, R: Runtime> KeyedBackoff<K, R> {
    /// Makes an empty back-off without jitter.
    pub fn new(runtime: &R, initial: Duration, max: Duration) -> Self {
        let table = runtime.mutex(BackoffTable::new(initial, max));
        Self { table, runtime: runtime.clone(), hasher: hasher(runtime) }
    }

    /// Adds to every step a random part, less than `factor` times the back-off before it was
    /// doubled. The random part stays in the back-off and so compounds (`workqueue:BO-5`).
    #[must_use]
    pub fn with_jitter(self, factor: f64) -> Self {
        self.lock().jitter = factor;
        self
    }

    /// Replaces the rule by which a key starts over. It is called with the time of an event, the
    /// time of the key's last update and the maximal back-off. It runs under the lock and must not
    /// call back (`workqueue:BO-13`).
    #[must_use]
    pub fn with_expiry(
        self,
        expired: impl Fn(Instant, Instant, Duration) -> bool + Send + 'static,
    ) -> Self {
        self.lock().expired = Some(Box::new(expired));
        self
    }

    /// Returns the back-off of a key; zero if it has none (`workqueue:BO-1`).
    pub fn get(&self, key: &K) -> Duration {
        let item = self.item(key);
        self.lock().get(item)
    }

    /// Notes an event and returns the resulting back-off (`workqueue:BO-2`).
    pub fn next(&self, key: &K, event: Instant) -> Duration {
        let item = self.item(key);
        self.lock().next(item, event, self.runtime.now(), || self.runtime.uniform())
    }

    /// Tells whether the back-off of a key, counted from the event, is still running
    /// (`workqueue:BO-6`).
    pub fn is_in_backoff_since(&self, key: &K, event: Instant) -> bool {
        let item = self.item(key);
        self.lock().is_in_backoff_since(item, event, self.runtime.now())
    }

    /// Tells whether an event falls into the back-off of a key, counted from its last update
    /// (`workqueue:BO-7`).
    pub fn is_in_backoff_since_update(&self, key: &K, event: Instant) -> bool {
        let item = self.item(key);
        self.lock().is_in_backoff_since_update(item, event)
    }

    /// Forgets every key that would start over (`workqueue:BO-8`).
    pub fn collect_garbage(&self) {
        let forgotten = self.lock().collect_garbage(self.runtime.now());
        drop_each(forgotten); // outside the lock: dropping a key runs foreign code
    }

    /// Forgets a key (`workqueue:BO-8`).
    pub fn reset(&self, key: &K) {
        let item = self.item(key);
        let forgotten = self.lock().reset(item);
        drop_caught(forgotten);
    }

    fn item<'k>(&self, key: &'k K) -> Item<'k, K> {
        Item::new(key, self.hasher.hash_one(key))
    }

    fn lock(&self) -> R::Guard<'_, BackoffTable<K>> {
        self.runtime.lock(&self.table)
    }
}

impl<K: Send + 'static, R: Runtime> fmt::Debug for KeyedBackoff<K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyedBackoff")
    }
}
