//! Taking events, and the end of their processing.

use seatrial_core::machine::{Step, Wakes};
use seatrial_core::ordered_fifo::{Batch, Event, POPPERS, Ret, SYNC};

use super::{EventList, Happened};
use crate::events::fixtures::Object;

impl EventList {
    /// Takes events; `None` if the call has to wait.
    pub(super) fn take(&mut self, batched: bool) -> Option<(Vec<Happened>, bool)> {
        let busy = self.in_process.is_some() && !self.makes("second_consumer_is_let_in");
        if busy || self.spec.events.is_empty() || (self.closed && self.makes("close_discards")) {
            return None;
        }
        let left = self.spec.initial_left;
        let queued = self.makes("taken_stays").then(|| self.spec.events.clone());
        let (events, mut initial) = self.mistaken_batch(batched);
        if let Some(queued) = queued {
            self.spec.events = queued;
        }
        if self.makes("flag_after_count") {
            initial = !self.spec.populated || left > events.len();
        }
        let unlocks = (self.unlock && self.known.is_none() && !self.makes("never_unlocked"))
            || self.makes("plain_mode_is_unlocked")
            || self.makes("whole_lists_are_unlocked")
                && events.iter().any(|event| event.delta().is_none());
        let short = self.spec.events.len() < 2 * self.spec.batch_size;
        let unlocked = unlocks && (short || self.makes("long_queue_is_unlocked"));
        self.in_process = Some((events.len(), events.len().min(left), unlocked));
        if self.makes("counted_when_taken") {
            self.spec.processed(events.len());
        }
        Some((events, initial))
    }

    fn mistaken_batch(&mut self, batched: bool) -> (Vec<Happened>, bool) {
        let (size, left) = (self.spec.batch_size, self.spec.initial_left);
        if self.makes("batch_without_limit") {
            self.spec.batch_size = usize::MAX;
        }
        if self.makes("batch_of_one") {
            self.spec.batch_size = 1;
        }
        if self.makes("last_in_first_out") {
            self.spec.events.make_contiguous().reverse();
        }
        if self.makes("batch_crosses_the_first_list") {
            self.spec.initial_left = if left > 0 { usize::MAX } else { 0 };
        }
        let (mut events, initial) = self.spec.pop(batched);
        (self.spec.batch_size, self.spec.initial_left) = (size, left);
        if self.makes("last_in_first_out") {
            self.spec.events.make_contiguous().reverse();
        }
        let more = |list: &Self| match list.spec.events.front().map(Event::delta) {
            Some(Some(_)) => list.makes("batch_repeats_objects"),
            Some(None) => list.makes("list_in_a_batch"),
            None => false,
        };
        if batched && events.len() < size && more(self) {
            events.extend(self.spec.events.pop_front());
        }
        (events, initial)
    }

    pub(super) fn after<T>(&self, taken: Option<T>) -> Step<Option<T>> {
        match taken {
            Some(_) if self.in_process.is_some_and(|(_, _, unlocked)| unlocked) => {
                Step::Done(taken)
            }
            Some(_) => Step::Held(taken),
            None if self.makes("empty_is_closed") && self.in_process.is_none() => Step::Done(None),
            None if self.closed
                && (self.spec.events.is_empty() || self.makes("close_discards")) =>
            {
                Step::Done(None)
            }
            None => Step::Wait { on: POPPERS, until: None },
        }
    }

    pub(super) fn processed(&mut self, wakes: &mut Wakes) {
        let Some((all, initial, unlocked)) = self.in_process.take() else { return };
        let synced = self.spec.has_synced();
        if self.makes("charged_when_processed") {
            self.spec.processed(all);
        } else if !self.makes("counted_when_taken") && !self.makes("processed_is_not_counted") {
            self.spec.processed(initial);
        }
        self.wake_waiters(synced && !self.makes("counted_when_taken"), wakes);
        let wakes_next = unlocked || !self.makes("locked_wakes_nobody");
        if wakes_next && !self.spec.events.is_empty() {
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
        self.spec.events.len() + if self.makes("what_is_left_counts_the_taken") { taken } else { 0 }
    }

    pub(super) fn counted_twice(&self) -> usize {
        let counts = self.makes("len_counts_what_is_in_process");
        self.in_process.filter(|_| counts).map_or(0, |(taken, ..)| taken)
    }
}
