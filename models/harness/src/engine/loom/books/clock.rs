//! The clock: it stands still while a thread can move.

use std::task::Waker;
use std::time::Duration;

use seatrial_core::runtime::Instant;

use super::thread::Asleep;
use super::{Books, End};

/// A thread that sleeps at least this long asks to be woken when no other thread can move any more.
const FAR: Duration = Duration::from_secs(1_800);

/// A thread that reads the clock this often without taking a step waits for the clock to move. The
/// clock does not move as long as a thread can.
const MAX_READS: u32 = 100_000;

impl Books {
    /// Reads the clock.
    pub(in crate::engine::loom) fn now(&mut self) -> Instant {
        self.reads += 1;
        if self.reads == MAX_READS {
            let running = &self.threads[self.running].name;
            self.cut_short(End::Endless(format!("{running} reads the clock for ever")));
        }
        self.now
    }

    /// Returns the time, for a look at the execution from outside.
    pub(super) fn time(&self) -> Instant {
        self.now
    }

    /// Tells whether a sleep until then is that of a thread that waits for all others.
    pub(super) fn is_far(&self, until: Instant) -> bool {
        until.since(self.now) >= FAR
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

    /// Lets time jump to the earliest deadline; false if there is none. `me` is the thread that can
    /// move last.
    pub(super) fn advance(&mut self, me: usize) -> bool {
        let asleep = self.threads.iter().filter_map(|thread| thread.asleep.map(Asleep::until));
        let armed = self.timers.keys().next().map(|key| key.0);
        let Some(earliest) = asleep.chain(armed).min().filter(|&at| at != Instant::NEVER) else {
            return false;
        };
        self.advance_to(me, earliest);
        true
    }

    fn advance_to(&mut self, me: usize, earliest: Instant) {
        if earliest > self.now {
            if !self.record.allows_jump() {
                self.diverge();
                return;
            }
            self.record.jumped();
            self.now = earliest;
        }
        let wakers_are_due = self.timers.keys().next().is_some_and(|key| key.0 <= self.now);
        for at in 0..self.threads.len() {
            if self.threads[at].asleep.is_some_and(|asleep| asleep.until() <= self.now) {
                self.wake(at);
                self.threads[at].timed_out = true;
            }
        }
        if wakers_are_due {
            self.call_for_wakers(me);
        }
        self.unpark_ready();
    }

    /// Lets time jump to the earliest deadline, if one is armed, although threads can move. The
    /// deadline of a very long sleep does not count: such a thread asks to be woken when no other
    /// thread can move.
    pub(in crate::engine::loom) fn jump_early(&mut self, me: usize) {
        let hurried = self.threads.iter().filter(|thread| !thread.is_patient);
        let asleep = hurried.filter_map(|thread| thread.asleep.map(Asleep::until));
        let armed = self.timers.keys().next().map(|key| key.0);
        if let Some(earliest) = asleep.chain(armed).min().filter(|&at| at != Instant::NEVER) {
            self.advance_to(me, earliest);
        }
    }

    /// Chooses a thread to run the wakers that are due. It is one that has nothing else to do, so
    /// that the threads that the clock has woken can act before or after the wakers. The choice
    /// must not depend on which thread moved last, since loom does not try all orders of that.
    fn call_for_wakers(&mut self, me: usize) {
        let idle = |at: &usize| self.is_blocked(*at) && !self.threads[*at].ended;
        let server = (0..self.threads.len()).find(idle).or(self.threads[me].ended.then_some(me));
        let server = server.or_else(|| self.threads.iter().position(|thread| !thread.ended));
        let server = &mut self.threads[server.unwrap_or(me)];
        server.called = true;
        server.serving.push(server.wants.take());
    }

    /// Ends what [`call_for_wakers`](Self::call_for_wakers) began.
    pub(in crate::engine::loom) fn served(&mut self, me: usize) {
        let thread = &mut self.threads[me];
        thread.wants = thread.serving.pop().flatten();
    }

    /// Tells whether a thread runs wakers. One that is called to do so begins when it next pauses: it may well
    /// go to sleep first.
    pub(in crate::engine::loom) fn is_serving(&self, me: usize) -> bool {
        let thread = &self.threads[me];
        thread.serving.len() > usize::from(thread.called)
    }
}
