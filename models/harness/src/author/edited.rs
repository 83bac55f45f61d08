//! The machine that ships, with its wakes or its answers edited: a mutant of waking, or of telling.

use seatrial_core::machine::{Channel, Cx, Machine, Passed, Step, Wakes};

/// Changes whom a step of a call wakes, knowing the machine as the step left it.
pub type Edit<M> = fn(&<M as Machine>::Op, &mut Wakes, &M);

/// A machine whose wakes are edited after each step.
#[derive(Debug)]
pub struct Edited<M: Machine> {
    /// The rules that ship.
    pub machine: M,
    /// Changes whom they wake.
    pub edit: Edit<M>,
}

impl<M: Machine> Edited<M> {
    /// Puts an edit behind the steps of a machine.
    pub fn new(machine: M, edit: Edit<M>) -> Self {
        Self { machine, edit }
    }
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

    fn describe(&self) -> Option<String> {
        self.machine.describe()
    }
}

/// Keeps a number of wakes at most on a channel.
pub fn keep_at_most(wakes: &mut Wakes, channel: Channel, most: u16) {
    wakes.set(channel, wakes.get(channel).min(most));
}

/// Makes an [`Edit`]: calls of a kind wake at most this number on a channel.
#[macro_export]
macro_rules! at_most {
    ($most:literal, $channel:expr, $call:pat) => {
        |op, wakes, _| {
            if matches!(op, $call) {
                $crate::author::keep_at_most(wakes, $channel, $most);
            }
        }
    };
}

pub use at_most;

/// The machine that ships, under a shell that forgets to pass something on.
#[derive(Debug)]
pub struct Forgetful<M: Machine> {
    /// The rules that ship.
    pub machine: M,
    /// The effect that the shell forgets to pass on.
    pub forgets: Passed,
}

impl<M: Machine> Forgetful<M> {
    /// Puts a machine under a shell that forgets this.
    pub fn new(machine: M, forgets: Passed) -> Self {
        Self { machine, forgets }
    }
}

impl<M: Machine> Machine for Forgetful<M> {
    type Op = M::Op;
    type Ret = M::Ret;

    fn step(&mut self, op: &mut M::Op, cx: &mut Cx<'_>) -> Step<M::Ret> {
        self.machine.step(op, cx)
    }

    fn cancel(&mut self, op: &mut M::Op, cx: &mut Cx<'_>) {
        self.machine.cancel(op, cx);
    }

    fn passes_on(&mut self, what: Passed) -> bool {
        what != self.forgets
    }

    fn assert_valid(&self) {
        self.machine.assert_valid();
    }

    fn describe(&self) -> Option<String> {
        self.machine.describe()
    }
}

/// The machine that ships, under a shell that does not know which caller was woken.
#[derive(Debug)]
pub struct Unaware<M: Machine>(pub M);

impl<M: Machine> Unaware<M> {
    /// Puts a machine under such a shell.
    pub fn new(machine: M) -> Self {
        Self(machine)
    }
}

impl<M: Machine> Machine for Unaware<M> {
    type Op = M::Op;
    type Ret = M::Ret;

    fn step(&mut self, op: &mut M::Op, cx: &mut Cx<'_>) -> Step<M::Ret> {
        let mut first = Cx::new(cx.ambient()); // as if every step were the first of its call
        let step = self.0.step(op, &mut first);
        cx.wakes = first.wakes;
        step
    }

    fn cancel(&mut self, op: &mut M::Op, cx: &mut Cx<'_>) {
        self.0.cancel(op, cx);
    }

    fn assert_valid(&self) {
        self.0.assert_valid();
    }

    fn describe(&self) -> Option<String> {
        self.0.describe()
    }
}

/// Changes what a call is told, knowing the machine as the step left it.
pub type Retell<M> = fn(&mut Step<<M as Machine>::Ret>, &M);

/// A machine whose answers are edited.
#[derive(Debug)]
pub struct Retold<M: Machine> {
    /// The rules that ship.
    pub machine: M,
    /// Changes what they answer.
    pub retell: Retell<M>,
}

impl<M: Machine> Retold<M> {
    /// Puts an edit between a machine and its callers.
    pub fn new(machine: M, retell: Retell<M>) -> Self {
        Self { machine, retell }
    }
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

    fn describe(&self) -> Option<String> {
        self.machine.describe()
    }
}
