//! The clock: it stands still while a thread can move.

use std::task::Waker;

use seatrial_core::runtime::Instant;

use super::thread::Asleep;
use super::{End, World};

/// Whoever reads the clock that often without taking a step waits for it to move, which it will not
/// do as long as somebody can move.
const MAX_READS: u32 = 100_000;

/// What a jump of the clock led to.
pub(super) enum Due {
    /// Threads go on, or one has to look again what it is to do.
    Threads,
    /// Only wakers are due.
    Wakers,
}

impl World {
    /// Reads the clock.
    pub(in crate::engine::loom) fn now(&mut self) -> Instant {
        self.reads += 1;
        if self.reads == MAX_READS {
            let running = &self.threads[self.running].name;
            self.abort(End::Endless(format!("{running} reads the clock for ever")));
        }
        self.now
    }

    /// Returns the time for whoever looks at the execution from outside.
    pub(super) fn time(&self) -> Instant {
        self.now
    }

    /// Arms a waker and returns the key that disarms it.
    pub(in crate::engine::loom) fn arm(
        &mut self,
        deadline: Instant,
        waker: Waker,
    ) -> (Instant, u64) {
        self.armed += 1;
        let key = (deadline, self.armed);
        self.timers.insert(key, waker);
        key
    }

    pub(in crate::engine::loom) fn disarm(&mut self, key: (Instant, u64)) -> Option<Waker> {
        self.timers.remove(&key)
    }

    /// Takes the first waker that is due.
    pub(in crate::engine::loom) fn due(&mut self) -> Option<Waker> {
        let first = self.timers.first_entry()?;
        (first.key().0 <= self.now).then(|| first.remove())
    }

    /// Lets time jump to the earliest deadline; `None` if there is none.
    pub(super) fn advance(&mut self) -> Option<Due> {
        let asleep = self.threads.iter().filter_map(|thread| thread.asleep.map(Asleep::until));
        let armed = self.timers.keys().next().map(|key| key.0);
        let earliest = asleep.chain(armed).min().filter(|&at| at != Instant::NEVER)?;
        if earliest > self.now {
            if !self.record.allows_jump() {
                self.diverge();
                return Some(Due::Threads);
            }
            self.record.jumped();
            self.now = earliest;
        }
        let mut due = Due::Wakers;
        for at in 0..self.threads.len() {
            if self.threads[at].asleep.is_some_and(|asleep| asleep.until() <= self.now) {
                self.wake(at);
                self.threads[at].timed_out = true;
                due = Due::Threads;
            }
        }
        self.unpark_ready();
        Some(due)
    }
}
