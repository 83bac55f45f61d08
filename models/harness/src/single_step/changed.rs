//! A machine with a layer between its callers and its rules.

use seatrial_core::machine::{Cx, Machine, Step};

/// A machine whose calls or answers are changed on the way.
#[derive(Debug)]
pub struct Changed<M: Machine> {
    /// The rules.
    pub machine: M,
    /// Changes a call before the rules see it.
    pub call: fn(&mut M::Op),
    /// Changes what the rules answer.
    pub answer: fn(Step<M::Ret>) -> Step<M::Ret>,
}

impl<M: Machine<Op: Clone>> Machine for Changed<M> {
    type Op = M::Op;
    type Ret = M::Ret;

    fn step(&mut self, op: &mut M::Op, cx: &mut Cx<'_>) -> Step<M::Ret> {
        let mut changed = op.clone();
        (self.call)(&mut changed);
        (self.answer)(self.machine.step(&mut changed, cx))
    }

    fn assert_valid(&self) {
        self.machine.assert_valid();
    }
}
