//! A call as a future.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::machine::{Channel, Cx, Host, Machine, Operation, Step};
use crate::runtime::{Instant, Runtime};

use super::tasks::Place;
use super::{Inside, Monitor, held_call};

/// A call that waits without a thread; made by [`Monitor::call_async`].
///
/// Nothing happens until it is polled. A call that is dropped before its end is given up: the
/// machine is told, and a wake-up that was meant for it goes to somebody else.
#[must_use = "a future does nothing unless it is polled"]
pub struct Call<'a, O: Operation<M>, M: Machine, R: Runtime, H: Host<M> = M> {
    monitor: &'a Monitor<M, R, H>,
    /// `None` once the call is over.
    op: Option<O>,
    /// Where it sleeps; `None` before its first step and after its last.
    asleep: Option<(Place, Channel)>,
    /// Wakes it at the deadline of its sleep.
    alarm: Option<R::Timer>,
}

/// Nothing in it is ever pinned.
impl<O: Operation<M>, M: Machine, R: Runtime, H: Host<M>> Unpin for Call<'_, O, M, R, H> {}

impl<M: Machine, R: Runtime, H: Host<M>> Monitor<M, R, H> {
    /// Makes a call that a task may await, on any executor. It sleeps as often as the machine says.
    #[inline]
    pub fn call_async<O: Operation<M>>(&self, op: O) -> Call<'_, O, M, R, H> {
        Call { monitor: self, op: Some(op), asleep: None, alarm: None }
    }
}

impl<H> Inside<H> {
    /// Takes a task out of the sleepers; `None` if it was woken.
    fn leave(&mut self, place: Place) -> Option<Waker> {
        let waker = self.tasks.leave(place)?;
        self.asleep_anywhere -= 1;
        Some(waker)
    }
}

impl<O: Operation<M>, M: Machine, R: Runtime, H: Host<M>> Future for Call<'_, O, M, R, H> {
    type Output = O::Ret;

    /// # Panics
    /// If the call is over; or if the machine answers [`Step::Held`], which only
    /// [`around`](Monitor::around) can keep.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<O::Ret> {
        let this = self.get_mut();
        let runtime = this.monitor.runtime();
        let waker = context.waker().clone(); // foreign code, so outside the lock
        let op = this.op.as_mut().expect("a call that is over is not polled again");
        let mut guard = runtime.lock(&this.monitor.inside);
        // Whoever is polled looks for itself: it is out of the list, and drops the old waker below.
        let old = this.asleep.take().and_then(|(place, _)| guard.leave(place));
        let mut cx = Cx::new(runtime);
        let step = guard.host.run(op, &mut cx);
        match step {
            Step::Done(ret) => {
                this.monitor.unlock(guard, cx.wakes);
                drop((old, this.op.take(), this.alarm.take()));
                Poll::Ready(ret)
            }
            Step::Wait { on, until } => {
                let woken = this.monitor.wake_sleepers(&mut guard, cx.wakes);
                this.asleep = Some((guard.tasks.enter(on, waker.clone()), on));
                guard.asleep_anywhere += 1;
                drop(guard);
                woken.wake();
                drop(old);
                this.arm(until, waker);
                Poll::Pending
            }
            Step::Held(ret) => held_call(ret),
        }
    }
}

impl<O: Operation<M>, M: Machine, R: Runtime, H: Host<M>> Call<'_, O, M, R, H> {
    /// Makes sure that the task is polled at its deadline.
    fn arm(&mut self, until: Option<Instant>, waker: Waker) {
        self.alarm = None;
        if let Some(deadline) = until.filter(|deadline| *deadline != Instant::NEVER) {
            self.alarm = Some(self.monitor.runtime().wake_at(deadline, waker));
        }
    }
}

/// Gives the call up.
impl<O: Operation<M>, M: Machine, R: Runtime, H: Host<M>> Drop for Call<'_, O, M, R, H> {
    fn drop(&mut self) {
        let (Some(op), Some((place, on))) = (self.op.as_mut(), self.asleep.take()) else { return };
        let monitor = self.monitor;
        let mut guard = monitor.runtime().lock(&monitor.inside);
        let old = guard.leave(place);
        let mut cx = Cx::new(monitor.runtime());
        if old.is_none() {
            cx.wakes.one(on); // it was woken, and does not look: somebody else must
        }
        guard.host.give_up(op, &mut cx);
        monitor.unlock(guard, cx.wakes);
        drop(old);
    }
}

impl<O: Operation<M>, M: Machine, R: Runtime, H: Host<M>> fmt::Debug for Call<'_, O, M, R, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("asleep", &self.asleep.is_some()).finish_non_exhaustive()
    }
}
