//! The delaying queue as a sequential object: an item is added at the very moment its time comes.

use std::time::Duration;

use crate::queue;

/// A queue, and the items whose time has not come.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spec<K: Ord + Clone> {
    /// The items that were added.
    pub queue: queue::Spec<K>,
    /// Items and their times, in the order in which the times were given.
    pub later: Vec<(K, Duration)>,
    /// The time that has passed.
    pub now: Duration,
    /// How often an item was given a delay.
    pub retries: u64,
}

impl<K: Ord + Clone> Spec<K> {
    /// Makes an empty, running queue.
    pub fn new() -> Self {
        Self { queue: queue::Spec::new(), later: Vec::new(), now: Duration::ZERO, retries: 0 }
    }

    /// Lets time pass until a moment, if that lies in the future.
    pub fn advance_to(&mut self, moment: Duration) {
        self.advance(moment.saturating_sub(self.now));
    }

    /// Lets time pass: the items whose time comes are added in the order of their times
    /// (`workqueue:DQ-10`, `DQ-13`).
    pub fn advance(&mut self, by: Duration) {
        self.now = self.now.saturating_add(by);
        while let Some(first) = self.earliest().filter(|first| *first <= self.now) {
            let at = self.later.iter().position(|(_, time)| *time == first);
            let (key, _) = self.later.remove(at.expect("the earliest is one of them"));
            self.queue.add(&key);
        }
    }

    /// Adds an item later, or now if there is no delay (`workqueue:DQ-3`, `DQ-9`).
    pub fn add_after(&mut self, key: &K, delay: Duration) {
        self.add_after_call(key, self.now, delay);
    }

    /// As [`add_after`](Self::add_after), for a call that was made a little earlier; the delay
    /// counts from then (`workqueue:DQ-5`).
    pub fn add_after_call(&mut self, key: &K, called: Duration, delay: Duration) {
        if self.queue.shutting_down {
            return;
        }
        self.retries += 1;
        if delay.is_zero() {
            self.queue.add(key);
        } else {
            self.wait_until(key, called.saturating_add(delay));
        }
    }

    /// Gives an item a time; an item with an earlier time keeps it (`workqueue:DQ-9`).
    fn wait_until(&mut self, key: &K, time: Duration) {
        match self.later.iter().position(|(waiting, _)| waiting == key) {
            Some(at) if self.later[at].1 <= time => return,
            Some(at) => drop(self.later.remove(at)),
            None => {}
        }
        self.later.push((key.clone(), time));
    }

    /// Ends all waiting and refuses new items (`workqueue:DQ-19`).
    pub fn shut_down(&mut self) {
        self.later.clear();
        self.queue.shutting_down = true;
    }

    /// Returns the earliest time at which an item is added.
    pub fn earliest(&self) -> Option<Duration> {
        self.later.iter().map(|(_, time)| *time).min()
    }
}
