//! The machine that ships, with its wakes or its answers edited: a mutant of waking, or of telling.

use seatrial_core::machine::{Channel, Cx, Machine, Step, Wakes};

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

/// Keeps a number of wakes at most on a channel.
pub(crate) fn keep_at_most(wakes: &mut Wakes, channel: Channel, most: u16) {
    wakes.set(channel, wakes.get(channel).min(most));
}

/// Makes an [`Edit`]: calls of a kind wake so many on a channel at most.
macro_rules! at_most {
    ($most:literal, $channel:expr, $call:pat) => {
        |op, wakes, _| {
            if matches!(op, $call) {
                $crate::trial::keep_at_most(wakes, $channel, $most);
            }
        }
    };
}

pub(crate) use at_most;

/// Changes what a call is told, knowing the machine as the step left it.
pub(crate) type Retell<M> = fn(&mut Step<<M as Machine>::Ret>, &M);

/// A machine whose answers are edited.
pub(crate) struct Retold<M: Machine> {
    pub(crate) machine: M,
    pub(crate) retell: Retell<M>,
}

impl<M: Machine> Machine for Retold<M> {
    type Op = M::Op;
    type Ret = M::Ret;

    fn step(&mut self, op: &mut M::Op, cx: &mut Cx<'_>) -> Step<M::Ret> {
        let mut step = self.machine.step(op, cx);
        (self.retell)(&mut step, &self.machine);
        step
    }

    fn cancel(&mut self, op: &mut M::Op, cx: &mut Cx<'_>) {
        self.machine.cancel(op, cx);
    }

    fn assert_valid(&self) {
        self.machine.assert_valid();
    }
}
