//! Locks, condition variables, published values and atomic numbers.

use super::condvar::Condvar;
use super::hash::Chain;
use super::{Kernel, ObjectName, Operation, SERVICE, ThreadSet};

/// An object as its handle knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ObjectId {
    index: u32,
    execution: u32,
}

#[derive(Debug)]
pub(super) struct Lock {
    pub(super) name: ObjectName,
    pub(super) holder: Option<usize>,
    /// The threads that share it.
    pub(super) readers: ThreadSet,
    pub(super) chain: Chain,
}

impl Lock {
    /// Tells whether no thread has the lock or a share of it.
    pub(super) fn is_free(&self) -> bool {
        self.holder.is_none() && self.readers.is_empty()
    }
}

#[derive(Debug)]
pub(super) struct Cell {
    pub(super) name: ObjectName,
    pub(super) chain: Chain,
}

impl Kernel {
    fn id(&self, index: usize) -> ObjectId {
        ObjectId { index: index as u32, execution: self.execution }
    }

    /// Returns the place of an object among those of its kind.
    ///
    /// # Panics
    /// If the object was made by another execution: it would carry what happened there into this
    /// one, so that no schedule could be replayed.
    pub(crate) fn index(&self, id: ObjectId) -> usize {
        assert!(
            id.execution == self.execution,
            "a lock, condition variable, published value or number of another execution is used"
        );
        id.index as usize
    }

    pub(crate) fn new_lock(&mut self) -> ObjectId {
        let name = self.next_object();
        self.add_lock(name)
    }

    /// Makes the lock of the alarms. The schedule decides which thread needs it first.
    pub(crate) fn new_service_lock(&mut self) -> ObjectId {
        let name = self.names.object(SERVICE, 0);
        self.add_lock(name)
    }

    fn add_lock(&mut self, name: ObjectName) -> ObjectId {
        let readers = ThreadSet::EMPTY;
        self.locks.push(Lock { name, holder: None, readers, chain: Chain::default() });
        self.id(self.locks.len() - 1)
    }

    pub(crate) fn new_condvar(&mut self) -> ObjectId {
        self.condvars.push(Condvar::default());
        self.id(self.condvars.len() - 1)
    }

    pub(crate) fn new_cell(&mut self) -> ObjectId {
        let name = self.next_object();
        self.cells.push(Cell { name, chain: Chain::default() });
        self.id(self.cells.len() - 1)
    }

    /// Unlocks a mutex that the running thread holds.
    pub(crate) fn release(&mut self, mutex: usize) {
        self.locks[mutex].holder = None;
        let held = &mut self.threads[self.running].held;
        *held = held.saturating_sub(1);
    }

    /// Gives up the running thread's share of a lock.
    pub(crate) fn release_share(&mut self, lock: usize) {
        self.locks[lock].readers.remove(self.running);
    }

    /// Tells whether the running thread shares a lock.
    pub(crate) fn has_share(&self, lock: usize) -> bool {
        self.locks[lock].readers.contains(self.running)
    }

    /// Unlocks a mutex and puts the running thread to sleep.
    pub(crate) fn wait(
        &mut self,
        condvar: usize,
        mutex: usize,
        deadline: Option<seatrial_core::runtime::Instant>,
    ) {
        self.release(mutex);
        self.condvars[condvar].wait(self.running, mutex, deadline);
        self.publish(Operation::Retake { mutex, condvar, deadline });
    }

    pub(crate) fn notify_one(&mut self, condvar: usize) {
        self.condvars[condvar].notify_one(self.config.wake_ups);
    }

    pub(crate) fn notify_all(&mut self, condvar: usize) {
        self.condvars[condvar].notify_all();
    }

    /// Tells whether what a notification does depends on what time it is, where others can make
    /// it later.
    pub(crate) fn notification_reads_clock(&self, condvar: usize) -> bool {
        self.clock_is_shared() && self.condvars[condvar].has_deadlines()
    }

    /// Returns the waiters whose deadline has passed and that may still be in line.
    pub(crate) fn late_waiters(&self, condvar: usize) -> ThreadSet {
        self.condvars[condvar].late(self.now)
    }

    /// Takes a late waiter out of the line.
    pub(crate) fn step_out(&mut self, condvar: usize, thread: usize) {
        self.condvars[condvar].step_out(thread);
    }

    /// Tells whether a late waiter can be out of the line.
    pub(crate) fn can_step_out(&self, condvar: usize, thread: usize) -> bool {
        self.condvars[condvar].can_spare(thread)
    }

    /// Tells whether the running thread may notify: it must hold the mutex that goes with the
    /// condition variable, or else a notification between a waiter's look and its sleep would be
    /// a step of its own, which no engine here explores.
    pub(crate) fn may_notify(&self, condvar: usize) -> bool {
        match self.condvars[condvar].mutex() {
            Some(mutex) => self.locks[mutex].holder == Some(self.running),
            None => self.threads[self.running].held > 0,
        }
    }

    /// Returns what a mutex is called in every execution.
    pub(crate) fn lock_name(&self, mutex: usize) -> ObjectName {
        self.locks[mutex].name
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Config;
    use super::Kernel;
    use crate::engine::quietly;

    #[test]
    fn an_object_of_an_execution_beside_this_one_is_refused() {
        let begun = || {
            let mut kernel = Kernel::new(Config::default());
            kernel.begin();
            kernel
        };
        let (mut one, mut other) = (begun(), begun());
        let (of_one, of_other) = (one.new_lock(), other.new_lock());
        assert_eq!((one.index(of_one), other.index(of_other)), (0, 0));
        let used = std::panic::AssertUnwindSafe(|| other.index(of_one));
        assert!(quietly(|| std::panic::catch_unwind(used)).is_err());
    }
}
