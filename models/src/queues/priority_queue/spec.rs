//! The priority queue as a sequential object: one list, searched from end to end.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use seatrial_core::limited_queue::Outcome;
use seatrial_core::priority_queue::AddOptions;

/// An item that was added.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry<K> {
    /// The item.
    pub key: K,
    /// Larger priorities come first.
    pub priority: i32,
    /// When it becomes ready; `None` if it is ready.
    pub until: Option<Duration>,
    /// Among equal priorities, lower sequences come first.
    pub sequence: u64,
}

/// The items that were added, the items that are handed out, and the failures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec<K: Ord + Clone> {
    /// At most one entry for each item.
    pub entries: Vec<Entry<K>>,
    /// Handed out and not done.
    pub locked: BTreeSet<K>,
    /// Failures since the item was last forgotten.
    pub failures: BTreeMap<K, u32>,
    /// How often an item was given a delay of more than zero.
    pub retries: u64,
    /// Whether the queue is shut down: no item is added or handed out any more.
    pub shut_down: bool,
    now: Duration,
    sequence: u64,
    base: Duration,
    max: Duration,
}

impl<K: Ord + Clone> Spec<K> {
    /// Makes an empty, running queue whose limiter doubles from `base` to `max`.
    pub fn new(base: Duration, max: Duration) -> Self {
        Self {
            entries: Vec::new(),
            locked: BTreeSet::new(),
            failures: BTreeMap::new(),
            retries: 0,
            shut_down: false,
            now: Duration::ZERO,
            sequence: 0,
            base,
            max,
        }
    }

    /// Returns the next sequence.
    pub fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Lets time pass until a moment, if that lies in the future.
    pub fn advance_to(&mut self, moment: Duration) {
        self.advance(moment.saturating_sub(self.now));
    }

    /// Lets time pass. Entries become ready in the order of their times; for equal times, the
    /// higher priority comes first (`workqueue:PQ-18`).
    pub fn advance(&mut self, by: Duration) {
        self.now = self.now.saturating_add(by);
        if self.shut_down {
            return;
        }
        let mut due: Vec<usize> = (0..self.entries.len())
            .filter(|at| self.entries[*at].until.is_some_and(|until| until <= self.now))
            .collect();
        due.sort_by_key(|at| {
            let entry = &self.entries[*at];
            (entry.until, std::cmp::Reverse(entry.priority), entry.sequence)
        });
        for at in due {
            let sequence = self.next_sequence();
            self.entries[at].until = None;
            self.entries[at].sequence = sequence;
        }
    }

    fn failure(&mut self, key: &K) -> Duration {
        let failures = self.failures.entry(key.clone()).or_default();
        let mut delay = self.base;
        for _ in 0..*failures {
            delay = delay.saturating_mul(2).min(self.max);
        }
        *failures += 1;
        delay.min(self.max)
    }

    /// Adds an item (`workqueue:PQ-6` to `PQ-13`).
    pub fn add(&mut self, key: &K, options: AddOptions) {
        self.add_call(key, options, self.now);
    }

    /// As [`add`](Self::add), for a call that was made a little earlier; delays count from then
    /// (`workqueue:PQ-16`).
    pub fn add_call(&mut self, key: &K, options: AddOptions, called: Duration) {
        if self.shut_down {
            return;
        }
        let limited = options.rate_limited.then(|| self.failure(key));
        let delay = options.after.into_iter().chain(limited).min().unwrap_or_default();
        let until = (!delay.is_zero()).then(|| called.saturating_add(delay));
        self.retries += u64::from(until.is_some());
        let sequence = self.next_sequence();
        let Some(entry) = self.entries.iter_mut().find(|entry| entry.key == *key) else {
            let priority = options.priority;
            self.entries.push(Entry { key: key.clone(), priority, until, sequence });
            return;
        };
        entry.until = match (entry.until, until) {
            (Some(old), Some(new)) => Some(old.min(new)),
            _ => None, // ready is earlier than any time
        };
        if options.priority > entry.priority {
            (entry.priority, entry.sequence) = (options.priority, sequence);
        }
    }

    /// Returns the first ready entry that is not locked, if one may be handed out
    /// (`workqueue:PQ-22`).
    pub fn first(&self) -> Option<&Entry<K>> {
        let ready = self
            .entries
            .iter()
            .filter(|entry| entry.until.is_none() && !self.locked.contains(&entry.key));
        let first = ready.min_by_key(|entry| (std::cmp::Reverse(entry.priority), entry.sequence));
        first.filter(|_| !self.shut_down)
    }

    /// Returns the entry of an item.
    pub fn entry(&self, key: &K) -> Option<&Entry<K>> {
        self.entries.iter().find(|entry| entry.key == *key)
    }

    /// Hands out the first ready entry.
    pub fn get(&mut self) -> Option<(K, i32)> {
        let key = self.first()?.key.clone();
        let entry = self.take(&key)?;
        Some((entry.key, entry.priority))
    }

    /// Hands out an item, whether it is its turn or not.
    pub fn take(&mut self, key: &K) -> Option<Entry<K>> {
        self.locked.insert(key.clone());
        let at = self.entries.iter().position(|entry| entry.key == *key)?;
        Some(self.entries.remove(at))
    }

    /// Unlocks an item; tells whether it was locked (`workqueue:PQ-26`).
    pub fn done(&mut self, key: &K) -> bool {
        self.locked.remove(key)
    }

    /// Ends a delivery with an outcome; tells whether there was one.
    pub fn settle(&mut self, key: &K, outcome: Outcome, priority: i32) -> bool {
        if !self.locked.contains(key) {
            return false;
        }
        let options = AddOptions { priority, ..AddOptions::default() };
        match outcome {
            Outcome::Retry => self.add(key, AddOptions { rate_limited: true, ..options }),
            Outcome::RetryAfter(delay) => {
                if !self.shut_down {
                    *self.failures.entry(key.clone()).or_default() += 1; // as `Retry` (PQ-2)
                }
                self.add(key, AddOptions { after: Some(delay), ..options });
            }
            Outcome::Success | Outcome::GiveUp => drop(self.failures.remove(key)),
            Outcome::RequeueAfter(delay) => {
                self.failures.remove(key);
                self.add(key, AddOptions { after: Some(delay), ..options });
            }
        }
        self.done(key)
    }

    /// Returns how many entries are ready (`workqueue:PQ-29`).
    pub fn len(&self) -> usize {
        self.entries.iter().filter(|entry| entry.until.is_none()).count()
    }

    /// Tells whether no entry is ready.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the earliest time at which an entry becomes ready.
    pub fn earliest(&self) -> Option<Duration> {
        self.entries.iter().filter_map(|entry| entry.until).min()
    }
}
