//! A call in two halves with foreign code between them.
//!
//! A queue that pops an item, lets the caller process it and only then decides what becomes of it
//! is two operations and a callback. Whether the lock stays held in between is the machine's
//! decision ([`Step::Held`] or [`Step::Done`]); that the second half runs, even if the callback
//! panics, is this module's.

use crate::machine::{Cx, Host, Machine, Operation, Step};
use crate::runtime::Runtime;

use super::{Guard, Monitor};

impl<M: Machine, R: Runtime, H: Host<M>> Monitor<M, R, H> {
    /// Runs `first`, then `body` on its result, then the operation that `body` returned.
    ///
    /// If the machine answered `first` with [`Step::Held`], all three are one critical section and
    /// `body` must not call this monitor. `abandon` is stepped instead of `body`'s operation if
    /// `body` panics.
    ///
    /// # Panics
    /// If `body` does; or if a follow-up operation wants to wait, which is a bug of the machine.
    pub fn around<A: Operation<M>, B: Operation<M>, T>(
        &self,
        mut first: A,
        abandon: B,
        body: impl FnOnce(A::Ret) -> (Option<B>, T),
    ) -> T {
        let mut guard = self.runtime().lock(&self.inside);
        let mut turns = R::TURNS;
        let (held, ret) = loop {
            let mut cx = Cx::new(self.runtime());
            match guard.host.run(&mut first, &mut cx) {
                Step::Done(ret) => {
                    self.unlock(guard, cx.wakes);
                    break (None, ret);
                }
                Step::Held(ret) => {
                    assert!(!cx.wakes.any(), "a held step leaves its wakes to the follow-up");
                    break (Some(guard), ret);
                }
                Step::Wait { on, until } => {
                    guard = self.sleep(guard, cx.wakes, on, until, &mut turns);
                }
            }
        };
        let mut second = Second { monitor: self, held, follow_up: Some(abandon) };
        let (follow_up, out) = body(ret);
        second.follow_up = follow_up;
        drop(second);
        out
    }
}

/// Steps the follow-up when dropped: on the way out of `around`, or on the way of a panic.
struct Second<'a, B: Operation<M>, M: Machine, R: Runtime, H: Host<M>> {
    monitor: &'a Monitor<M, R, H>,
    held: Option<Guard<'a, H, R>>,
    follow_up: Option<B>,
}

impl<B: Operation<M>, M: Machine, R: Runtime, H: Host<M>> Drop for Second<'_, B, M, R, H> {
    fn drop(&mut self) {
        let Some(mut op) = self.follow_up.take() else { return };
        let monitor = self.monitor;
        let mut guard = self.held.take().unwrap_or_else(|| monitor.runtime().lock(&monitor.inside));
        let mut cx = Cx::new(monitor.runtime());
        match guard.host.run(&mut op, &mut cx) {
            Step::Done(ret) => {
                monitor.unlock(guard, cx.wakes);
                drop(ret); // outside the lock: a result may hold foreign values
            }
            Step::Held(_) | Step::Wait { .. } => {
                panic!("a follow-up operation is done in one step")
            }
        }
    }
}
