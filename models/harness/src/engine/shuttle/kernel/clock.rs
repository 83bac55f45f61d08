//! The virtual clock.
//!
//! It stands still while threads work. When no thread can move it jumps to the earliest deadline,
//! and every thread with that deadline can go on. The first few jumps may be set free
//! ([`Config::free_jumps`](super::Config)): they may happen whenever a deadline is armed, which
//! explores that a deadline passes in the middle of other work.

use std::time::Duration;

use seatrial_core::runtime::Instant;

use super::set::ThreadSet;
use super::{Kernel, Operation};
use crate::engine::Choice;

/// A thread that sleeps at least this long asks to be woken when no other thread can move any more.
const FAR: Duration = Duration::from_secs(1_800);

impl Kernel {
    pub(crate) fn now(&self) -> Instant {
        self.now
    }

    /// Tells whether the clock can jump although threads can move.
    pub(crate) fn can_jump_freely(&self) -> bool {
        self.has_free_jumps() && self.next_deadline(false).is_some()
    }

    /// Tells whether the clock may jump although threads can move, if it has a deadline to jump to.
    pub(crate) fn has_free_jumps(&self) -> bool {
        self.free_jumps < self.config.free_jumps
    }

    /// Tells whether the clock can jump once no thread can move.
    pub(crate) fn can_jump_at_standstill(&self) -> bool {
        self.next_deadline(true).is_some()
    }

    /// Puts the running thread to sleep.
    pub(crate) fn sleep(&mut self, until: Instant) {
        let patient = until.since(self.now) >= FAR;
        self.publish(Operation::Sleep { until, patient });
    }

    /// Tells whether reading the clock is a step that others can come before or after.
    pub(crate) fn clock_is_shared(&self) -> bool {
        self.config.free_jumps > 0
    }

    /// Returns the deadline that a thread waits for, if the clock can jump to it; none of the
    /// patient if they are not to count.
    fn armed(&self, thread: usize, patient_count: bool) -> Option<Instant> {
        let deadline = match self.threads[thread].pending? {
            Operation::Sleep { until, patient } => (patient_count || !patient).then_some(until),
            Operation::Retake { condvar, deadline, .. } => {
                deadline.filter(|_| self.condvars[condvar].asleep().contains(thread))
            }
            _ => None,
        };
        deadline.filter(|&deadline| deadline > self.now && deadline != Instant::NEVER)
    }

    fn next_deadline(&self, patient_count: bool) -> Option<Instant> {
        self.live.filter_map(|thread| self.armed(thread, patient_count)).min()
    }

    /// Tells whether a thread waits for a deadline that the clock can jump to.
    pub(super) fn is_armed(&self, thread: usize) -> bool {
        self.armed(thread, true).is_some()
    }

    /// Tells whether a thread waits for a deadline that the clock can jump to although threads can
    /// move.
    pub(crate) fn is_impatient(&self, thread: usize) -> bool {
        self.armed(thread, false).is_some()
    }

    /// Tells whether the deadline of a thread that waits has passed, and no notification names it.
    pub(crate) fn is_late(&self, thread: usize) -> bool {
        match self.threads[thread].pending {
            Some(Operation::Retake { condvar, deadline, .. }) => {
                self.is_past(deadline) && !self.condvars[condvar].is_named(thread)
            }
            _ => false,
        }
    }

    /// Lets the clock jump to the earliest deadline.
    pub(crate) fn jump(&mut self) {
        let is_free = self.can_jump_freely();
        let deadline = self.next_deadline(!is_free).expect("the clock jumps to a deadline");
        debug_assert!(deadline > self.now, "the clock never goes back");
        self.now = deadline;
        *(if is_free { &mut self.free_jumps } else { &mut self.standstills }) += 1;
        self.clock_chain.write(self.now.as_nanos());
        self.schedule.choices.push(Choice::Clock);
        for thread in self.sleepers_until(self.now) {
            self.threads[thread].pending = None;
            self.ready.insert(thread);
        }
    }

    /// Returns the threads that sleep until a time that is not later.
    fn sleepers_until(&self, time: Instant) -> ThreadSet {
        let mut sleepers = ThreadSet::EMPTY;
        for thread in self.live {
            if let Some(Operation::Sleep { until, .. }) = self.threads[thread].pending
                && until <= time
            {
                sleepers.insert(thread);
            }
        }
        sleepers
    }

    /// Tells whether all threads that are left are daemons, for which the execution does not wait.
    pub(crate) fn only_daemons_are_left(&self) -> bool {
        self.live.minus(self.daemons).is_empty()
    }

    /// Returns the threads whose pending operation can be granted.
    pub(crate) fn enabled(&self) -> ThreadSet {
        let mut enabled = ThreadSet::EMPTY;
        for thread in self.live {
            if self.threads[thread].pending.is_some_and(|next| self.is_enabled(thread, next)) {
                enabled.insert(thread);
            }
        }
        enabled
    }

    pub(super) fn is_enabled(&self, thread: usize, operation: Operation) -> bool {
        match operation {
            Operation::Lock(mutex) => self.locks[mutex].is_free(),
            Operation::Share(lock) => self.locks[lock].holder.is_none(),
            Operation::Retake { mutex, condvar, deadline } => {
                self.locks[mutex].holder.is_none()
                    && (self.condvars[condvar].lets_go(thread) || self.is_past(deadline))
            }
            Operation::Load(_) | Operation::Publish(_) | Operation::ReadClock => true,
            // They are made ready by the thread that ends, by the clock that jumps.
            Operation::Join(_) | Operation::Sleep { .. } => false,
        }
    }

    pub(super) fn is_past(&self, deadline: Option<Instant>) -> bool {
        deadline.is_some_and(|deadline| deadline <= self.now)
    }
}
