//! The one shell: a machine under a lock, with its sleepers.
//!
//! Everything of this crate that waits or wakes is a machine inside a [`Monitor`]; there is no
//! condition variable and no list of wakers anywhere else. A call locks, steps the machine, wakes
//! whom the step named, and either returns or sleeps and steps again.
//!
//! Wakes are given **under the lock**. On `parking_lot` that costs nothing: a woken thread is moved
//! from the condition variable's queue to the mutex's and starts when the mutex is released. It
//! makes a notification part of the critical section that it belongs to, so a checker needs no
//! branch point between the two.

mod around;

use std::fmt;
use std::marker::PhantomData;

use crate::machine::{CHANNELS, Channel, Cx, Host, Machine, Operation, Step, Wakes};
use crate::runtime::{Instant, Runtime};

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
    /// Threads asleep on any channel: one load tells the hot path that nobody needs waking.
    asleep_anywhere: u32,
}

type Guard<'a, H, R> = <R as Runtime>::Guard<'a, Inside<H>>;

impl<M: Machine, R: Runtime, H: Host<M>> Monitor<M, R, H> {
    /// Puts a machine under a lock of `runtime`.
    pub fn new(runtime: &R, host: H) -> Self {
        let inside = Inside { host, asleep: [0; CHANNELS], asleep_anywhere: 0 };
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
    pub fn call<O: Operation<M>>(&self, mut op: O) -> O::Ret {
        let mut guard = self.runtime.lock(&self.inside);
        let mut cx = Cx::new(&self.runtime);
        match guard.host.run(&mut op, &mut cx) {
            // What is left of `op` drops after the guard: dropping a key runs foreign code.
            Step::Done(ret) => {
                self.wake(&guard, cx.wakes);
                drop(guard);
                ret
            }
            Step::Wait { on, until } => self.call_again(guard, &mut op, cx.wakes, on, until),
            Step::Held(ret) => held_call(ret),
        }
    }

    /// Sleeps and steps a call until it ends. Apart from the first step, so that the way of a call
    /// that need not wait is straight and its result is not moved about.
    #[cold]
    #[inline(never)]
    fn call_again<'a, O: Operation<M>>(
        &'a self,
        mut guard: Guard<'a, H, R>,
        op: &mut O,
        mut wakes: Wakes,
        mut on: Channel,
        mut until: Option<Instant>,
    ) -> O::Ret {
        loop {
            guard = self.sleep(guard, wakes, on, until);
            let mut cx = Cx::new(&self.runtime);
            match guard.host.run(op, &mut cx) {
                Step::Done(ret) => {
                    self.wake(&guard, cx.wakes);
                    return ret;
                }
                Step::Wait { on: next, until: deadline } => {
                    (wakes, on, until) = (cx.wakes, next, deadline);
                }
                Step::Held(ret) => held_call(ret),
            }
        }
    }

    /// Wakes whom a step named, under the lock.
    #[inline(always)]
    fn wake(&self, guard: &Guard<'_, H, R>, wakes: Wakes) {
        if guard.asleep_anywhere > 0 && wakes.any() {
            self.wake_sleepers(&guard.asleep, wakes);
        }
    }

    #[cold]
    #[inline(never)]
    fn wake_sleepers(&self, asleep: &[u32; CHANNELS], wakes: Wakes) {
        for (on, condvar) in self.changed.iter().enumerate() {
            match wakes.get(on as Channel) {
                0 => {}
                Wakes::ALL if asleep[on] > 0 => self.runtime.notify_all(condvar),
                count => {
                    for _ in 0..u32::from(count).min(asleep[on]) {
                        self.runtime.notify_one(condvar);
                    }
                }
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn sleep<'a>(
        &'a self,
        mut guard: Guard<'a, H, R>,
        wakes: Wakes,
        on: Channel,
        until: Option<Instant>,
    ) -> Guard<'a, H, R> {
        self.wake(&guard, wakes);
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
