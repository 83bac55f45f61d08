//! An operation that sleeps without a thread: what all calls that are futures have inside.

use std::task::{Context, Poll, Waker};

use crate::machine::{Channel, Cx, Host, Machine, Operation, Step};
use crate::runtime::{Instant, Runtime};

use super::tasks::Place;
use super::{Guard, Inside, Monitor};

/// An operation that is stepped whenever it is polled, until it ends.
///
/// One that is dropped while it sleeps is given up: the machine is told, and a wake-up that was
/// meant for it goes to somebody else.
pub(super) struct Awaited<'a, O: Operation<M>, M: Machine, R: Runtime, H: Host<M>> {
    pub(super) monitor: &'a Monitor<M, R, H>,
    /// `None` once it has ended.
    op: Option<O>,
    /// Where it sleeps; `None` before its first step and after its last.
    asleep: Option<(Place, Channel)>,
    /// Wakes it at the deadline of its sleep.
    alarm: Option<R::Timer>,
    /// The waker that it slept with last; foreign code, so dropped without the lock.
    spent: Option<Waker>,
}

/// How an operation ended: with what it returned, and with the lock if the machine keeps that.
pub(super) type Ended<'a, Ret, R, H> = (Option<Guard<'a, H, R>>, Ret);

impl<'a, O: Operation<M>, M: Machine, R: Runtime, H: Host<M>> Awaited<'a, O, M, R, H> {
    #[inline]
    pub(super) fn new(monitor: &'a Monitor<M, R, H>, op: O) -> Self {
        Self { monitor, op: Some(op), asleep: None, alarm: None, spent: None }
    }

    pub(super) fn is_asleep(&self) -> bool {
        self.asleep.is_some()
    }

    /// Steps the operation. What is left of it once it has ended drops with it, so it must be
    /// dropped without the lock.
    ///
    /// # Panics
    /// If it has ended.
    pub(super) fn poll(&mut self, context: &Context<'_>) -> Poll<Ended<'a, O::Ret, R, H>> {
        let runtime = self.monitor.runtime();
        let waker = context.waker().clone(); // foreign code, so outside the lock
        let op = self.op.as_mut().expect("a call that is over is not polled again");
        let mut guard = runtime.lock(&self.monitor.inside);
        // Whoever is polled looks for itself: it is out of the list.
        let old = self.asleep.take().and_then(|(place, _)| guard.leave(place));
        let mut cx = Cx::new(runtime);
        match guard.host.run(op, &mut cx) {
            Step::Done(ret) => {
                self.monitor.unlock(guard, cx.wakes);
                drop((old, self.op.take(), self.alarm.take()));
                Poll::Ready((None, ret))
            }
            Step::Held(ret) => {
                assert!(!cx.wakes.any(), "a held step leaves its wakes to the follow-up");
                self.spent = old;
                Poll::Ready((Some(guard), ret))
            }
            Step::Wait { on, until } => {
                let woken = self.monitor.wake_sleepers(&mut guard, cx.wakes);
                self.asleep = Some((guard.tasks.enter(on, waker.clone()), on));
                guard.asleep_anywhere += 1;
                drop(guard);
                woken.wake();
                drop(old);
                self.arm(until, waker);
                Poll::Pending
            }
        }
    }

    /// Makes sure that the task is polled at its deadline.
    fn arm(&mut self, until: Option<Instant>, waker: Waker) {
        self.alarm = None;
        if let Some(deadline) = until.filter(|deadline| *deadline != Instant::NEVER) {
            self.alarm = Some(self.monitor.runtime().wake_at(deadline, waker));
        }
    }
}

/// Gives the operation up.
impl<O: Operation<M>, M: Machine, R: Runtime, H: Host<M>> Drop for Awaited<'_, O, M, R, H> {
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

impl<H> Inside<H> {
    /// Takes a task out of the sleepers; `None` if it was woken.
    fn leave(&mut self, place: Place) -> Option<Waker> {
        let waker = self.tasks.leave(place)?;
        self.asleep_anywhere -= 1;
        Some(waker)
    }
}
