//! The expiring store as a sequential object: a map of objects with the times at which they were
//! stored.

use std::collections::BTreeMap;
use std::time::Duration;

use seatrial_core::runtime::Instant;

use crate::events::fixtures::Object;

/// Objects by key, each with the time at which it was stored (`cache:EX`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    /// The maximum age of objects; at exactly this age they are still alive.
    pub time: Duration,
    /// All objects, expired or not, until a read removes the expired ones.
    pub items: BTreeMap<u8, (Object, Instant)>,
}

impl Spec {
    /// Makes an empty store with this maximum age.
    pub fn lasting(time: Duration) -> Self {
        Self { time, items: BTreeMap::new() }
    }

    /// Stores an object at this time (`cache:EX-1`).
    pub fn put(&mut self, object: Object, now: Instant) {
        self.items.insert(object.0, (object, now));
    }

    /// Replaces the content by a list, stored at this time.
    pub fn replace(&mut self, list: &[Object], now: Instant) {
        self.items = list.iter().map(|object| (object.0, (*object, now))).collect();
    }

    /// Returns an object unless it has expired; an expired object is removed (`cache:EX-3`).
    pub fn get(&mut self, key: u8, now: Instant) -> Option<Object> {
        let alive = self.alive(key, now);
        if alive.is_none() {
            self.items.remove(&key);
        }
        alive
    }

    /// Returns an object unless it has expired.
    pub fn alive(&self, key: u8, now: Instant) -> Option<Object> {
        let (object, at) = self.items.get(&key)?;
        (now.since(*at) <= self.time).then_some(*object)
    }

    /// Returns the objects that have not expired, in the order of their keys; the others are
    /// removed.
    pub fn list(&mut self, now: Instant) -> Vec<Object> {
        let keys: Vec<u8> = self.items.keys().copied().collect();
        keys.into_iter().filter_map(|key| self.get(key, now)).collect()
    }

    /// Returns all keys, including those of expired objects.
    pub fn keys(&self) -> Vec<u8> {
        self.items.keys().copied().collect()
    }
}
