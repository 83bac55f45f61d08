//! A call as a future.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use crate::machine::{Machine, Operation};
use crate::runtime::Runtime;

use super::awaited::Awaited;
use super::{Monitor, held_call};

/// A call that waits without a thread; made by [`Monitor::call_async`].
///
/// Nothing happens until it is polled. A call that is dropped before its end is given up: the
/// machine is told, and a wake-up that was meant for it goes to another sleeper.
#[must_use = "a future does nothing unless it is polled"]
pub struct Call<'a, O: Operation<M>, M: Machine, R: Runtime>(Awaited<'a, O, M, R>);

/// Nothing in it is ever pinned, so it may move.
impl<O: Operation<M>, M: Machine, R: Runtime> Unpin for Call<'_, O, M, R> {}

impl<M: Machine, R: Runtime> Monitor<M, R> {
    /// Makes a call that a task may await, on any executor. It sleeps as often as the machine says.
    #[inline]
    pub fn call_async<O: Operation<M>>(&self, op: O) -> Call<'_, O, M, R> {
        Call(Awaited::new(self, op))
    }
}

impl<O: Operation<M>, M: Machine, R: Runtime> Future for Call<'_, O, M, R> {
    type Output = O::Ret;

    /// # Panics
    /// If the call is over, if a step panics, or if the machine answers [`Step::Held`], which only
    /// [`around_async`](Monitor::around_async) can handle.
    ///
    /// [`Step::Held`]: crate::machine::Step::Held
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<O::Ret> {
        match ready!(self.get_mut().0.poll(context)) {
            (None, ret) => Poll::Ready(ret),
            (Some(_held), ret) => held_call(ret),
        }
    }
}

impl<O: Operation<M>, M: Machine, R: Runtime> fmt::Debug for Call<'_, O, M, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("asleep", &self.0.is_asleep()).finish_non_exhaustive()
    }
}
