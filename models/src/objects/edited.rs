//! Bugs of waking: the machine that ships, with the result of its steps edited.

use seatrial_core::machine::{Cx, Machine, Step, Wakes};

/// Changes what a step decided, or whom it woke, after the step. The call is seen as it was
/// before, the machine as it is now.
pub(crate) type Edit<M> = fn(&<M as Machine>::Op, &mut Step<<M as Machine>::Ret>, &mut Wakes, &M);

/// A machine whose steps are edited.
pub(crate) struct Edited<M: Machine> {
    pub(crate) machine: M,
    pub(crate) edit: Edit<M>,
}

impl<M: Machine<Op: Clone>> Machine for Edited<M> {
    type Op = M::Op;
    type Ret = M::Ret;

    fn step(&mut self, op: &mut M::Op, cx: &mut Cx<'_>) -> Step<M::Ret> {
        let called = op.clone();
        let mut step = self.machine.step(op, cx);
        (self.edit)(&called, &mut step, &mut cx.wakes, &self.machine);
        step
    }

    fn cancel(&mut self, op: &mut M::Op, cx: &mut Cx<'_>) {
        self.machine.cancel(op, cx);
    }

    fn assert_valid(&self) {
        self.machine.assert_valid();
    }
}
