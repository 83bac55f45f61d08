//! A call in two halves with foreign code between them.
//!
//! A queue that pops an item, lets the caller process it and only then decides about it is two
//! operations and a callback. The machine decides whether the lock stays held in between
//! ([`Step::Held`] or [`Step::Done`]). This module makes sure that the second half runs, even if
//! the callback panics.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use crate::caught::{discard, drop_caught, pass_on};
use crate::machine::{Machine, Operation, Step};
use crate::runtime::Runtime;

use super::awaited::Awaited;
use super::step::Ended;
use super::{Guard, Monitor};

impl<M: Machine, R: Runtime> Monitor<M, R> {
    /// Runs `first`, then `body` on its result, then the operation that `body` returned.
    ///
    /// If the machine answers `first` with [`Step::Held`], all three are one critical section and
    /// `body` must not call this monitor. If `body` panics, `abandon` is stepped instead of its
    /// operation; if the step of that operation panics, `abandon` is stepped after it.
    ///
    /// # Panics
    /// If `body` or a step panics, or if a follow-up operation wants to wait, which is a bug of the
    /// machine.
    pub fn around<A: Operation<M>, B: Operation<M>, T>(
        &self,
        mut first: A,
        abandon: B,
        body: impl FnOnce(A::Ret) -> (Option<B>, T),
    ) -> T {
        let ended = self.run(&mut first);
        let out = self.finish(ended, abandon, body);
        drop_caught(first);
        out
    }

    /// As [`around`](Self::around), for a task, on any executor. It sleeps only before `first`
    /// ends: `body` runs within one poll.
    #[inline]
    pub fn around_async<A, B, T, F>(
        &self,
        first: A,
        abandon: B,
        body: F,
    ) -> Around<'_, A, B, F, M, R>
    where
        A: Operation<M>,
        B: Operation<M>,
        F: FnOnce(A::Ret) -> (Option<B>, T),
    {
        Around(Some(Halves { first: Awaited::new(self, first), abandon, body }))
    }

    /// Runs everything after the first half.
    #[inline(always)]
    fn finish<'a, B: Operation<M>, Ret, T>(
        &'a self,
        (held, ret): Ended<'a, Ret, M, R>,
        abandon: B,
        body: impl FnOnce(Ret) -> (Option<B>, T),
    ) -> T {
        let follow_up = Some(abandon.clone());
        let mut second = Second { monitor: self, held, follow_up, abandon };
        let (follow_up, out) = body(ret);
        second.follow_up = follow_up;
        drop(second);
        out
    }
}

/// A call in two halves that waits without a thread; made by [`Monitor::around_async`].
///
/// Nothing happens until it is polled. If it is dropped before its first half has ended, that half
/// is given up as a [`Call`](super::Call) is, and `body` never runs.
#[must_use = "a future does nothing unless it is polled"]
pub struct Around<'a, A: Operation<M>, B, F, M: Machine, R: Runtime>(
    /// `None` once it is over.
    Option<Halves<'a, A, B, F, M, R>>,
);

struct Halves<'a, A: Operation<M>, B, F, M: Machine, R: Runtime> {
    first: Awaited<'a, A, M, R>,
    abandon: B,
    body: F,
}

/// Nothing in it is ever pinned, so it may move.
impl<A: Operation<M>, B, F, M: Machine, R: Runtime> Unpin for Around<'_, A, B, F, M, R> {}

impl<A, B, F, T, M, R> Future for Around<'_, A, B, F, M, R>
where
    A: Operation<M>,
    B: Operation<M>,
    F: FnOnce(A::Ret) -> (Option<B>, T),
    M: Machine,
    R: Runtime,
{
    type Output = T;

    /// # Panics
    /// If it is over, if `body` panics, or if a follow-up operation wants to wait, which is a bug
    /// of the machine.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        const OVER: &str = "a call that is over is not polled again";
        let halves = &mut self.get_mut().0;
        let ended = ready!(halves.as_mut().expect(OVER).first.poll(context));
        let Halves { first, abandon, body } = halves.take().expect(OVER);
        let out = first.monitor.finish(ended, abandon, body);
        drop_caught(first); // last, so without the lock
        Poll::Ready(out)
    }
}

impl<A: Operation<M>, B, F, M: Machine, R: Runtime> fmt::Debug for Around<'_, A, B, F, M, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asleep = self.0.as_ref().is_some_and(|halves| halves.first.is_asleep());
        f.debug_struct("Around").field("asleep", &asleep).finish_non_exhaustive()
    }
}

/// Steps the follow-up when dropped, at the end of `around` or during a panic.
struct Second<'a, B: Operation<M>, M: Machine, R: Runtime> {
    monitor: &'a Monitor<M, R>,
    held: Option<Guard<'a, M, R>>,
    follow_up: Option<B>,
    /// Ends the first half if the follow-up panics, which may happen because it compares keys.
    abandon: B,
}

impl<B: Operation<M>, M: Machine, R: Runtime> Drop for Second<'_, B, M, R> {
    fn drop(&mut self) {
        let Some(mut op) = self.follow_up.take() else { return };
        let monitor = self.monitor;
        let mut guard = self.held.take().unwrap_or_else(|| monitor.runtime().lock(&monitor.inside));
        let (mut ended, mut wakes) = monitor.attempt(&mut guard, &mut op, false);
        let mut panic = None;
        if let Err(first) = ended {
            panic = Some(first);
            let also;
            (ended, also) = monitor.attempt(&mut guard, &mut self.abandon, false);
            wakes = wakes.and(also);
        }
        monitor.unlock(guard, wakes);
        match ended {
            Ok(Step::Done(ret)) => drop_caught((op, ret)), // they may hold foreign values
            Ok(Step::Held(_) | Step::Wait { .. }) => {
                panic!("a follow-up operation is done in one step")
            }
            Err(second) if panic.is_some() => discard(second),
            Err(second) => panic = Some(second),
        }
        pass_on(panic);
    }
}
