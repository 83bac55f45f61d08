//! Two calls in one critical section.
//!
//! A worker that ends one item and takes the next locks once for both. The machine does not know of
//! this: it steps one call and then the other, and a harness sees two calls with none between them.

use std::panic::resume_unwind;

use crate::caught::drop_caught;
use crate::machine::{Machine, Operation, Step};
use crate::runtime::Runtime;

use super::step::Next;
use super::{Monitor, Thread};

impl<M: Machine, R: Runtime> Monitor<M, R> {
    /// Runs a call that does not wait, and another one to its end. No other call comes between
    /// them, unless the second has to wait. Returns the result of the second.
    ///
    /// The result of the first drops outside the lock, before the second sleeps.
    ///
    /// # Panics
    /// If a step panics, if the first wants to wait, or if the machine answers [`Step::Held`],
    /// which only [`around`](Self::around) can handle.
    #[inline(always)]
    pub fn call_then<A: Operation<M>, B: Operation<M>>(
        &self,
        mut first: A,
        mut second: B,
    ) -> B::Ret {
        let mut guard = self.runtime().lock(&self.inside);
        let (ended, wakes) = self.attempt(&mut guard, &mut first, false);
        let ended = match ended {
            Ok(Step::Done(ended)) => ended,
            Ok(Step::Held(_) | Step::Wait { .. }) => panic!("a call in a row returns at once"),
            Err(panic) => {
                self.unlock(guard, wakes);
                resume_unwind(panic);
            }
        };
        let mut thread = Thread::new(&self.runtime);
        let next = self.step(guard, &mut second, &mut thread.wait, wakes);
        match next {
            Next::Over(over) => {
                drop_caught((first, ended));
                self.over(second, over)
            }
            Next::Wait { guard, woken, .. } => {
                drop(guard);
                woken.wake();
                drop_caught((first, ended));
                let over = self.go_on(&mut second, thread); // a waiting step may be repeated
                self.over(second, over)
            }
        }
    }
}
