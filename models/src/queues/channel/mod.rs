//! The page of channels.
//!
//! Messages are small numbers: they must be `Clone`, because a checker repeats steps; the channels
//! themselves never clone one. Sends, receives and selects are one kind of call of the machine. So
//! one ledger (`book`) knows the messages in each channel and the calls that wait, and the
//! invariants ask it. Random calls of one thread are compared with a simple construction (`op`,
//! `plain`).
//!
//! `cargo seatrial list channel` prints what is checked, and the mutants that break it.

mod book;
mod invariants;
mod mutants;
mod op;
mod plain;
mod scenarios;
pub(crate) mod states;
pub(crate) mod tests;

use seatrial_core::channel::{Act, Chosen, Group, Op as Call, Ret};
use seatrial_core::machine::Step;

use crate::engine::Engine;
use crate::single_step::Behind;
use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario,
    Simulation,
};

pub use op::{Op, check, check_on, decode};

/// Channels, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Channel;

type Event = EventOf<Channel>;
type History = HistoryOf<Channel>;

impl Component for Channel {
    type Machine = Group<u8>;

    const NAME: &'static str = "channel";
    const SAYS: &'static str =
        "channels, bounded, unbounded or without a buffer, and select over them";

    fn machine() -> MachineOf<Self> {
        Box::new(Group::<u8>::default())
    }

    fn scenarios() -> Vec<Scenario<Self>> {
        scenarios::all()
    }

    fn simulations() -> Vec<Box<dyn Simulation<Self>>> {
        states::all()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }

    fn mutants() -> Vec<Mutant<Self>> {
        mutants::all()
    }

    /// Three calls must wait, and the middle one must give up; loom's search reaches that late.
    fn shows_mutant(engine: Engine, mutant: &str) -> bool {
        engine != Engine::Loom || mutant != "back_is_not_told"
    }

    fn describe(op: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        match (op, outcome) {
            (Call::Open(open), Step::Done(Ret::Open(pipe))) => {
                format!("opens {} for {:?}", pipe.0, open.0)
            }
            (Call::Hold(hold), _) => format!("one more at {}, {:?}", hold.0.0, hold.1),
            (Call::Leave(leave), Step::Done(Ret::Leave(left))) => {
                format!("one less at {}, {:?}; left is {left:?}", leave.0.0, leave.1)
            }
            (Call::Choose(call), Step::Wait { until: None, .. }) => {
                format!("{} sleeps", cases(&call.acts))
            }
            (Call::Choose(call), Step::Wait { until: Some(until), .. }) => {
                format!("{} sleeps until {until:?}", cases(&call.acts))
            }
            (Call::Choose(call), Step::Done(Ret::Choose(chosen))) => {
                format!("{} -> {}", cases(&call.acts), came_of(chosen))
            }
            (op, outcome) => format!("{op:?} -> {outcome:?}"),
        }
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| check(&decode(bytes)))
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        let make = mutant.make;
        Some(Box::new(move |bytes| check_on(&decode(bytes), Behind(make()))))
    }

    fn is_of_waking(mutant: &Mutant<Self>) -> bool {
        mutants::is_of_waking(mutant)
    }
}

/// Describes the cases of a call. Once the call has waited, the group has its acts.
fn cases(acts: &[Act<u8>]) -> String {
    let word = |act: &Act<u8>| match act {
        Act::Send(pipe, Some(message)) => format!("send {message} into {}", pipe.0),
        act => format!("receive from {}", act.pipe().0),
    };
    match acts {
        [] => "the call".to_owned(),
        acts => acts.iter().map(word).collect::<Vec<_>>().join(" or "),
    }
}

fn came_of(chosen: &Chosen<u8>) -> String {
    match &chosen.done {
        Some((0, outcome)) if chosen.unsent.is_empty() => format!("{outcome:?}"),
        Some((case, outcome)) => format!("case {case}, {outcome:?}"),
        None => "nothing".to_owned(),
    }
}
