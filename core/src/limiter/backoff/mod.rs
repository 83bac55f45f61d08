//! The keyed back-off: one delay per key that doubles while events keep coming (client-go
//! `util/flowcontrol`).
//!
//! ```
//! use std::time::Duration;
//! use seatrial_core::limiter::KeyedBackoff;
//! use seatrial_core::runtime::{Ambient, System};
//!
//! let runtime = System::new();
//! let seconds = Duration::from_secs;
//! let backoff = KeyedBackoff::new(&runtime, seconds(1), seconds(50));
//! assert_eq!(backoff.next(&"host", runtime.now()), seconds(1));
//! assert_eq!(backoff.next(&"host", runtime.now()), seconds(2));
//! assert!(backoff.is_in_backoff_since(&"host", runtime.now()));
//! backoff.reset(&"host");
//! assert_eq!(backoff.get(&"host"), Duration::ZERO);
//! ```

mod locked;
#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use crate::runtime::Instant;
use crate::slab::{Item, Slab, Value};

use super::nanos::{between, duration, nanos};

pub use locked::KeyedBackoff;

/// Tells whether a key starts over, from the time of an event, the time of the key's last update
/// and the maximal back-off.
type Expired = dyn Fn(Instant, Instant, Duration) -> bool + Send;

/// The state of a keyed back-off, without its lock.
pub struct BackoffTable<K> {
    initial: i64,
    max: i64,
    jitter: f64,
    /// If present, replaces the default rule everywhere (`workqueue:BO-4`).
    expired: Option<Box<Expired>>,
    entries: Slab<K, Entry>,
}

#[derive(Clone, Copy, Default)]
struct Entry {
    backoff: i64,
    last_update: Instant,
}

impl Value for Entry {}

impl<K: Eq + Clone> BackoffTable<K> {
    /// Makes an empty table. The first back-off of a key is `initial`, even if that is more than
    /// `max` (`workqueue:BO-3`).
    #[must_use]
    pub fn new(initial: Duration, max: Duration) -> Self {
        let (initial, max) = (nanos(initial), nanos(max));
        Self { initial, max, jitter: 0.0, expired: None, entries: Slab::new() }
    }

    /// Adds to every step a random part, less than `factor` times the back-off before it was
    /// doubled. The random part stays in the back-off and so compounds (`workqueue:BO-5`).
    #[must_use]
    pub fn with_jitter(self, factor: f64) -> Self {
        Self { jitter: factor, ..self }
    }

    /// Replaces the rule by which a key starts over. In a shared table it runs under the lock and
    /// must not call back into the table (`workqueue:BO-13`).
    #[must_use]
    pub fn with_expiry(self, expired: Box<Expired>) -> Self {
        Self { expired: Some(expired), ..self }
    }

    /// Returns the back-off of a key; zero if it has none. It does not depend on the time
    /// (`workqueue:BO-1`).
    #[must_use]
    pub fn get(&self, item: Item<'_, K>) -> Duration {
        duration(self.find(item).map_or(0, |entry| entry.backoff))
    }

    /// Notes an event and returns the resulting back-off (`workqueue:BO-2`). `random` must return a
    /// number between zero and one; it is called only if there is a jitter.
    pub fn next(
        &mut self,
        item: Item<'_, K>,
        event: Instant,
        now: Instant,
        random: impl FnOnce() -> f64,
    ) -> Duration {
        let known = self.find(item).filter(|entry| !self.has_expired(event, entry.last_update));
        let backoff = match known {
            None => self.initial.saturating_add(self.jitter(self.initial, random)),
            Some(Entry { backoff, .. }) => {
                let doubled = backoff.saturating_mul(2);
                doubled.saturating_add(self.jitter(backoff, random)).min(self.max)
            }
        };
        let slot = self.entries.intern_copy(item);
        *self.entries.value_mut(slot) = Entry { backoff, last_update: now };
        duration(backoff)
    }

    /// Tells whether the back-off of a key, counted from the event, is still running
    /// (`workqueue:BO-6`).
    #[must_use]
    pub fn is_in_backoff_since(&self, item: Item<'_, K>, event: Instant, now: Instant) -> bool {
        self.is_in_backoff(item, event, |_| between(event, now))
    }

    /// As [`is_in_backoff_since`](Self::is_in_backoff_since), but counted from the key's last
    /// update to the event, without the clock (`workqueue:BO-7`).
    #[must_use]
    pub fn is_in_backoff_since_update(&self, item: Item<'_, K>, event: Instant) -> bool {
        self.is_in_backoff(item, event, |last_update| between(last_update, event))
    }

    /// Forgets every key that would start over. Returns the keys, to be dropped outside of a lock
    /// (`workqueue:BO-8`).
    pub fn collect_garbage(&mut self, now: Instant) -> Vec<K> {
        let entries = self.entries.iter();
        let expired = entries.filter(|(_, entry)| self.has_expired(now, entry.last_update));
        let slots: Vec<_> = expired.map(|(slot, _)| slot).collect();
        slots.into_iter().filter_map(|slot| self.entries.remove(slot)).collect()
    }

    /// Forgets a key (`workqueue:BO-8`). Returns it, to be dropped outside of a lock.
    pub fn reset(&mut self, item: Item<'_, K>) -> Option<K> {
        self.entries.find(item).and_then(|slot| self.entries.remove(slot))
    }

    /// Returns how many keys have a back-off.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether no key has a back-off.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn find(&self, item: Item<'_, K>) -> Option<Entry> {
        self.entries.find(item).map(|slot| *self.entries.value(slot))
    }

    /// All differences are signed: if time went backwards, the key has not expired, and it is in
    /// back-off, even in one of zero (`workqueue:BO-14`).
    fn is_in_backoff(
        &self,
        item: Item<'_, K>,
        event: Instant,
        since: impl FnOnce(Instant) -> i64,
    ) -> bool {
        self.find(item).is_some_and(|Entry { backoff, last_update }| {
            !self.has_expired(event, last_update) && since(last_update) < backoff
        })
    }

    fn has_expired(&self, event: Instant, last_update: Instant) -> bool {
        match &self.expired {
            Some(expired) => expired(event, last_update, duration(self.max)),
            None => between(last_update, event) > self.max.saturating_mul(2),
        }
    }

    /// Returns a random part of `factor * delay`, truncated.
    fn jitter(&self, delay: i64, random: impl FnOnce() -> f64) -> i64 {
        if self.jitter > 0.0 { (random() * self.jitter * delay as f64) as i64 } else { 0 }
    }
}

impl<K> fmt::Debug for BackoffTable<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BackoffTable")
            .field("initial", &duration(self.initial))
            .field("max", &duration(self.max))
            .field("jitter", &self.jitter)
            .finish_non_exhaustive()
    }
}
