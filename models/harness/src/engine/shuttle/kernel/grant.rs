//! The effects of choosing a thread.

use super::{Kernel, Operation, ThreadSet};
use crate::engine::Choice;

/// How a wait can end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WaitEnd {
    Notified,
    TimedOut,
    /// Both: the deadline has passed and a notification is there that others could use as well.
    Either,
}

impl Kernel {
    /// Returns how the wait of an enabled thread can end; `None` if it does not wait.
    pub(crate) fn wait_end(&self, thread: usize) -> Option<WaitEnd> {
        let Some(Operation::Retake { condvar, deadline, .. }) = self.threads[thread].pending else {
            return None;
        };
        let condvar = &self.condvars[condvar];
        Some(match (condvar.lets_go(thread), self.is_past(deadline)) {
            (true, true) if condvar.can_spare(thread) => WaitEnd::Either,
            (true, _) => WaitEnd::Notified,
            (false, _) => WaitEnd::TimedOut,
        })
    }

    /// Applies the pending operation of an enabled thread, which runs next.
    pub(crate) fn grant(&mut self, thread: usize, enabled: ThreadSet) {
        debug_assert!(enabled.contains(thread), "only an enabled thread is chosen");
        self.schedule.choices.push(Choice::Thread(thread as u8));
        if let Some(last) = self.last
            && last != thread
            && enabled.contains(last)
        {
            self.preemptions += 1;
        }
        self.last = Some(thread);
        self.running = thread;
        self.idle_calls = 0;
        let disarms = self.clock_is_shared() && self.is_armed(thread);
        let operation = self.threads[thread].pending.take().expect("an enabled thread has one");
        self.ready.insert(thread);
        let by = self.threads[thread].path.wrapping_add(u64::from(self.standstills));
        match operation {
            Operation::Lock(mutex) => self.take(mutex, by),
            Operation::Retake { mutex, .. } => {
                self.take(mutex, by);
                if disarms {
                    self.clock_chain.read(by);
                }
            }
            Operation::Share(lock) => {
                debug_assert_eq!(self.locks[lock].holder, None);
                self.locks[lock].readers.insert(thread);
                self.locks[lock].chain.read(by);
            }
            Operation::Load(cell) => self.cells[cell].chain.read(by),
            Operation::Publish(cell) => self.cells[cell].chain.write(by),
            Operation::ReadClock => self.clock_chain.read(by),
            Operation::Sleep { .. } | Operation::Join(_) => {
                unreachable!("never chosen: made ready")
            }
        }
    }

    fn take(&mut self, mutex: usize, by: u64) {
        debug_assert!(self.locks[mutex].is_free());
        self.locks[mutex].holder = Some(self.running);
        self.locks[mutex].chain.write(by);
        self.threads[self.running].held += 1;
    }

    /// Ends the wait of the thread that was just granted its mutex again.
    pub(crate) fn end_wait(&mut self, condvar: usize, notified: bool) {
        self.condvars[condvar].leave(self.running, notified);
        self.threads[self.running].timed_out = !notified;
    }

    /// Tells whether the pending operation of a thread takes a share of a lock.
    pub(crate) fn takes_share(&self, thread: usize) -> bool {
        matches!(self.threads[thread].pending, Some(Operation::Share(_)))
    }

    /// Returns the condition variable that a pending operation comes back from.
    pub(crate) fn waits_on(&self, thread: usize) -> Option<usize> {
        match self.threads[thread].pending {
            Some(Operation::Retake { condvar, .. }) => Some(condvar),
            _ => None,
        }
    }

    /// Tells whether a thread that waits was notified.
    pub(crate) fn is_notified(&self, thread: usize) -> bool {
        self.waits_on(thread).is_some_and(|condvar| self.condvars[condvar].lets_go(thread))
    }

    /// Tells whether a thread waits for a lock that others have, and for nothing else.
    pub(crate) fn wants_lock(&self, thread: usize) -> bool {
        match self.threads[thread].pending {
            Some(Operation::Lock(lock)) => !self.locks[lock].readers.contains(thread),
            Some(Operation::Share(_)) => true,
            Some(Operation::Retake { .. }) => self.is_notified(thread) || self.is_late(thread),
            _ => false,
        }
    }
}
