//! Slots, which identify threads across executions.

use std::sync::{Arc, Mutex, PoisonError};

use super::super::kernel::{MAIN, ThreadName};
use super::vector::{CLOCK, SLOTS, Slot};

/// The main thread's slot.
const MAIN_SLOT: Slot = CLOCK + 1;

/// Slots of threads, kept over all executions.
pub(super) struct Slots {
    /// Names in the order of slots, without the clock.
    names: Vec<ThreadName>,
    /// The same of all who share the search.
    all: Arc<Mutex<Vec<ThreadName>>>,
    /// The slot of each thread of this execution.
    of_thread: Vec<Slot>,
    /// The thread in each slot in this execution.
    thread: [usize; SLOTS],
}

impl Slots {
    pub(super) fn new() -> Self {
        let all = Arc::new(Mutex::new(vec![MAIN]));
        Self { names: vec![MAIN], all, of_thread: Vec::new(), thread: [usize::MAX; SLOTS] }
    }

    /// Returns the same slots for another thread of the operating system.
    pub(super) fn shared(&self) -> Self {
        Self { all: Arc::clone(&self.all), ..Self::new() }
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
        let place_in = |names: &[ThreadName]| names.iter().position(|&known| known == name);
        let place = place_in(&self.names).unwrap_or_else(|| {
            let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
            if place_in(&all).is_none() {
                all.push(name);
            }
            self.names.clone_from(&all);
            place_in(&all).expect("it is there now")
        });
        let slot = place + usize::from(MAIN_SLOT);
        if slot >= SLOTS {
            self.of_thread.push(MAIN_SLOT); // whatever: the execution is given up
            return None;
        }
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
