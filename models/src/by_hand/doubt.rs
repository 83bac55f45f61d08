//! Doubts a property: it must notice a machine with a mistake.

use std::panic::{AssertUnwindSafe, catch_unwind};

use seatrial_core::machine::{Cx, Machine, Step};

use crate::engine::quietly;

/// A machine whose calls or answers are changed on the way.
pub(crate) struct Mistaken<M: Machine> {
    pub(crate) machine: M,
    pub(crate) call: fn(&mut M::Op),
    pub(crate) answer: fn(Step<M::Ret>) -> Step<M::Ret>,
}

impl<M: Machine<Op: Clone>> Machine for Mistaken<M> {
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

/// Tells whether a property fails on one of many random inputs.
pub(crate) fn notices(property: impl Fn(&[u8])) -> bool {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    (0..2000).any(|_| {
        let bytes: Vec<u8> = (0..90)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 32) as u8
            })
            .collect();
        quietly(|| catch_unwind(AssertUnwindSafe(|| property(&bytes))).is_err())
    })
}
