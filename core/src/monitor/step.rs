//! One critical section of a call, by a thread or by a task.
//!
//! A step compares and copies keys, which is foreign code and may panic. Sleepers that it has named
//! by then are woken in any case. A wake-up or a timer of the call goes to another sleeper, which
//! finds whatever this call has not taken.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::caught::drop_caught;
use crate::machine::{Channel, Cx, Host, Machine, Operation, Passed, Step, Wakes};
use crate::runtime::{Instant, Panic, Runtime};

use super::sleepers::{WaitState, Woken};
use super::{Guard, Monitor};

/// The end of an operation: its result, and the lock if the machine keeps it.
pub(super) type Ended<'a, Ret, M, R> = (Option<Guard<'a, M, R>>, Ret);

/// The next thing to do after a step.
pub(super) enum Next<'a, Ret, M: Machine, R: Runtime> {
    Over(Ended<'a, Ret, M, R>),
    /// Wake these sleepers, then sleep or look again.
    Wait {
        guard: Guard<'a, M, R>,
        woken: Woken<R>,
        on: Channel,
        until: Option<Instant>,
    },
}

impl<M: Machine, R: Runtime> Monitor<M, R> {
    /// Steps an operation and does everything up to the point where it would sleep. `also` are
    /// sleepers to wake in addition to those that the step names.
    ///
    /// # Panics
    /// If the step panics; then the call is given up.
    #[inline(always)]
    pub(super) fn step<'a, O: Operation<M>>(
        &'a self,
        mut guard: Guard<'a, M, R>,
        op: &mut O,
        wait: &mut WaitState<R>,
        also: Wakes,
    ) -> Next<'a, O::Ret, M, R> {
        let woken = guard.sleepers.was_woken(wait);
        let (stepped, named) = self.attempt(&mut guard, op, woken);
        let wakes = also.and(named);
        match stepped {
            Ok(Step::Done(ret)) => {
                guard.sleepers.leave(wait);
                Self::pass_timer_on(&mut guard, wait, Passed::Timer);
                self.unlock(guard, wakes);
                if let Some(spent) = wait.spent.take() {
                    drop_caught(spent);
                }
                Next::Over((None, ret))
            }
            Ok(Step::Held(ret)) => {
                guard.sleepers.leave(wait);
                assert!(!wakes.any(), "a held step leaves its wakes to the follow-up");
                Next::Over((Some(guard), ret))
            }
            Ok(Step::Wait { on, until }) => {
                let (woken, until) =
                    self.settle_down(&mut guard, wait, wakes, on, until, O::SHARES_TIME);
                Next::Wait { guard, woken, on, until }
            }
            Err(panic) => {
                self.give_up(guard, op, wait, wakes);
                resume_unwind(panic);
            }
        }
    }

    /// Steps an operation. Returns the sleepers that it named, even if it panicked.
    #[inline(always)]
    pub(super) fn attempt<O: Operation<M>>(
        &self,
        guard: &mut Guard<'_, M, R>,
        op: &mut O,
        woken: bool,
    ) -> (Result<Step<O::Ret>, Panic>, Wakes) {
        let mut cx = Cx::after_sleep(self.runtime(), woken);
        let stepped = catch_unwind(AssertUnwindSafe(|| guard.host.run(op, &mut cx)));
        guard.sleepers.keep(cx.left);
        (stepped, cx.wakes)
    }

    /// Wakes the sleepers that a waiting step named, and determines its deadline. This code is
    /// shared by all operations of a machine, because there are many.
    #[cold]
    #[inline(never)]
    fn settle_down(
        &self,
        guard: &mut Guard<'_, M, R>,
        wait: &mut WaitState<R>,
        mut wakes: Wakes,
        on: Channel,
        until: Option<Instant>,
        shares_time: bool,
    ) -> (Woken<R>, Option<Instant>) {
        let mut until = until.filter(|until| *until != Instant::NEVER);
        // A call that only wants another step at once needs no timer.
        let again = until == Some(Instant::ZERO);
        if shares_time && !again {
            until = guard.sleepers.time(on, until, wait);
        }
        if wakes.get(on) > 0 || again {
            // The call leaves its line, so that it does not wake itself in place of another. If it
            // only asks for another step, it passes its wake-up on: another finds the item if this
            // call is given up.
            let woken_on = guard.sleepers.leave(wait);
            if again {
                Self::pass_wake_up_on(guard, woken_on, &mut wakes);
            }
        }
        (guard.sleepers.wake(self.runtime(), wakes), until)
    }

    /// Ends a call that will not look again, and passes its wake-up on.
    #[cold]
    #[inline(never)]
    pub(super) fn give_up<O: Operation<M>>(
        &self,
        mut guard: Guard<'_, M, R>,
        op: &mut O,
        wait: &mut WaitState<R>,
        mut wakes: Wakes,
    ) {
        if wait.is_asleep() {
            let mut cx = Cx::new(self.runtime());
            let told = catch_unwind(AssertUnwindSafe(|| guard.host.give_up(op, &mut cx)));
            wakes = wakes.and(cx.wakes);
            cx.left.extend(told.err());
            guard.sleepers.keep(cx.left);
        }
        self.leave(guard, wait, wakes);
    }

    /// Ends a call, and leaves its wake-up, its timer and its wakes to others. This code is shared
    /// by all operations of a machine.
    #[cold]
    #[inline(never)]
    fn leave(&self, mut guard: Guard<'_, M, R>, wait: &mut WaitState<R>, mut wakes: Wakes) {
        guard.sleepers.was_woken(wait); // or it might not know that it was given the timer
        let woken_on = guard.sleepers.leave(wait);
        Self::pass_wake_up_on(&mut guard, woken_on, &mut wakes);
        Self::pass_timer_on(&mut guard, wait, Passed::TimerGivenUp);
        self.unlock(guard, wakes);
        if let Some(spent) = wait.spent.take() {
            drop_caught(spent);
        }
    }

    /// Wakes another sleeper in place of a call that was woken on this channel.
    fn pass_wake_up_on(guard: &mut Guard<'_, M, R>, woken_on: Option<Channel>, wakes: &mut Wakes) {
        if let Some(on) = woken_on
            && guard.host.passes_on(Passed::WakeUp)
        {
            wakes.one(on);
        }
    }

    /// If the call held the timer, has another one of its kind find the next deadline.
    #[inline]
    fn pass_timer_on(guard: &mut Guard<'_, M, R>, wait: &mut WaitState<R>, what: Passed) {
        if let Some(on) = guard.sleepers.drop_timer(wait)
            && guard.host.passes_on(what)
        {
            guard.sleepers.give_timer(on, wait.kind());
        }
    }
}
