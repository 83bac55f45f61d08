//! The bookkeeping of one execution: the threads, what each waits for, and the time.
//!
//! loom knows nothing of deadlines, and a panic poisons its mutexes. So locks, condition variables
//! and joins are kept here, in plain data, and loom is only told which threads are runnable: a
//! thread that is *blocked* here is parked in loom. When the last thread blocks, time jumps to the
//! earliest deadline; if there is none, no thread will ever move again, and that is a deadlock.

mod clock;
mod ending;
mod locks;
mod numbers;
mod thread;
mod turns;

use std::collections::{BTreeMap, VecDeque};
use std::task::Waker;

use seatrial_core::runtime::Instant;

use super::numbers::number;
use super::record::Record;
use crate::engine::End;

use locks::Lock;
use numbers::Number;

pub(super) use locks::Wanted;
pub(super) use thread::{Asleep, Thread, Unwinding};
pub(super) use turns::Next;

/// The state of one execution.
#[derive(Debug)]
pub(super) struct Books {
    pub(super) threads: Vec<Thread>,
    pub(super) running: usize,
    pub(super) record: Record,
    /// How the execution ended, once it is being brought down before its threads have ended.
    pub(super) abort: Option<End>,
    /// Whether that came before other threads had nothing more to do.
    pub(super) cut: bool,
    /// The thread that took the last recorded step.
    last: usize,
    now: Instant,
    /// How often the clock was read since the last step.
    reads: u32,
    locks: Vec<Lock>,
    numbers: Vec<Number>,
    condvars: Vec<Condvar>,
    timers: BTreeMap<(Instant, u64), Waker>,
    armed: u64,
}

#[derive(Debug, Default)]
struct Condvar {
    /// The longest sleeper first.
    sleepers: VecDeque<usize>,
    /// The lock that it is used with, once a thread has slept on it.
    lock: Option<usize>,
}

impl Books {
    pub(super) fn new(record: Record) -> Self {
        let main = Thread { name: "main".to_owned(), ..Thread::default() };
        Self {
            threads: vec![main],
            running: 0,
            record,
            abort: None,
            cut: false,
            last: 0,
            now: Instant::ZERO,
            reads: 0,
            locks: Vec::new(),
            numbers: Vec::new(),
            condvars: Vec::new(),
            timers: BTreeMap::new(),
            armed: 0,
        }
    }

    /// Adds a thread as a child of `parent`.
    pub(super) fn spawn(&mut self, parent: usize, name: &str) -> usize {
        self.threads[parent].children += 1;
        let mut way = self.threads[parent].way.clone();
        way.push(self.threads[parent].children);
        self.threads.push(Thread {
            name: name.to_owned(),
            number: number(&way),
            way,
            ..Thread::default()
        });
        self.threads.len() - 1
    }

    pub(super) fn new_lock(&mut self) -> usize {
        let maker = &mut self.threads[self.running];
        self.record.new_lock(maker.number, maker.locks);
        maker.locks += 1;
        self.locks.push(Lock::default());
        self.locks.len() - 1
    }

    pub(super) fn new_condvar(&mut self) -> usize {
        self.condvars.push(Condvar::default());
        self.condvars.len() - 1
    }

    /// Takes a lock, or a share of one, if no other thread is in the way.
    pub(super) fn try_take(&mut self, me: usize, wanted: Wanted) -> bool {
        let free = !self.is_withheld(wanted);
        if free {
            self.locks[wanted.lock].take(me, wanted.shared);
            self.record.acquired(self.threads[me].number, wanted.lock);
        }
        self.threads[me].wants = (!free).then_some(wanted);
        free
    }

    pub(super) fn release(&mut self, lock: usize) {
        self.locks[lock].holder = None;
        self.unpark_ready();
    }

    /// Gives up the running thread's share of a lock.
    pub(super) fn release_share(&mut self, lock: usize) {
        let me = self.running;
        self.locks[lock].readers.retain(|reader| *reader != me);
        self.unpark_ready();
    }

    /// Tells whether a thread shares a lock.
    pub(super) fn has_share(&self, me: usize, lock: usize) -> bool {
        self.locks[lock].readers.contains(&me)
    }

    /// Tells whether a thread sleeps on a condition variable until a deadline.
    pub(super) fn has_deadlines(&self, condvar: usize) -> bool {
        let until = |at: &usize| self.threads[*at].asleep.map(Asleep::until);
        let mut sleepers = self.condvars[condvar].sleepers.iter();
        sleepers.any(|at| until(at).is_some_and(|until| until != Instant::NEVER))
    }

    fn is_withheld(&self, wanted: Wanted) -> bool {
        self.locks[wanted.lock].withholds(wanted.shared)
    }

    /// Puts a thread to sleep; a deadline that has passed already lets it time out at once.
    pub(super) fn sleep(&mut self, me: usize, asleep: Asleep) {
        self.threads[me].timed_out = asleep.until() <= self.now;
        if self.threads[me].timed_out {
            return;
        }
        self.threads[me].asleep = Some(asleep);
        self.threads[me].is_patient = matches!(asleep, Asleep::Until(until) if self.is_far(until));
        if let Asleep::Notified { condvar, lock, .. } = asleep {
            let condvar = &mut self.condvars[condvar];
            condvar.sleepers.push_back(me);
            condvar.lock = Some(lock);
        }
    }

    /// Wakes threads that sleep on a condition variable, the longest sleeper first.
    ///
    /// # Panics
    /// If the lock is not held: loom could not see that the notification depends on the sleep.
    pub(super) fn notify(&mut self, me: usize, condvar: usize, at_most: usize) {
        let is_held = match self.condvars[condvar].lock {
            Some(lock) => self.locks[lock].holder == Some(me),
            // It will be one of these.
            None => self.locks.iter().any(|lock| lock.holder == Some(me)),
        };
        assert!(is_held, "a notification without the lock");
        for _ in 0..at_most {
            let Some(&sleeper) = self.condvars[condvar].sleepers.front() else { break };
            self.wake(sleeper);
        }
        self.unpark_ready();
    }

    /// Ends the sleep of a thread. One that slept on a condition variable needs the lock next.
    fn wake(&mut self, sleeper: usize) {
        if let Some(Asleep::Notified { condvar, lock, .. }) = self.threads[sleeper].asleep.take() {
            self.condvars[condvar].sleepers.retain(|&other| other != sleeper);
            self.threads[sleeper].relock = Some(Wanted::whole(lock));
        }
    }

    /// Notes that a thread is awake and goes on to take the lock, if it needs one.
    pub(super) fn awake(&mut self, me: usize) {
        self.threads[me].relock = None;
    }

    /// Marks a thread as ended and wakes the threads that wait for its end.
    pub(super) fn end(&mut self, me: usize) {
        self.give_up(me);
        self.threads[me].ended = true;
        self.threads[me].unwinding = Unwinding::No;
        for other in 0..self.threads.len() {
            if self.threads[other].asleep == Some(Asleep::Ended(me)) {
                self.wake(other);
            }
        }
        self.unpark_ready();
    }

    pub(super) fn all_ended(&self) -> bool {
        self.threads.iter().all(|thread| thread.ended)
    }

    /// Tells whether a thread cannot move.
    fn is_blocked(&self, at: usize) -> bool {
        let thread = &self.threads[at];
        let withheld = |wanted| self.is_withheld(wanted);
        let rests = thread.ended || thread.asleep.is_some() || thread.relock.is_some_and(withheld);
        thread.wants.is_some_and(withheld) || (rests && thread.serving.is_empty())
    }
}
