//! The only shell: a machine under a lock, with its sleepers.
//!
//! Every part of this crate that waits or wakes is a machine inside a [`Monitor`]; there is no
//! other condition variable and no other list of wakers. A call locks, steps the machine, wakes the
//! sleepers that the step named, and either returns or sleeps and steps again.
//!
//! Threads are woken **under the lock**: then a notification is part of its critical section, and a
//! checker needs no branch point between the two. Tasks are woken after the unlock, because their
//! wakers are foreign code. A task leaves its line under the lock, so no task is woken twice for
//! one wake-up.
//!
//! The sleeper that came first is woken first, **threads and tasks in one order of arrival**: every
//! sleeper has a ticket. A woken sleeper gets a chance to look, not an item: if another caller
//! comes first, it finds nothing and goes to the end of its line. A task that is woken while its
//! executor is busy keeps its chance until it is polled or dropped, just as a thread does that the
//! operating system does not run.
//!
//! If all sleepers of a channel wait for the same time ([`SHARES_TIME`](Operation::SHARES_TIME)),
//! **one thread and one task hold a timer**. When the call of a holder ends for any reason, another
//! one of its kind is woken and sets the next timer. So an item that becomes due wakes at most four
//! sleepers, however many there are.
//!
//! Threads and tasks have separate timers, because a task that is never polled would otherwise let
//! all others sleep while items are due. This can still happen among tasks: while the task with the
//! timer is not polled, the other tasks wake only for items that are added or handed back. So poll
//! every call to its end, or drop it.
//!
//! A thread that has to wait first yields a few times and looks again before it sleeps
//! ([`Runtime::turns`]). On a busy queue it then gets the item faster than by a sleep and a
//! wake-up, and its producer has nobody to wake.

mod around;
mod awaited;
mod call;
mod line;
mod sleepers;
mod step;
#[cfg(test)]
mod tests;
mod then;

use std::fmt;
use std::sync::Arc;

use crate::caught::drop_caught;
use crate::machine::{Channel, Hosted, Machine, Operation, Wakes};
use crate::runtime::{Instant, Runtime};

for_harness! {
    use around::Around;
    use call::Call;
}
use sleepers::{Kind, Sleeper, Sleepers, WaitState, Woken};
use step::{Ended, Next};

/// A machine and its sleepers under one lock.
pub struct Monitor<M: Machine, R: Runtime> {
    runtime: R,
    inside: R::Mutex<Inside<M, R>>,
}

struct Inside<M, R: Runtime> {
    host: Hosted<M>,
    sleepers: Sleepers<R>,
}

type Guard<'a, M, R> = <R as Runtime>::Guard<'a, Inside<M, R>>;

impl<M: Machine, R: Runtime> Monitor<M, R> {
    /// Puts a machine under a lock of `runtime`.
    pub fn new(runtime: &R, host: impl Into<Hosted<M>>) -> Self {
        let inside = Inside { host: host.into(), sleepers: Sleepers::new() };
        Self { inside: runtime.mutex(inside), runtime: runtime.clone() }
    }

    /// Returns the runtime of the monitor.
    #[inline]
    pub fn runtime(&self) -> &R {
        &self.runtime
    }

    /// Returns the capacity for sleepers.
    #[cfg(feature = "harness")]
    pub fn seats(&self) -> usize {
        self.runtime.lock(&self.inside).sleepers.seats()
    }

    /// Runs a call to its end, sleeping as often as the machine says.
    ///
    /// # Panics
    /// If a step panics, for example because it compares and copies keys: then the call is given
    /// up, and no other caller misses anything. If the machine answers [`Step::Held`], which only
    /// [`around`](Self::around) can handle.
    ///
    /// [`Step::Held`]: crate::machine::Step::Held
    #[inline(always)]
    pub fn call<O: Operation<M>>(&self, mut op: O) -> O::Ret {
        let ended = self.run(&mut op);
        self.over(op, ended)
    }

    /// Returns the result of a call that does not keep the lock.
    #[inline(always)]
    fn over<O: Operation<M>>(&self, op: O, ended: Ended<'_, O::Ret, M, R>) -> O::Ret {
        match ended {
            (None, ret) => {
                drop_caught(op); // without the lock: dropping a key runs foreign code
                ret
            }
            (Some(_), ret) => held_call(ret),
        }
    }

    /// Steps an operation on this thread until it ends.
    #[inline(always)]
    fn run<'a, O: Operation<M>>(&'a self, op: &mut O) -> Ended<'a, O::Ret, M, R> {
        self.go_on(op, Thread::new(&self.runtime))
    }

    #[inline(always)]
    fn go_on<'a, O: Operation<M>>(
        &'a self,
        op: &mut O,
        mut thread: Thread<R>,
    ) -> Ended<'a, O::Ret, M, R> {
        let mut guard = self.runtime.lock(&self.inside);
        loop {
            match self.step(guard, op, &mut thread.wait, Wakes::default()) {
                Next::Over(ended) => return ended,
                Next::Wait { guard: held, woken, on, until } => {
                    guard = self.sleep(held, woken, on, until, &mut thread);
                }
            }
        }
    }

    /// Wakes the sleepers that a step named, and unlocks.
    #[inline(always)]
    fn unlock(&self, mut guard: Guard<'_, M, R>, wakes: Wakes) {
        if guard.sleepers.is_owed(wakes) {
            let woken = guard.sleepers.wake(&self.runtime, wakes);
            drop(guard);
            woken.wake();
        }
    }

    #[cold]
    #[inline(never)]
    fn sleep<'a>(
        &'a self,
        mut guard: Guard<'a, M, R>,
        woken: Woken<R>,
        on: Channel,
        until: Option<Instant>,
        thread: &mut Thread<R>,
    ) -> Guard<'a, M, R> {
        if !woken.is_empty() || until == Some(Instant::ZERO) {
            // A waker is foreign code, so it runs without the lock. Afterwards the step is
            // repeated, which loses nothing. A call that goes on at once also lets others have the
            // lock: a wait for a time that is over need not unlock.
            drop(guard);
            woken.wake();
            return self.runtime.lock(&self.inside);
        }
        if thread.turns > 0 {
            thread.turns -= 1; // like a wake-up for nothing: a waiting step may be repeated
            drop(guard);
            self.runtime.give_turn();
            return self.runtime.lock(&self.inside);
        }
        let condvar = thread.condvar.get_or_insert_with(|| Arc::new(self.runtime.condvar()));
        guard.sleepers.enter(on, Sleeper::Thread(Arc::clone(condvar)), &mut thread.wait);
        match until {
            None => self.runtime.wait(condvar, guard),
            Some(deadline) => self.runtime.wait_until(condvar, guard, deadline).0,
        }
    }
}

/// The state of a thread for sleeping in a call.
struct Thread<R: Runtime> {
    wait: WaitState<R>,
    /// Made for the first sleep.
    condvar: Option<Arc<R::Condvar>>,
    /// How often it still yields before it sleeps.
    turns: u32,
}

impl<R: Runtime> Thread<R> {
    fn new(runtime: &R) -> Self {
        Self { wait: WaitState::new(Kind::Thread), condvar: None, turns: runtime.turns() }
    }
}

#[cold]
fn held_call<T>(_: T) -> ! {
    panic!("a call whose lock stays held goes through `around`")
}

impl<M: Machine, R: Runtime> fmt::Debug for Monitor<M, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Monitor")
    }
}
