//! One critical section of a call, by a thread or by a task.
//!
//! A step compares and copies keys, which is foreign code and may panic. Whom it has named by then
//! is woken all the same; a wake-up or a timer that the call had goes to somebody else, who finds
//! what this call has not taken.

use std::mem::needs_drop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::caught::discard;
use crate::machine::{Channel, Cx, Host, Machine, Operation, Passed, Step, Wakes};
use crate::runtime::{Instant, Panic, Runtime};

use super::sleepers::{Stay, Woken};
use super::{Guard, Monitor};

/// How an operation ended: with what it returned, and with the lock if the machine keeps that.
pub(super) type Ended<'a, Ret, H, R> = (Option<Guard<'a, H, R>>, Ret);

/// What comes after a step.
pub(super) enum Next<'a, Ret, H: Send + 'static, R: Runtime> {
    Over(Ended<'a, Ret, H, R>),
    /// Wake those, then sleep or look again.
    Wait {
        guard: Guard<'a, H, R>,
        woken: Woken<R>,
        on: Channel,
        until: Option<Instant>,
    },
}

impl<M: Machine, R: Runtime, H: Host<M>> Monitor<M, R, H> {
    /// Steps an operation and does what it says, up to the point where it would sleep. `also` is
    /// whom to wake beside those whom the step names.
    ///
    /// # Panics
    /// If the step does; the call is given up then.
    #[inline(always)]
    pub(super) fn step<'a, O: Operation<M>>(
        &'a self,
        mut guard: Guard<'a, H, R>,
        op: &mut O,
        stay: &mut Stay<R>,
        also: Wakes,
    ) -> Next<'a, O::Ret, H, R> {
        let woken = guard.sleepers.was_woken(stay);
        let (stepped, named) = self.attempt(&mut guard, op, woken);
        let wakes = also.and(named);
        match stepped {
            Ok(Step::Done(ret)) => {
                guard.sleepers.leave(stay);
                Self::pass_timer_on(&mut guard, stay);
                self.unlock(guard, wakes);
                if let Some(spent) = stay.spent.take() {
                    drop_caught(spent);
                }
                Next::Over((None, ret))
            }
            Ok(Step::Held(ret)) => {
                guard.sleepers.leave(stay);
                assert!(!wakes.any(), "a held step leaves its wakes to the follow-up");
                Next::Over((Some(guard), ret))
            }
            Ok(Step::Wait { on, until }) => {
                let (woken, until) =
                    self.settle_down(&mut guard, stay, wakes, on, until, O::SHARES_TIME);
                Next::Wait { guard, woken, on, until }
            }
            Err(panic) => {
                self.give_up(guard, op, stay, wakes);
                resume_unwind(panic);
            }
        }
    }

    /// Steps an operation. Returns whom it named, also if it panicked.
    #[inline(always)]
    pub(super) fn attempt<O: Operation<M>>(
        &self,
        guard: &mut Guard<'_, H, R>,
        op: &mut O,
        woken: bool,
    ) -> (Result<Step<O::Ret>, Panic>, Wakes) {
        let mut cx = Cx::after_sleep(self.runtime(), woken);
        let stepped = catch_unwind(AssertUnwindSafe(|| guard.host.run(op, &mut cx)));
        guard.sleepers.keep(cx.left);
        (stepped, cx.wakes)
    }

    /// Wakes whom a step named that waits, and finds out until when. It is the same code for all
    /// operations of a machine, of which there are many.
    #[cold]
    #[inline(never)]
    fn settle_down(
        &self,
        guard: &mut Guard<'_, H, R>,
        stay: &mut Stay<R>,
        mut wakes: Wakes,
        on: Channel,
        until: Option<Instant>,
        shares_time: bool,
    ) -> (Woken<R>, Option<Instant>) {
        let mut until = until.filter(|until| *until != Instant::NEVER);
        // Who only wants to be stepped again, now, sleeps for nothing that others could do for it.
        let again = until == Some(Instant::ZERO);
        if shares_time && !again {
            until = guard.sleepers.time(on, until, stay);
        }
        if wakes.get(on) > 0 || again {
            // It does not wake itself in place of somebody else. One that has not looked at all yet
            // leaves what it was woken for to another, who finds it if this call is given up.
            let woken_on = guard.sleepers.leave(stay);
            if again {
                Self::pass_wake_up_on(guard, woken_on, &mut wakes);
            }
        }
        (guard.sleepers.wake(self.runtime(), wakes), until)
    }

    /// Ends a call that does not look any more, and passes its wake-up on to another.
    #[cold]
    #[inline(never)]
    pub(super) fn give_up<O: Operation<M>>(
        &self,
        mut guard: Guard<'_, H, R>,
        op: &mut O,
        stay: &mut Stay<R>,
        mut wakes: Wakes,
    ) {
        if stay.is_asleep() {
            let mut cx = Cx::new(self.runtime());
            let told = catch_unwind(AssertUnwindSafe(|| guard.host.give_up(op, &mut cx)));
            wakes = wakes.and(cx.wakes);
            cx.left.extend(told.err());
            guard.sleepers.keep(cx.left);
        }
        self.leave(guard, stay, wakes);
    }

    /// Goes away, and leaves what the call was woken for, its timer and its wakes to others. It is the
    /// same code for all operations of a machine.
    #[cold]
    #[inline(never)]
    fn leave(&self, mut guard: Guard<'_, H, R>, stay: &mut Stay<R>, mut wakes: Wakes) {
        guard.sleepers.was_woken(stay); // or it might not know that it was given the timer
        let woken_on = guard.sleepers.leave(stay);
        Self::pass_wake_up_on(&mut guard, woken_on, &mut wakes);
        Self::pass_timer_on(&mut guard, stay);
        self.unlock(guard, wakes);
        if let Some(spent) = stay.spent.take() {
            drop_caught(spent);
        }
    }

    /// Has one other look at what a call was woken for on this channel.
    fn pass_wake_up_on(guard: &mut Guard<'_, H, R>, woken_on: Option<Channel>, wakes: &mut Wakes) {
        if let Some(on) = woken_on
            && guard.host.passes_on(Passed::WakeUp)
        {
            wakes.one(on);
        }
    }

    /// Has another of its kind look when to wake next, if the call held the timer.
    #[inline]
    fn pass_timer_on(guard: &mut Guard<'_, H, R>, stay: &mut Stay<R>) {
        if let Some(on) = guard.sleepers.drop_timer(stay)
            && guard.host.passes_on(Passed::Timer)
        {
            guard.sleepers.give_timer(on, stay.kind());
        }
    }
}

/// Drops what a call leaves behind, without the lock. If that panics, the caller still gets what
/// the call returned; the hook of the process has reported it.
#[inline(always)]
pub(super) fn drop_caught<T>(value: T) {
    if needs_drop::<T>()
        && let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value)))
    {
        discard(panic);
    }
}
