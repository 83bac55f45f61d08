//! The rules of the reference over one plain list, with the mistakes that a programmer may make in
//! them.
//!
//! The list is searched from end to end, instead of our heaps, so that a mistake is one changed
//! line. Without a mistake it behaves like the machine that ships.

mod machine;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use seatrial_core::machine::Cx;
use seatrial_core::priority_queue::{AddOptions, GETTERS};
use seatrial_core::queue::Token;
use seatrial_core::runtime::Instant;

use super::op::{BASE, MAX};
use crate::queues::queue::AT_ONCE;

/// One changed line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mistake {
    /// The lowest priority comes first.
    LowestFirst,
    /// A caller that wants several items gets the lowest of them first.
    BatchLowestFirst,
    /// Priorities are ignored.
    FirstInFirstOut,
    /// An item takes the priority of its last add.
    LastPriorityCounts,
    /// An item keeps the priority of its first add.
    FirstPriorityCounts,
    /// Every item is handed out with priority 0.
    PriorityIsNotTold,
    /// An item whose priority rises keeps its place.
    RaiseKeepsPlace,
    /// An item that is added again moves behind the items of its priority.
    AddMovesBack,
    /// An item whose time comes keeps the place of its add.
    DueKeepsPlace,
    /// Items whose times have come become ready in the order of their adds.
    OrderOfAdds,
    /// Of very many due items one step makes a part ready, and hands out the best of these.
    HandsOutOfAPart,
    /// A waiting item that is added at once moves behind the items of its priority.
    ReadyMovesBack,
    /// A delay makes a ready item wait.
    ReadyWaitsAgain,
    /// An item keeps its first time.
    FirstDelayCounts,
    /// An item takes its last time.
    LastDelayCounts,
    /// The limiter's delay for one item of a batch also applies to the next.
    DelayLeaks,
    /// Times are compared in ticks of ten milliseconds.
    TicksOfTen,
    /// A consumer sleeps without a deadline.
    SleepWithoutTime,
    /// A held item is handed out like any other.
    HeldIsHandedOut,
    /// A held item at the head blocks the items behind it.
    HeldBlocks,
    /// Adding a held item does nothing.
    HeldIsNotAdded,
    /// Items become ready only while they are not held.
    HeldDoesNotRipen,
    /// Every add makes an entry of its own.
    OneEntryPerAdd,
    /// Done ends any delivery of the item that is under way.
    DoneByValue,
    /// Done by the item's value always says that it ended a delivery.
    DoneKeySaysEnded,
    /// Done by the item's value always says that there was no delivery.
    DoneKeySaysNothing,
    /// A consumer that finds no item is told that the queue is shut down.
    EmptyIsShutDown,
    /// Len counts the items that wait for a time.
    LenCountsWaiting,
    /// Len does not count entries of held items.
    LenSkipsHeld,
    /// The limiter is not asked for an item that is queued.
    QueuedDoesNotFail,
    /// The limiter is asked after shutdown.
    FailsAfterShutdown,
    /// A failure that names the time of the next try counts even after shutdown.
    SettledAfterShutdownFails,
    /// An item that is tried again is forgotten.
    RetryForgets,
    /// An item that is tried again comes back with priority 0.
    RetryLosesPriority,
    /// An item that is tried again and is given another priority comes back at once.
    GivenPriorityHurries,
    /// An item that succeeded and comes back has priority 0.
    RequeueLosesPriority,
    /// The failures of an item that comes back at once are not forgotten.
    RequeueAtOnceRemembers,
    /// A second shutdown panics.
    SecondShutdownPanics,
    /// Forgetting an item takes it out of the queue.
    ForgetRemoves,
    /// Delays of zero are counted.
    ZeroDelayIsCounted,
    /// Ready items are handed out after shutdown.
    ShutdownDrains,
}

use Mistake::*;

struct Entry {
    key: u8,
    priority: i32,
    sequence: u64,
    /// When it becomes ready; `None` if it is ready.
    until: Option<Instant>,
}

/// A list of entries, and the deliveries that have not ended.
pub(super) struct OneList {
    mistakes: &'static [Mistake],
    entries: Vec<Entry>,
    held: Vec<(Token, u8)>,
    /// The priority of each item when it was last handed out.
    had: BTreeMap<u8, i32>,
    failures: BTreeMap<u8, u32>,
    sequence: u64,
    deliveries: u32,
    retries: u64,
    shut_down: bool,
}

impl OneList {
    pub(super) fn with(mistakes: &'static [Mistake]) -> Self {
        Self {
            mistakes,
            entries: Vec::new(),
            held: Vec::new(),
            had: BTreeMap::new(),
            failures: BTreeMap::new(),
            sequence: 0,
            deliveries: 0,
            retries: 0,
            shut_down: false,
        }
    }

    fn makes(&self, mistake: Mistake) -> bool {
        self.mistakes.contains(&mistake)
    }

    fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    fn is_held(&self, key: u8) -> bool {
        self.held.iter().any(|(_, held)| *held == key)
    }

    fn is_due(&self, entry: &Entry, now: Instant) -> bool {
        let slack = if self.makes(TicksOfTen) { Duration::from_millis(10) } else { Duration::ZERO };
        let held_back = self.makes(HeldDoesNotRipen) && self.is_held(entry.key);
        !held_back
            && entry.until.is_some_and(|until| until != Instant::NEVER && until <= now + slack)
    }

    /// Makes all due items ready.
    fn move_due(&mut self, now: Instant, cx: &mut Cx<'_>) {
        if self.shut_down {
            return;
        }
        let all = 0..self.entries.len();
        let mut due: Vec<_> = all.filter(|at| self.is_due(&self.entries[*at], now)).collect();
        if !self.makes(OrderOfAdds) {
            due.sort_by_key(|at| {
                let entry = &self.entries[*at];
                (entry.until, Reverse(entry.priority), entry.sequence)
            });
        }
        if self.makes(HandsOutOfAPart) {
            due.truncate(AT_ONCE);
        }
        for at in due {
            let sequence = self.next_sequence();
            self.entries[at].until = None;
            if !self.makes(DueKeepsPlace) {
                self.entries[at].sequence = sequence;
            }
            cx.wakes.one(GETTERS);
        }
    }

    fn failure(&mut self, key: u8) -> Duration {
        let failures = self.failures.entry(key).or_default();
        let delay = BASE.saturating_mul(1 << (*failures).min(8)).min(MAX);
        *failures += 1;
        delay
    }

    /// Adds items; the delay of each is computed separately.
    fn add(&mut self, keys: &[u8], options: AddOptions, called: Instant, cx: &mut Cx<'_>) {
        if self.shut_down {
            if options.rate_limited && self.makes(FailsAfterShutdown) {
                for key in keys {
                    let _delay = self.failure(*key);
                }
            }
            return;
        }
        self.move_due(called, cx);
        let mut after = options.after;
        for key in keys {
            let queued = self.entries.iter().any(|entry| entry.key == *key);
            let asked = options.rate_limited && !(queued && self.makes(QueuedDoesNotFail));
            let limited = asked.then(|| self.failure(*key));
            let delay = after.into_iter().chain(limited).min();
            if self.makes(DelayLeaks) {
                after = delay;
            }
            let until = delay.filter(|delay| !delay.is_zero()).map(|delay| called + delay);
            let counts = until.is_some() || (delay.is_some() && self.makes(ZeroDelayIsCounted));
            self.retries += u64::from(counts);
            if !self.makes(HeldIsNotAdded) || !self.is_held(*key) {
                self.add_one(*key, options.priority, until);
            }
        }
        cx.wakes.all(GETTERS);
    }

    fn add_one(&mut self, key: u8, priority: i32, until: Option<Instant>) {
        let sequence = self.next_sequence();
        let new = Entry { key, priority, sequence, until };
        let found = self.entries.iter().position(|entry| entry.key == key);
        let Some(at) = found.filter(|_| !self.makes(OneEntryPerAdd)) else {
            return self.entries.push(new);
        };
        let becomes_ready = self.entries[at].until.is_some() && until.is_none();
        let until = self.merged(self.entries[at].until, until);
        let raised = priority > self.entries[at].priority;
        let moves = raised && !self.makes(RaiseKeepsPlace)
            || self.makes(AddMovesBack)
            || becomes_ready && self.makes(ReadyMovesBack);
        let takes = raised && !self.makes(FirstPriorityCounts) || self.makes(LastPriorityCounts);
        let entry = &mut self.entries[at];
        entry.until = until;
        if takes {
            entry.priority = priority;
        }
        if moves {
            entry.sequence = sequence;
        }
    }

    /// Merges two times; `None` is the earliest.
    fn merged(&self, old: Option<Instant>, new: Option<Instant>) -> Option<Instant> {
        match (old, new) {
            (None, Some(new)) if self.makes(ReadyWaitsAgain) => Some(new),
            (Some(old), Some(_)) if self.makes(FirstDelayCounts) => Some(old),
            (Some(_), Some(new)) if self.makes(LastDelayCounts) => Some(new),
            (Some(old), Some(new)) => Some(old.min(new)),
            _ => None,
        }
    }

    fn hand_out(&mut self) -> Option<(Token, u8, i32)> {
        let ready = (0..self.entries.len()).filter(|at| self.entries[*at].until.is_none());
        let free = ready.filter(|at| {
            let passes = self.makes(HeldIsHandedOut) || self.makes(HeldBlocks);
            passes || !self.is_held(self.entries[*at].key)
        });
        let at = free.min_by_key(|at| {
            let entry = &self.entries[*at];
            let rank = match () {
                () if self.makes(FirstInFirstOut) => 0,
                () if self.makes(LowestFirst) => i64::from(entry.priority),
                () => -i64::from(entry.priority),
            };
            (rank, entry.sequence)
        })?;
        if self.makes(HeldBlocks) && self.is_held(self.entries[at].key) {
            return None;
        }
        let entry = self.entries.remove(at);
        self.deliveries += 1;
        let token = Token::new(entry.key.into(), self.deliveries);
        self.held.push((token, entry.key));
        self.had.insert(entry.key, entry.priority);
        let told = if self.makes(PriorityIsNotTold) { 0 } else { entry.priority };
        Some((token, entry.key, told))
    }

    fn earliest(&self) -> Option<Instant> {
        let held_back = |key| self.makes(HeldDoesNotRipen) && self.is_held(key);
        let entries = self.entries.iter().filter(|entry| !held_back(entry.key));
        let times = entries.filter_map(|entry| entry.until);
        times.min().filter(|_| !self.makes(SleepWithoutTime))
    }

    /// Returns the index of a delivery among those that have not ended.
    fn held_at(&self, token: Token) -> Option<usize> {
        let by_value = self.makes(DoneByValue);
        self.held.iter().position(|(held, _)| {
            if by_value { held.slot() == token.slot() } else { *held == token }
        })
    }

    fn len(&self) -> usize {
        let counted = self.entries.iter().filter(|entry| {
            (entry.until.is_none() || self.makes(LenCountsWaiting))
                && !(self.makes(LenSkipsHeld) && self.is_held(entry.key))
        });
        counted.count()
    }
}
