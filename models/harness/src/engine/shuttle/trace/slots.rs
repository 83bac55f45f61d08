//! Slots, which identify threads across executions.

use super::super::kernel::{MAIN, ThreadName};
use super::vector::{CLOCK, SLOTS, Slot};

/// The main thread's slot.
const MAIN_SLOT: Slot = CLOCK + 1;

/// Slots of threads, kept over all executions.
pub(super) struct Slots {
    /// Names in the order of slots, without the clock.
    names: Vec<ThreadName>,
    /// How many names there may be.
    most: usize,
    /// The slot of each thread of this execution.
    of_thread: Vec<Slot>,
    /// The thread in each slot in this execution.
    thread: [usize; SLOTS],
}

impl Slots {
    pub(super) fn new() -> Self {
        let most = SLOTS - usize::from(MAIN_SLOT);
        Self { names: vec![MAIN], most, of_thread: Vec::new(), thread: [usize::MAX; SLOTS] }
    }

    /// Returns the same slots for a part of the search. It gives no others: the search could come to
    /// other threads before, which get them.
    pub(super) fn of_part(&self) -> Self {
        let names = self.names.clone();
        Self { most: names.len(), names, ..Self::new() }
    }

    /// Whether these are the slots of a part.
    pub(super) fn are_of_part(&self) -> bool {
        self.most < SLOTS - usize::from(MAIN_SLOT)
    }

    /// Begins an execution with its main thread.
    pub(super) fn begin(&mut self) {
        self.thread = [usize::MAX; SLOTS];
        self.thread[usize::from(MAIN_SLOT)] = 0;
        self.of_thread.clear();
        self.of_thread.push(MAIN_SLOT);
    }

    /// Gives a thread that was just started its slot; `None` if there are not enough.
    pub(super) fn meet(&mut self, name: ThreadName, thread: usize) -> Option<Slot> {
        debug_assert_eq!(self.of_thread.len(), thread);
        let known = self.names.iter().position(|&known| known == name);
        let place = known.unwrap_or(self.names.len());
        if place >= self.most {
            self.of_thread.push(MAIN_SLOT); // whatever: the execution is given up
            return None;
        }
        if known.is_none() {
            self.names.push(name);
        }
        let slot = place + usize::from(MAIN_SLOT);
        self.thread[slot] = thread;
        self.of_thread.push(slot as Slot);
        Some(slot as Slot)
    }

    /// Returns the slot of a thread.
    pub(super) fn of(&self, thread: usize) -> Slot {
        self.of_thread[thread]
    }

    /// Returns the thread in a slot, `None` if it was not started in this execution.
    pub(super) fn thread(&self, slot: Slot) -> Option<usize> {
        let thread = self.thread[usize::from(slot)];
        (thread != usize::MAX).then_some(thread)
    }
}
