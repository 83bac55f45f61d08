//! The priority queue as a sequential object: one list, searched from end to end instead of our heaps.
//!
//! Without a mistake it is what the machine that ships must agree with. With one it is the machine of a
//! mutant (`machine.rs`): a mistake is one changed line.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use seatrial_core::limited_queue::Outcome;
use seatrial_core::priority_queue::AddOptions;

use crate::queues::queue::AT_ONCE;
use crate::shared::Mistakes;

/// The delay after the first failure, which doubles with each.
pub(super) const BASE: Duration = Duration::from_millis(3);
/// The longest.
pub(super) const MAX: Duration = Duration::from_millis(40);

/// An item that was added.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: u8,
    /// Larger priorities come first.
    pub(super) priority: i32,
    /// When it becomes ready; `None` if it is ready.
    pub(super) until: Option<Duration>,
    /// Among equal priorities, lower sequences come first.
    sequence: u64,
}

/// The items that were added, the items that are handed out, and the failures.
#[derive(Clone, Debug, Default)]
pub(super) struct Spec {
    mistakes: Mistakes,
    /// At most one entry for each item.
    pub(super) entries: Vec<Entry>,
    /// Handed out and not done.
    pub(super) locked: Vec<u8>,
    /// Failures since the item was last forgotten.
    pub(super) failures: BTreeMap<u8, u32>,
    /// How often an item was given a delay of more than zero.
    pub(super) retries: u64,
    /// Whether the queue is shut down: no item is added or handed out any more.
    pub(super) shut_down: bool,
    /// The priority of each item when it was last handed out.
    had: BTreeMap<u8, i32>,
    /// The time that has passed.
    pub(super) now: Duration,
    sequence: u64,
}

impl Spec {
    pub(super) fn with(mistakes: Mistakes) -> Self {
        Self { mistakes, ..Self::default() }
    }

    pub(super) fn makes(&self, mistake: &str) -> bool {
        self.mistakes.contains(&mistake)
    }

    fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Lets time pass until a moment, if that lies in the future.
    pub(super) fn advance_to(&mut self, moment: Duration) {
        self.now = self.now.max(moment);
        self.move_due(self.now);
    }

    /// Makes the entries ready whose times have come, in the order of their times; for equal times, the
    /// higher priority comes first (`workqueue:PQ-18`). Returns their number.
    pub(super) fn move_due(&mut self, now: Duration) -> usize {
        if self.shut_down {
            return 0;
        }
        let slack =
            if self.makes("ticks_of_ten") { Duration::from_millis(10) } else { Duration::ZERO };
        let is_due = |entry: &Entry| {
            let ripens = !self.makes("held_does_not_ripen") || !self.locked.contains(&entry.key);
            ripens && entry.until.is_some_and(|until| until <= now + slack)
        };
        let all = 0..self.entries.len();
        let mut due: Vec<usize> = all.filter(|at| is_due(&self.entries[*at])).collect();
        if !self.makes("order_of_adds") {
            due.sort_by_key(|at| {
                let entry = &self.entries[*at];
                (entry.until, Reverse(entry.priority), entry.sequence)
            });
        }
        if self.makes("hands_out_of_a_part") {
            due.truncate(AT_ONCE);
        }
        for at in &due {
            let sequence = self.next_sequence();
            self.entries[*at].until = None;
            if !self.makes("due_keeps_place") {
                self.entries[*at].sequence = sequence;
            }
        }
        due.len()
    }

    fn failure(&mut self, key: u8) -> Duration {
        let failures = self.failures.entry(key).or_default();
        let delay = BASE.saturating_mul(1 << (*failures).min(8)).min(MAX);
        *failures += 1;
        delay
    }

    /// Adds items (`workqueue:PQ-6` to `PQ-13`). Their delays count from the call, which may have been
    /// made a little earlier (`workqueue:PQ-16`).
    pub(super) fn add(&mut self, keys: &[u8], options: AddOptions, called: Duration) {
        if self.shut_down {
            if options.rate_limited && self.makes("fails_after_shutdown") {
                keys.iter().for_each(|key| _ = self.failure(*key));
            }
            return;
        }
        self.move_due(called);
        let mut after = options.after;
        for key in keys {
            let asked = options.rate_limited
                && !(self.makes("queued_does_not_fail") && self.entry(key).is_some());
            let limited = asked.then(|| self.failure(*key));
            let delay = after.into_iter().chain(limited).min();
            if self.makes("delay_leaks") {
                after = delay;
            }
            let until = delay.filter(|delay| !delay.is_zero());
            let until = until.map(|delay| called.saturating_add(delay));
            let counts = until.is_some() || delay.is_some() && self.makes("zero_delay_is_counted");
            self.retries += u64::from(counts);
            if !self.makes("held_is_not_added") || !self.locked.contains(key) {
                self.add_one(*key, options.priority, until);
            }
        }
    }

    fn add_one(&mut self, key: u8, priority: i32, until: Option<Duration>) {
        let sequence = self.next_sequence();
        let found = self.entries.iter().position(|entry| entry.key == key);
        let Some(at) = found.filter(|_| !self.makes("one_entry_per_add")) else {
            return self.entries.push(Entry { key, priority, until, sequence });
        };
        let entry = &self.entries[at];
        let becomes_ready = entry.until.is_some() && until.is_none();
        let until = match (entry.until, until) {
            (None, Some(new)) if self.makes("ready_waits_again") => Some(new),
            (Some(old), Some(_)) if self.makes("first_delay_counts") => Some(old),
            (Some(_), Some(new)) if self.makes("last_delay_counts") => Some(new),
            (Some(old), Some(new)) => Some(old.min(new)),
            _ => None, // ready is earlier than any time
        };
        let raised = priority > entry.priority;
        let moves = raised && !self.makes("raise_keeps_place")
            || self.makes("add_moves_back")
            || becomes_ready && self.makes("ready_moves_back");
        let takes =
            raised && !self.makes("first_priority_counts") || self.makes("last_priority_counts");
        let entry = &mut self.entries[at];
        entry.until = until;
        if takes {
            entry.priority = priority;
        }
        if moves {
            entry.sequence = sequence;
        }
    }

    /// Finds the first ready entry that is not locked, if one may be handed out (`workqueue:PQ-22`).
    fn first_at(&self) -> Option<usize> {
        let passes = self.makes("held_is_handed_out") || self.makes("held_blocks");
        let all = self.entries.iter().enumerate().filter(|(_, entry)| {
            entry.until.is_none() && (passes || !self.locked.contains(&entry.key))
        });
        let rank = |priority| match () {
            () if self.makes("first_in_first_out") => 0,
            () if self.makes("lowest_first") => i64::from(priority),
            () => -i64::from(priority),
        };
        let (at, entry) = all.min_by_key(|(_, entry)| (rank(entry.priority), entry.sequence))?;
        let blocks = self.makes("held_blocks") && self.locked.contains(&entry.key);
        let ends = self.shut_down && !self.makes("shutdown_drains");
        (!blocks && !ends).then_some(at)
    }

    /// Returns that entry.
    pub(super) fn first(&self) -> Option<&Entry> {
        Some(&self.entries[self.first_at()?])
    }

    /// Returns the entry of an item.
    pub(super) fn entry(&self, key: &u8) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == *key)
    }

    /// Hands out the first ready entry.
    pub(super) fn get(&mut self) -> Option<(u8, i32)> {
        let entry = self.entries.remove(self.first_at()?);
        self.locked.push(entry.key);
        self.had.insert(entry.key, entry.priority);
        Some((entry.key, if self.makes("priority_is_not_told") { 0 } else { entry.priority }))
    }

    /// Hands out an item, whether it is its turn or not.
    pub(super) fn take(&mut self, key: &u8) {
        self.locked.push(*key);
        if let Some(at) = self.entries.iter().position(|entry| entry.key == *key) {
            self.entries.remove(at);
        }
    }

    /// Unlocks an item; tells whether it was locked (`workqueue:PQ-26`).
    pub(super) fn done(&mut self, key: &u8) -> bool {
        let at = self.locked.iter().position(|locked| locked == key);
        at.map(|at| self.locked.remove(at)).is_some()
    }

    /// Ends a delivery with an outcome; tells whether there was one.
    pub(super) fn settle(&mut self, key: &u8, outcome: Outcome, priority: i32) -> bool {
        if !self.locked.contains(key) {
            return false;
        }
        let is_retry = matches!(outcome, Outcome::Retry | Outcome::RetryAfter(_));
        let at_once = outcome == Outcome::RequeueAfter(Duration::ZERO);
        let forgets = match is_retry {
            true => self.makes("retry_forgets"),
            false => !(at_once && self.makes("requeue_at_once_remembers")),
        };
        if forgets {
            self.failures.remove(key);
        }
        let loses = if is_retry { "retry_loses_priority" } else { "requeue_loses_priority" };
        let priority = if self.makes(loses) { 0 } else { priority };
        let hurries = self.makes("given_priority_hurries") && self.had.get(key) != Some(&priority);
        let (after, rate_limited) = match outcome {
            Outcome::Success | Outcome::GiveUp => return self.done(key),
            Outcome::Retry => (hurries.then_some(Duration::ZERO), true),
            Outcome::RetryAfter(delay) => {
                if !self.shut_down || self.makes("settled_after_shutdown_fails") {
                    *self.failures.entry(*key).or_default() += 1; // as `Retry` (PQ-2)
                }
                (Some(delay), false)
            }
            Outcome::RequeueAfter(delay) => (Some(delay), false),
        };
        self.add(&[*key], AddOptions { after, rate_limited, priority }, self.now);
        self.done(key)
    }

    /// Returns how many entries are ready (`workqueue:PQ-29`).
    pub(super) fn len(&self) -> usize {
        let counted = self.entries.iter().filter(|entry| {
            (entry.until.is_none() || self.makes("len_counts_waiting"))
                && !(self.makes("len_skips_held") && self.locked.contains(&entry.key))
        });
        counted.count()
    }

    /// Returns the earliest time at which an entry becomes ready.
    pub(super) fn earliest(&self) -> Option<Duration> {
        let ripens = |key| !self.makes("held_does_not_ripen") || !self.locked.contains(key);
        let entries = self.entries.iter().filter(|entry| ripens(&entry.key));
        let times = entries.filter_map(|entry| entry.until);
        times.min().filter(|_| !self.makes("sleep_without_time"))
    }
}
