//! The clock that is moved by hand, and the threads and wakers that wait for it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::sleeper::{Roused, Sleeper};
use crate::caught::{each, pass_on};
use crate::runtime::sequence::Sequence;
use crate::runtime::{Instant, WallTime};

/// The last instant that the clock can show: it must never reach [`Instant::NEVER`].
const END_OF_TIME: Instant = Instant::from_nanos(u64::MAX - 1);

/// Identifies a waiter: by deadline, then by order of arrival.
pub(super) type Key = (Instant, u64);

/// The clock, shared by all copies of a runtime.
#[derive(Debug)]
pub(super) struct Clock {
    /// The time that the clock shows. It is changed only with the state locked, but read without a
    /// lock, because a clock is read more often than it is moved.
    now: AtomicU64,
    /// The source of random numbers.
    entropy: Sequence,
    state: Mutex<State>,
    /// Signalled when a thread begins to wait.
    arrived: Condvar,
}

#[derive(Debug)]
struct State {
    wall: WallTime,
    waiting: BTreeMap<Key, Waiter>,
    arrivals: u64,
    /// Threads asleep, with or without a deadline.
    asleep: usize,
}

#[derive(Debug)]
enum Waiter {
    Thread(Arc<Sleeper>),
    Timer(Waker),
}

impl Clock {
    pub(super) fn new(wall: WallTime, seed: u64) -> Self {
        let state = State { wall, waiting: BTreeMap::new(), arrivals: 0, asleep: 0 };
        let (now, entropy) = (AtomicU64::new(0), Sequence::new(seed));
        Self { now, entropy, state: Mutex::new(state), arrived: Condvar::new() }
    }

    pub(super) fn now(&self) -> Instant {
        Instant::from_nanos(self.now.load(Ordering::Acquire))
    }

    pub(super) fn wall(&self) -> WallTime {
        self.state.lock().wall
    }

    pub(super) fn set_wall(&self, wall: WallTime) {
        self.state.lock().wall = wall;
    }

    /// Returns the next number of the sequence, which depends only on the seed.
    pub(super) fn entropy(&self) -> u64 {
        self.entropy.next()
    }

    /// Moves the clock and fires everything that is due by then (`workqueue:CK-4`).
    ///
    /// Nothing is locked while a waker runs (`workqueue:CK-5`). If a waker panics, the others still
    /// run; the first panic is passed on at the end of the step. A timer that a waker arms waits
    /// for the next step, so a step ends even if every waker arms another one.
    pub(super) fn advance(&self, by: Duration) {
        let mut state = self.state.lock();
        let now = (self.now() + by).min(END_OF_TIME);
        self.now.store(now.as_nanos(), Ordering::Release);
        state.wall = state.wall + by;
        let newest = state.arrivals;
        drop(state);
        let due = std::iter::from_fn(|| self.take_due(now, newest));
        pass_on(each(due, |waiter| match waiter {
            Waiter::Thread(sleeper) => {
                self.rouse(&sleeper, Roused::ByClock);
            }
            Waiter::Timer(waker) => waker.wake(),
        }));
    }

    fn take_due(&self, now: Instant, newest: u64) -> Option<Waiter> {
        let mut state = self.state.lock();
        let due = state.waiting.range(..=(now, u64::MAX));
        let key = due.map(|(key, _)| *key).find(|key| key.1 <= newest)?;
        state.waiting.remove(&key)
    }

    /// Registers a thread that is about to sleep; `None` if its deadline has passed.
    ///
    /// The sleep itself follows later, without the lock; it may be ended before it begins.
    pub(super) fn begin_sleep(&self, until: Instant) -> Option<Arc<Sleeper>> {
        let mut state = self.state.lock();
        if until <= self.now() {
            return None;
        }
        state.asleep += 1;
        let sleeper = Arc::new(Sleeper::new(until));
        if until != Instant::NEVER {
            state.wait(until, Waiter::Thread(Arc::clone(&sleeper)));
        }
        self.arrived.notify_all();
        Some(sleeper)
    }

    /// Ends the sleep of a thread; false if it was ended before.
    pub(super) fn rouse(&self, sleeper: &Arc<Sleeper>, how: Roused) -> bool {
        if !sleeper.rouse(how) {
            return false;
        }
        let mut state = self.state.lock();
        state.asleep -= 1;
        let is_it =
            |waiter: &Waiter| matches!(waiter, Waiter::Thread(t) if Arc::ptr_eq(t, sleeper));
        let mut same_deadline = state.waiting.range((sleeper.until, 0)..=(sleeper.until, u64::MAX));
        let key = same_deadline.find(|(_, waiter)| is_it(waiter)).map(|(key, _)| *key);
        let waiter = key.and_then(|key| state.waiting.remove(&key));
        drop(state);
        drop(waiter);
        true
    }

    /// Arms a waker. The flag tells whether its time has already come.
    pub(super) fn arm(&self, deadline: Instant, waker: Waker) -> (Key, bool) {
        let mut state = self.state.lock();
        let key = state.wait(deadline, Waiter::Timer(waker));
        self.arrived.notify_all();
        (key, deadline <= self.now())
    }

    /// Removes an armed waker, to wake it or to drop it; `None` if it has fired.
    pub(super) fn disarm(&self, key: Key) -> Option<Waker> {
        match self.state.lock().waiting.remove(&key) {
            Some(Waiter::Timer(waker)) => Some(waker),
            _ => None,
        }
    }

    /// Counts the waiters for the clock.
    pub(super) fn waiters(&self) -> usize {
        self.state.lock().waiting.len()
    }

    /// Counts the threads that sleep.
    pub(super) fn asleep(&self) -> usize {
        self.state.lock().asleep
    }

    pub(super) fn until_waiting(&self, count: usize, patience: Duration) -> bool {
        self.until(patience, |state| state.waiting.len() >= count)
    }

    pub(super) fn until_asleep(&self, count: usize, patience: Duration) -> bool {
        self.until(patience, |state| state.asleep >= count)
    }

    /// Waits in real time until the state is as wanted; false if that takes longer than `patience`.
    fn until(&self, patience: Duration, wanted: impl Fn(&State) -> bool) -> bool {
        let mut state = self.state.lock();
        let ended = self.arrived.wait_while_for(&mut state, |state| !wanted(state), patience);
        !ended.timed_out()
    }
}

impl State {
    fn wait(&mut self, until: Instant, waiter: Waiter) -> Key {
        self.arrivals += 1;
        let key = (until, self.arrivals);
        self.waiting.insert(key, waiter);
        key
    }
}
