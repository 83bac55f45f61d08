//! Taking events, and the end of their processing.

use seatrial_core::machine::{Step, Wakes};
use seatrial_core::ordered_fifo::{Batch, Event, POPPERS, Ret, SYNC};

use super::{EventList, Happened, key_of_change};
use crate::events::fixtures::Object;

impl EventList {
    /// Takes events; `None` if the call has to wait.
    pub(super) fn take(&mut self, batched: bool) -> Option<(Vec<Happened>, bool)> {
        let busy = self.in_process.is_some() && !self.makes("second_consumer_is_let_in");
        if busy || self.events.is_empty() || (self.closed && self.makes("close_discards")) {
            return None;
        }
        let left = self.initial_left;
        let (events, initial) = self.batch(batched);
        let unlocks = (self.unlock && self.known.is_none() && !self.makes("never_unlocked"))
            || self.makes("plain_mode_is_unlocked")
            || self.makes("whole_lists_are_unlocked")
                && events.iter().any(|event| event.delta().is_none());
        let short = self.events.len() < 2 * self.batch_size;
        let unlocked = unlocks && (short || self.makes("long_queue_is_unlocked"));
        self.in_process = Some((events.len(), events.len().min(left), unlocked));
        if self.makes("counted_when_taken") {
            self.count(events.len());
        }
        Some((events, initial))
    }

    /// Takes the first event, or the next batch, with the flag for its processing.
    fn batch(&mut self, batched: bool) -> (Vec<Happened>, bool) {
        let mut initial = !self.has_synced();
        let reverses = self.makes("last_in_first_out");
        if reverses {
            self.events.make_contiguous().reverse();
        }
        let length = if batched { self.batch_length() } else { 1 };
        let queued = self.makes("taken_stays").then(|| self.events.clone());
        let mut events: Vec<_> = self.events.drain(..length).collect();
        if reverses {
            self.events.make_contiguous().reverse();
        }
        let more = match self.events.front().map(Event::delta) {
            Some(Some(_)) => self.makes("batch_repeats_objects"),
            Some(None) => self.makes("list_in_a_batch"),
            None => false,
        };
        if batched && more && events.len() < self.batch_size {
            events.extend(self.events.pop_front());
        }
        if let Some(queued) = queued {
            self.events = queued;
        }
        if self.makes("flag_after_count") {
            initial = !self.populated || self.initial_left > events.len();
        }
        (events, initial)
    }

    fn batch_length(&self) -> usize {
        let size = match () {
            () if self.makes("batch_without_limit") => usize::MAX,
            () if self.makes("batch_of_one") => 1,
            () => self.batch_size,
        };
        let ends = self.initial_left > 0 && !self.makes("batch_crosses_the_first_list");
        let mut keys = vec![];
        for (length, event) in self.events.iter().enumerate() {
            let Some(change) = event.delta() else { return length.max(1) };
            let key = key_of_change(change);
            let is_end = length == size || ends && length == self.initial_left;
            if is_end || keys.contains(&key) {
                return length;
            }
            if key.is_none() {
                return length + 1;
            }
            keys.push(key);
        }
        self.events.len()
    }

    pub(super) fn after<T>(&self, taken: Option<T>) -> Step<Option<T>> {
        match taken {
            Some(_) if self.in_process.is_some_and(|(_, _, unlocked)| unlocked) => {
                Step::Done(taken)
            }
            Some(_) => Step::Held(taken),
            None if self.makes("empty_is_closed") && self.in_process.is_none() => Step::Done(None),
            None if self.closed && (self.events.is_empty() || self.makes("close_discards")) => {
                Step::Done(None)
            }
            None => Step::Wait { on: POPPERS, until: None },
        }
    }

    /// Notes that this many events of the first list are processed.
    fn count(&mut self, events: usize) {
        self.initial_left = self.initial_left.saturating_sub(events);
    }

    pub(super) fn processed(&mut self, wakes: &mut Wakes) {
        let Some((all, initial, unlocked)) = self.in_process.take() else { return };
        let synced = self.has_synced();
        if self.makes("charged_when_processed") {
            self.count(all);
        } else if !self.makes("counted_when_taken") && !self.makes("processed_is_not_counted") {
            self.count(initial);
        }
        self.wake_waiters(synced && !self.makes("counted_when_taken"), wakes);
        let wakes_next = unlocked || !self.makes("locked_wakes_nobody");
        if wakes_next && !self.events.is_empty() {
            wakes.one(POPPERS);
        }
        if self.is_drained() {
            wakes.all(POPPERS);
            wakes.all(SYNC);
        }
    }

    pub(super) fn pop_batch(&mut self) -> Step<Ret<u8, Object>> {
        let taken = self.take(true);
        let left = self.left();
        let batch = taken.map(|(events, initial)| Batch { events, initial, left });
        if batch.is_none() && self.in_process.is_none() && self.makes("empty_batch_is_closed") {
            return Step::Done(Ret::PopBatch(None));
        }
        self.after(batch).map(Ret::PopBatch)
    }

    /// The number of remaining events that a call is told.
    pub(super) fn left(&self) -> usize {
        let taken = self.in_process.map_or(0, |(taken, ..)| taken);
        self.events.len() + if self.makes("what_is_left_counts_the_taken") { taken } else { 0 }
    }

    pub(super) fn counted_twice(&self) -> usize {
        let counts = self.makes("len_counts_what_is_in_process");
        self.in_process.filter(|_| counts).map_or(0, |(taken, ..)| taken)
    }
}
