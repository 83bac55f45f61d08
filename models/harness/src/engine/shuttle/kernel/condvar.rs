//! Condition variables: which waiters may wake.
//!
//! `notify_one` wakes *some* waiter, and which one is not settled before it takes the lock again.
//! So a notification is a **permit**: the set of those who waited when it was given. Permits are
//! used oldest first. A thread that leaves is struck from all of them, and newer permits hold all
//! that older ones hold, therefore giving a thread the oldest permit that holds it never takes a
//! choice away from the others. A notification is lost if every waiter already has a permit.
//!
//! A waiter whose deadline has passed leaves the line at some moment before it takes the lock
//! again. A notification in between may still find it there or not ([`Condvar::step_out`]).

use seatrial_core::runtime::Instant;

use super::set::ThreadSet;
use crate::engine::WakeUps;

#[derive(Default, Debug)]
pub(crate) struct Condvar {
    /// In order of arrival.
    waiters: Vec<Waiter>,
    /// Waiters that one notification named: all of them, or the first in line.
    woken: ThreadSet,
    /// Notifications that any one of a set of waiters may use, oldest first.
    permits: Vec<ThreadSet>,
    /// The mutex that the last waiter released.
    mutex: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Waiter {
    thread: usize,
    deadline: Option<Instant>,
}

impl Waiter {
    fn is_late(&self, now: Instant) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }
}

impl Condvar {
    pub(crate) fn wait(&mut self, thread: usize, mutex: usize, deadline: Option<Instant>) {
        self.waiters.push(Waiter { thread, deadline });
        self.mutex = Some(mutex);
    }

    /// Returns the mutex that goes with this condition variable, once that is known.
    pub(crate) fn mutex(&self) -> Option<usize> {
        self.mutex
    }

    pub(crate) fn notify_one(&mut self, order: WakeUps) {
        let asleep = self.asleep();
        match order {
            WakeUps::InOrder => {
                let mut line = self.waiters.iter().map(|waiter| waiter.thread);
                if let Some(first) = line.find(|&thread| asleep.contains(thread)) {
                    self.woken.insert(first);
                }
            }
            WakeUps::Any => {
                if self.permits.len() < asleep.len() {
                    self.permits.push(asleep);
                }
            }
        }
    }

    pub(crate) fn notify_all(&mut self) {
        self.waiters.iter().for_each(|waiter| self.woken.insert(waiter.thread));
        self.permits.clear();
    }

    /// Returns the waiters that no notification names and whose deadline has passed.
    pub(crate) fn late(&self, now: Instant) -> ThreadSet {
        let mut late = ThreadSet::EMPTY;
        self.waiters
            .iter()
            .filter(|waiter| waiter.is_late(now))
            .for_each(|waiter| late.insert(waiter.thread));
        late.minus(self.woken)
    }

    /// Tells whether a thread waits with a deadline.
    pub(crate) fn has_deadlines(&self) -> bool {
        self.waiters.iter().any(|waiter| waiter.deadline.is_some())
    }

    /// Takes a waiter that [can be spared](Self::can_spare) out of the line: no notification finds
    /// it any more.
    pub(crate) fn step_out(&mut self, thread: usize) {
        self.leave(thread, false);
    }

    /// Tells whether a notification lets the thread go.
    pub(crate) fn lets_go(&self, thread: usize) -> bool {
        self.woken.contains(thread) || self.permits.iter().any(|permit| permit.contains(thread))
    }

    /// Tells whether a waiter whose deadline has passed may go without using a notification: none
    /// names it, and every permit still finds a taker among the others.
    pub(crate) fn can_spare(&self, thread: usize) -> bool {
        let mut older = 0;
        let every_permit_finds_a_taker = self.permits.iter().all(|permit| {
            older += 1;
            permit.without(thread).len() >= older
        });
        every_permit_finds_a_taker && !self.woken.contains(thread)
    }

    /// Removes a waiter, together with the notification that it uses, if it uses one.
    pub(crate) fn leave(&mut self, thread: usize, notified: bool) {
        self.waiters.retain(|waiter| waiter.thread != thread);
        if self.woken.contains(thread) {
            self.woken.remove(thread);
        } else if notified {
            let used = self.permits.iter().position(|permit| permit.contains(thread));
            self.permits.remove(used.expect("a notified waiter has a permit"));
        }
        for permit in &mut self.permits {
            permit.remove(thread);
        }
    }

    /// Tells whether a notification names the thread.
    pub(crate) fn is_named(&self, thread: usize) -> bool {
        self.woken.contains(thread)
    }

    /// Returns the threads that wait here and that no notification names.
    pub(crate) fn asleep(&self) -> ThreadSet {
        let mut all = ThreadSet::EMPTY;
        self.waiters.iter().for_each(|waiter| all.insert(waiter.thread));
        all.minus(self.woken)
    }
}
