//! The page of cancellation tokens, and of the loops and limiters that end with them.
//!
//! Every token is a machine of its own, and the shell goes from one to the next. So a scenario
//! notes the calls and the answers of its threads, and the invariants compare those with the tree.
//! A bug of the shell shows as well as a bug of the rules. Random calls of one thread are compared
//! with the sequential object (`op.rs`).
//!
//! `cargo seatrial list cancel` prints what is checked, and the mutants that break it.

mod family;
mod invariants;
mod mutants;
mod op;
mod scenarios;
mod spec;
pub(crate) mod tests;

use seatrial_core::cancel::{Op as Call, Ret, Tree};
use seatrial_core::machine::{Boxed, Step};

use crate::single_step::{AtOnce, Behind};
use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario,
};

pub use op::{Op, check, check_on, decode};
pub use spec::Spec;

/// Cancellation tokens, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Cancel;

type Event = EventOf<Cancel>;
type History = HistoryOf<Cancel>;

impl Component for Cancel {
    type Machine = Tree;

    const NAME: &'static str = "cancel";
    const SAYS: &'static str = "a tree of cancellation tokens with deadlines";

    fn machine() -> MachineOf<Self> {
        Box::new(Tree::new())
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

    fn describe(op: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        match (op, outcome) {
            (Call::Adopt(_), Step::Done(Ret::Adopt(Ok(_)))) => "a child is added".to_owned(),
            (Call::Adopt(_), _) => "a child comes after the end".to_owned(),
            (Call::Leave(_), _) => "a child leaves".to_owned(),
            (Call::Cancel(_), Step::Done(Ret::Cancel(ended))) => {
                let (below, hooks) = (ended.below.len(), ended.hooks.len());
                format!("cancel -> {below} children, {hooks} hooks")
            }
            (Call::Forget(_), _) => "the children are forgotten".to_owned(),
            (Call::Hook(_), Step::Done(Ret::Hook(Ok(_)))) => "a hook is left".to_owned(),
            (Call::Hook(_), _) => "a hook comes after the end".to_owned(),
            (Call::Unhook(_), _) => "a hook is taken back".to_owned(),
            (Call::Wait(_), Step::Wait { until: None, .. }) => "wait sleeps".to_owned(),
            (Call::Wait(_), Step::Wait { until: Some(until), .. }) => {
                format!("wait sleeps until {until:?}")
            }
            (op, outcome) => format!("{op:?} -> {outcome:?}"),
        }
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| check(&decode(bytes)))
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        let make = mutant.make;
        let tried = move || Boxed::<Tree>(Box::new(AtOnce::but(|_| false, Behind(make()))));
        Some(Box::new(move |bytes| check_on(&decode(bytes), tried)))
    }

    fn is_of_waking(mutant: &Mutant<Self>) -> bool {
        mutants::is_of_waking(mutant)
    }
}
