//! The machine of a component that has none.

use std::convert::Infallible;

use seatrial_core::machine::{Cx, Machine, Step};

/// The machine of a component that has none of its own: its scenarios say everything by notes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoMachine;

impl Machine for NoMachine {
    type Op = Infallible;
    type Ret = Infallible;

    fn step(&mut self, op: &mut Infallible, _: &mut Cx<'_>) -> Step<Infallible> {
        match *op {}
    }
}
