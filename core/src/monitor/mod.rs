//! The one shell: a machine under a lock, with its sleepers.
//!
//! Everything of this crate that waits or wakes is a machine inside a [`Monitor`]; there is no
//! condition variable and no list of wakers anywhere else. A call locks, steps the machine, wakes
//! whom the step named, and either returns or sleeps and steps again.
//!
//! Wakes are given **under the lock**. On `parking_lot` that costs nothing: a woken thread is moved
//! from the condition variable's queue to the mutex's and starts when the mutex is released. It
//! makes a notification part of the critical section that it belongs to, so a checker needs no
//! branch point between the two. Tasks are told after the unlock, because their wakers are foreign
//! code; a task leaves the list of sleepers under the lock, so no wake-up goes to it twice. Where
//! tasks and threads sleep on one channel, tasks are woken first: which threads have been told
//! already only the condition variable knows.
//!
//! A thread that has to wait gives its turn to others a few times and looks again before it sleeps
//! ([`Runtime::TURNS`]): where much is going on, what it waits for comes sooner than sleeping and
//! being woken would take, and whoever brings it has nobody to wake.

mod around;
mod awaited;
mod call;
mod tasks;
#[cfg(test)]
mod tests;
mod then;

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

use crate::machine::{CHANNELS, Channel, Cx, Host, Machine, Operation, Step, Wakes};
use crate::runtime::{Instant, Runtime};

pub use around::Around;
pub use call::Call;
use tasks::{Tasks, Woken};

/// A machine and its sleepers under one lock.
pub struct Monitor<M: Machine, R: Runtime, H: Host<M> = M> {
    runtime: R,
    inside: R::Mutex<Inside<H>>,
    changed: [R::Condvar; CHANNELS],
    machine: PhantomData<fn(M)>,
}

struct Inside<H> {
    host: H,
    /// Threads asleep, per channel. A count of zero spares the call into the condition variable.
    asleep: [u32; CHANNELS],
    /// Threads and tasks asleep on any channel: one load tells the hot path that nobody needs
    /// waking.
    asleep_anywhere: u32,
    /// The tasks among them.
    tasks: Tasks,
}

type Guard<'a, H, R> = <R as Runtime>::Guard<'a, Inside<H>>;

impl<M: Machine, R: Runtime, H: Host<M>> Monitor<M, R, H> {
    /// Puts a machine under a lock of `runtime`.
    pub fn new(runtime: &R, host: H) -> Self {
        let asleep = [0; CHANNELS];
        let inside = Inside { host, asleep, asleep_anywhere: 0, tasks: Tasks::default() };
        Self {
            inside: runtime.mutex(inside),
            changed: std::array::from_fn(|_| runtime.condvar()),
            runtime: runtime.clone(),
            machine: PhantomData,
        }
    }

    /// Returns the runtime that the monitor lives on.
    #[inline]
    pub fn runtime(&self) -> &R {
        &self.runtime
    }

    /// Runs a call to its end, sleeping as often as the machine says.
    ///
    /// # Panics
    /// If the machine answers [`Step::Held`], which only [`around`](Self::around) can keep.
    #[inline(always)]
    pub fn call<O: Operation<M>>(&self, op: O) -> O::Ret {
        // A step that panics leaks its operation, and a waker that panics the result. Whoever would
        // drop them then needs their address, and what has an address is written to memory and
        // read back in other pieces, which waits for all writes before it: a fifth of `add`, `get`
        // and `done`, and a third of what an ordered FIFO takes to queue an object.
        let mut op = ManuallyDrop::new(op);
        let mut guard = self.runtime.lock(&self.inside);
        let mut cx = Cx::new(&self.runtime);
        match guard.host.run(&mut *op, &mut cx) {
            Step::Done(ret) => {
                let ret = ManuallyDrop::new(ret);
                self.unlock(guard, cx.wakes);
                // What is left of it drops after the guard: dropping a key runs foreign code.
                ManuallyDrop::into_inner(op).leave();
                ManuallyDrop::into_inner(ret)
            }
            Step::Wait { on, until } => {
                self.call_again(ManuallyDrop::into_inner(op), guard, cx.wakes, on, until)
            }
            Step::Held(ret) => held_call(ret),
        }
    }

    /// Sleeps and steps a call until it ends. Apart from the first step, so that the way of a call
    /// that need not wait is straight and neither the operation, which moves here only now, nor
    /// its result need an address.
    #[cold]
    #[inline(never)]
    fn call_again<'a, O: Operation<M>>(
        &'a self,
        mut op: O,
        mut guard: Guard<'a, H, R>,
        mut wakes: Wakes,
        mut on: Channel,
        mut until: Option<Instant>,
    ) -> O::Ret {
        let mut turns = R::TURNS;
        loop {
            guard = self.sleep(guard, wakes, on, until, &mut turns);
            let mut cx = Cx::new(&self.runtime);
            match guard.host.run(&mut op, &mut cx) {
                Step::Done(ret) => {
                    self.unlock(guard, cx.wakes);
                    return ret;
                }
                Step::Wait { on: next, until: deadline } => {
                    (wakes, on, until) = (cx.wakes, next, deadline);
                }
                Step::Held(ret) => held_call(ret),
            }
        }
    }

    /// Wakes whom a step named, and unlocks.
    #[inline(always)]
    fn unlock(&self, guard: Guard<'_, H, R>, wakes: Wakes) {
        if guard.asleep_anywhere > 0 && wakes.any() {
            self.wake_and_unlock(guard, wakes);
        }
    }

    #[cold]
    #[inline(never)]
    fn wake_and_unlock(&self, mut guard: Guard<'_, H, R>, wakes: Wakes) {
        let woken = self.wake_sleepers(&mut guard, wakes);
        drop(guard);
        woken.wake();
    }

    /// Wakes the threads that a step named; the tasks are the caller's to wake.
    #[cold]
    #[inline(never)]
    fn wake_sleepers(&self, inside: &mut Inside<H>, wakes: Wakes) -> Woken {
        let mut woken = Woken::default();
        for (on, condvar) in self.changed.iter().enumerate() {
            let mut count = wakes.get(on as Channel);
            if count > 0 && !inside.tasks.is_empty() {
                let before = woken.len();
                inside.tasks.take(on as Channel, count, &mut woken);
                let told = woken.len() - before;
                inside.asleep_anywhere -= told as u32;
                if count != Wakes::ALL {
                    count -= told as u16;
                }
            }
            match count {
                0 => {}
                Wakes::ALL if inside.asleep[on] > 0 => self.runtime.notify_all(condvar),
                count => {
                    for _ in 0..u32::from(count).min(inside.asleep[on]) {
                        self.runtime.notify_one(condvar);
                    }
                }
            }
        }
        woken
    }

    #[cold]
    #[inline(never)]
    fn sleep<'a>(
        &'a self,
        mut guard: Guard<'a, H, R>,
        wakes: Wakes,
        on: Channel,
        until: Option<Instant>,
        turns: &mut u32,
    ) -> Guard<'a, H, R> {
        let woken = self.wake_sleepers(&mut guard, wakes);
        if woken.len() > 0 {
            // A waker is foreign code. The step loses nothing by being repeated afterwards.
            drop(guard);
            woken.wake();
            return self.runtime.lock(&self.inside);
        }
        if *turns > 0 {
            *turns -= 1; // as after a wake-up for nothing: a step that waits may be repeated
            drop(guard);
            self.runtime.give_turn();
            return self.runtime.lock(&self.inside);
        }
        let channel = usize::from(on);
        guard.asleep[channel] += 1;
        guard.asleep_anywhere += 1;
        let condvar = &self.changed[channel];
        guard = match until {
            None => self.runtime.wait(condvar, guard),
            Some(deadline) => self.runtime.wait_until(condvar, guard, deadline).0,
        };
        guard.asleep[channel] -= 1;
        guard.asleep_anywhere -= 1;
        guard
    }
}

/// Takes the result: a step that is moved out of in every arm needs no drop, and stays in
/// registers.
#[cold]
#[inline(never)]
fn held_call<T>(_: T) -> ! {
    panic!("a call whose lock stays held goes through `around`")
}

impl<M: Machine, R: Runtime, H: Host<M>> fmt::Debug for Monitor<M, R, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Monitor")
    }
}
