//! The keyed back-off as a sequential object, in whole numbers of any size.

use std::collections::BTreeMap;

/// A delay for each key, and when it was updated. Times are in nanoseconds and may be negative.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    initial: i128,
    max: i128,
    entries: BTreeMap<u8, (i128, i128)>,
}

/// The longest delay.
const FOREVER: i128 = i64::MAX as i128;

impl Spec {
    /// Makes an empty table.
    pub fn new(initial: i128, max: i128) -> Self {
        Self { initial: initial.min(FOREVER), max: max.min(FOREVER), entries: BTreeMap::new() }
    }

    fn expired(&self, event: i128, updated: i128) -> bool {
        (event - updated).min(FOREVER) > (2 * self.max).min(FOREVER)
    }

    /// Returns the delay of a key (`workqueue:BO-1`).
    pub fn get(&self, key: u8) -> i128 {
        self.entries.get(&key).map_or(0, |(delay, _)| *delay)
    }

    /// Takes note of an event (`workqueue:BO-2`).
    pub fn next(&mut self, key: u8, event: i128, now: i128) {
        let delay = match self.entries.get(&key) {
            Some(&(delay, updated)) if !self.expired(event, updated) => (2 * delay).min(self.max),
            _ => self.initial,
        };
        self.entries.insert(key, (delay, now));
    }

    /// Tells whether a key backs off, counted from an event until now (`workqueue:BO-6`).
    pub fn since(&self, key: u8, event: i128, now: i128) -> bool {
        self.backs_off(key, event, |_| now - event)
    }

    /// Tells whether a key backs off, counted from its update until an event (`workqueue:BO-7`).
    pub fn since_update(&self, key: u8, event: i128) -> bool {
        self.backs_off(key, event, |updated| event - updated)
    }

    fn backs_off(&self, key: u8, event: i128, passed: impl FnOnce(i128) -> i128) -> bool {
        self.entries.get(&key).is_some_and(|&(delay, updated)| {
            !self.expired(event, updated) && passed(updated).min(FOREVER) < delay
        })
    }

    /// Forgets the keys that have expired; returns their number (`workqueue:BO-8`).
    pub fn collect_garbage(&mut self, now: i128) -> usize {
        let before = self.entries.len();
        let entries = std::mem::take(&mut self.entries);
        let kept = entries.into_iter().filter(|(_, (_, updated))| !self.expired(now, *updated));
        let kept: BTreeMap<_, _> = kept.collect();
        self.entries = kept;
        before - self.entries.len()
    }

    /// Forgets a key; tells whether it was known.
    pub fn reset(&mut self, key: u8) -> bool {
        self.entries.remove(&key).is_some()
    }
}
