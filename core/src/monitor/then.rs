//! Two calls in one critical section.
//!
//! Whoever ends one thing and begins the next, as a worker does all day, locks once for both. The
//! machine knows nothing of it: it steps one call and then the other, and a harness sees two calls
//! that nobody came between.

use std::mem::{ManuallyDrop, take};

use crate::machine::{Cx, Host, Machine, Operation, Step};
use crate::runtime::Runtime;

use super::{Monitor, held_call};

impl<M: Machine, R: Runtime, H: Host<M>> Monitor<M, R, H> {
    /// Runs a call that returns at once, and another to its end, with nobody between them unless
    /// the second has to wait. Returns what the second does.
    ///
    /// What the first returns drops without the lock, and before the second sleeps.
    ///
    /// # Panics
    /// If the first wants to wait; or if the machine answers [`Step::Held`], which only
    /// [`around`](Self::around) can keep.
    #[inline(always)]
    pub fn call_then<A: Operation<M>, B: Operation<M>>(&self, first: A, second: B) -> B::Ret {
        // They leak where a step panics, and need no address: see `call`.
        let (mut first, mut second) = (ManuallyDrop::new(first), ManuallyDrop::new(second));
        let mut guard = self.runtime().lock(&self.inside);
        let mut cx = Cx::new(self.runtime());
        let ended = match guard.host.run(&mut *first, &mut cx) {
            Step::Done(ended) => ManuallyDrop::new(ended),
            Step::Held(_) | Step::Wait { .. } => panic!("a call in a row returns at once"),
        };
        let woken = take(&mut cx.wakes);
        match guard.host.run(&mut *second, &mut cx) {
            Step::Done(ret) => {
                let ret = ManuallyDrop::new(ret);
                self.unlock(guard, woken.and(cx.wakes));
                ManuallyDrop::into_inner(first).leave();
                drop(ManuallyDrop::into_inner(ended));
                ManuallyDrop::into_inner(second).leave();
                ManuallyDrop::into_inner(ret)
            }
            Step::Wait { .. } => {
                self.unlock(guard, woken.and(cx.wakes));
                drop((ManuallyDrop::into_inner(first), ManuallyDrop::into_inner(ended)));
                self.call(ManuallyDrop::into_inner(second)) // a step that waits may be repeated
            }
            Step::Held(ret) => held_call(ret),
        }
    }
}
