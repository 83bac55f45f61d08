//! A machine between whose callers and whose rules somebody stands.

use seatrial_core::machine::{Cx, Machine, Step};

/// A machine whose calls or answers are changed on the way.
pub(crate) struct Changed<M: Machine> {
    pub(crate) machine: M,
    pub(crate) call: fn(&mut M::Op),
    pub(crate) answer: fn(Step<M::Ret>) -> Step<M::Ret>,
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
