//! The page of the shell: the monitor in which the rules of every part run, here with the smallest
//! possible rules.
//!
//! The pages of the parts change the rules and keep the shell. This page keeps the rules and
//! changes the shell: each mutant is another shell, with a mistake that ours once had. Foreign code
//! panics in a step and in a waker, and tasks are polled without a wake-up.
//!
//! `cargo seatrial list shell` prints what is checked, and the mutants that break it.

mod gate;
mod invariants;
mod mutants;
mod reference;
mod scenarios;
mod stage;

use seatrial_core::machine::{Cx, Machine, Step};

use crate::shared::Mistake;
use crate::trial::{Component, HistoryOf, Invariant, MachineOf, Mutant, Scenario};

/// The shell, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Shell;

type History = HistoryOf<Shell>;

/// Asks which shell is tried.
#[derive(Clone, Copy, Debug)]
pub struct Which;

/// Knows which shell is tried: one with this mistake, or the one that ships for `None`.
#[derive(Clone, Copy, Debug)]
pub struct Tried(pub Option<Mistake>);

impl Machine for Tried {
    type Op = Which;
    type Ret = Option<Mistake>;

    fn step(&mut self, _: &mut Which, _: &mut Cx<'_>) -> Step<Option<Mistake>> {
        Step::Done(self.0)
    }
}

impl Component for Shell {
    type Machine = Tried;

    const NAME: &'static str = "shell";
    const SAYS: &'static str =
        "the lock and the sleepers that all parts share, while foreign code panics";

    fn machine() -> MachineOf<Self> {
        Box::new(Tried(None))
    }

    fn scenarios() -> Vec<Scenario<Self>> {
        scenarios::all()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }

    fn mutants() -> Vec<Mutant<Self>> {
        mutants::all()
    }

    fn describe(_: &Which, _: &Step<Option<Mistake>>) -> String {
        "makes a shell".to_owned()
    }
}
