//! The machine that ships, with its wakes edited: a mutant of waking.

use seatrial_core::machine::{Cx, Machine, Step, Wakes};

/// Changes whom a step of a call wakes, knowing the machine as the step left it.
pub(crate) type Edit<M> = fn(&<M as Machine>::Op, &mut Wakes, &M);

/// A machine whose wakes are edited after each step.
pub(crate) struct Edited<M: Machine> {
    pub(crate) machine: M,
    pub(crate) edit: Edit<M>,
}

impl<M: Machine> Machine for Edited<M> {
    type Op = M::Op;
    type Ret = M::Ret;

    fn step(&mut self, op: &mut M::Op, cx: &mut Cx<'_>) -> Step<M::Ret> {
        let step = self.machine.step(op, cx);
        (self.edit)(op, &mut cx.wakes, &self.machine);
        step
    }

    fn cancel(&mut self, op: &mut M::Op, cx: &mut Cx<'_>) {
        self.machine.cancel(op, cx);
        (self.edit)(op, &mut cx.wakes, &self.machine);
    }

    fn assert_valid(&self) {
        self.machine.assert_valid();
    }
}
