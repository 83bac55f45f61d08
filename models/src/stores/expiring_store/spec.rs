//! The expiring store as a sequential object: a map of objects and the times of their storing.

use std::collections::BTreeMap;
use std::time::Duration;

use seatrial_core::runtime::Instant;

use crate::events::fixtures::Object;

/// Objects by key, and since when they are stored (`cache:EX`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    /// How long objects last; at that very age still.
    pub time: Duration,
    /// What is stored, expired or not, until somebody looks.
    pub items: BTreeMap<u8, (Object, Instant)>,
}

impl Spec {
    /// Makes an empty store whose objects last so long.
    pub fn lasting(time: Duration) -> Self {
        Self { time, items: BTreeMap::new() }
    }

    /// Stores an object from now on (`cache:EX-1`).
    pub fn put(&mut self, object: Object, now: Instant) {
        self.items.insert(object.0, (object, now));
    }

    /// Makes a list the content, all of it stored now.
    pub fn replace(&mut self, list: &[Object], now: Instant) {
        self.items = list.iter().map(|object| (object.0, (*object, now))).collect();
    }

    /// Returns an object unless it has expired; then it is removed (`cache:EX-3`).
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

    /// Returns all keys, of expired objects, too.
    pub fn keys(&self) -> Vec<u8> {
        self.items.keys().copied().collect()
    }
}
