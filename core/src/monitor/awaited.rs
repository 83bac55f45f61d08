//! An operation that sleeps without a thread: the inside of all calls that are futures.

use std::task::{Context, Poll, Waker};

use crate::caught::drop_caught;
use crate::machine::{Machine, Operation, Wakes};
use crate::runtime::{Instant, Runtime};

use super::Monitor;
use super::sleepers::{Kind, Sleeper, WaitState};
use super::step::{Ended, Next};

/// An operation that is stepped at every poll, until it ends.
///
/// If it is dropped while it sleeps, it is given up: the machine is told, and a wake-up that was
/// meant for it, or the timer that it holds, goes to another sleeper.
pub(super) struct Awaited<'a, O: Operation<M>, M: Machine, R: Runtime> {
    pub(super) monitor: &'a Monitor<M, R>,
    /// `None` once it has ended.
    op: Option<O>,
    wait: WaitState<R>,
    /// Wakes it at the deadline of its sleep.
    alarm: Option<R::Timer>,
    /// The waker of the poll that ended it with the lock held.
    last: Option<Waker>,
}

impl<'a, O: Operation<M>, M: Machine, R: Runtime> Awaited<'a, O, M, R> {
    #[inline]
    pub(super) fn new(monitor: &'a Monitor<M, R>, op: O) -> Self {
        Self { monitor, op: Some(op), wait: WaitState::new(Kind::Task), alarm: None, last: None }
    }

    pub(super) fn is_asleep(&self) -> bool {
        self.wait.is_asleep()
    }

    /// Steps the operation. After its end it still holds values, so it must be dropped outside the
    /// lock. A call whose work takes several steps ([`Step::again`](crate::machine::Step::again))
    /// makes all of them in one poll; if it were dropped between two of them, a part would be left
    /// undone.
    ///
    /// # Panics
    /// If it has ended, or if the step panics.
    pub(super) fn poll(&mut self, context: &Context<'_>) -> Poll<Ended<'a, O::Ret, M, R>> {
        let runtime = self.monitor.runtime();
        let waker = context.waker().clone(); // foreign code, so outside the lock
        let op = self.op.as_mut().expect("a call that is over is not polled again");
        loop {
            let guard = runtime.lock(&self.monitor.inside);
            match self.monitor.step(guard, op, &mut self.wait, Wakes::default()) {
                Next::Over((None, ret)) => {
                    drop_caught((waker, self.op.take(), self.alarm.take()));
                    return Poll::Ready((None, ret));
                }
                Next::Over(ended) => {
                    self.last = Some(waker);
                    return Poll::Ready(ended);
                }
                Next::Wait { guard, woken, until: Some(Instant::ZERO), .. } => {
                    drop(guard); // others may have it
                    woken.wake();
                    drop_caught(self.wait.spent.take());
                }
                Next::Wait { mut guard, woken, on, until } => {
                    guard.sleepers.enter(on, Sleeper::Task(waker), &mut self.wait);
                    drop(guard);
                    woken.wake();
                    drop_caught(self.wait.spent.take());
                    self.arm(until, context);
                    return Poll::Pending;
                }
            }
        }
    }

    /// Makes sure that the task is polled at its deadline.
    fn arm(&mut self, until: Option<Instant>, context: &Context<'_>) {
        self.alarm = None;
        if let Some(deadline) = until {
            self.alarm = Some(self.monitor.runtime().wake_at(deadline, context.waker().clone()));
        }
    }
}

/// Gives up the operation.
impl<O: Operation<M>, M: Machine, R: Runtime> Drop for Awaited<'_, O, M, R> {
    fn drop(&mut self) {
        if let Some(op) = self.op.as_mut().filter(|_| self.wait.is_asleep()) {
            let guard = self.monitor.runtime().lock(&self.monitor.inside);
            self.monitor.give_up(guard, op, &mut self.wait, Wakes::default());
        }
        drop_caught((self.op.take(), self.last.take()));
    }
}
