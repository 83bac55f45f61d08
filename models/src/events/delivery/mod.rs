//! The page of delivery from end to end: every key that changes at the server is reconciled again,
//! through reflector, store, work queue, worker and retry.
//!
//! The rules are the shipped ones: the reflector, `apply` on a store, the rate-limiting queue. In a
//! program, threads without state of their own connect them. Here one step replaces each: the
//! informer's loop and its handlers (page `informer`), the pool's workers (page `pool`).
//!
//! `cargo seatrial list delivery` prints what is checked, and the mutants that break it.

mod chain;
mod invariants;
mod mutants;
mod scenarios;
mod states;
mod storing;
pub(crate) mod tests;

use seatrial_core::machine::Step;

use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, RetOf, Scenario, Simulation,
};

pub use chain::{
    Answer, Begin, Call, Chain, Finish, Inform, Informed, Occur, StopAtRest, Take, Work,
};

/// Everything between a server and the reconciled key, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Delivery;

type Event = EventOf<Delivery>;
type History = HistoryOf<Delivery>;

impl Component for Delivery {
    type Machine = Chain;

    const NAME: &'static str = "delivery";
    const SAYS: &'static str = "every key that changes at the server is reconciled again";

    fn machine() -> MachineOf<Self> {
        Box::new(Chain::new(""))
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

    fn describe(call: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        match (call, outcome) {
            (Call::Occur(occur), _) => format!("{:?}", occur.0),
            (Call::Inform(_), Step::Done(Answer::Inform(Informed::Asked(turn)))) => {
                format!("{:?} -> {:?}", turn.asked, turn.reply)
            }
            (Call::Inform(_), Step::Done(Answer::Inform(Informed::Stored(told)))) => {
                format!("stores and tells {told:?}")
            }
            (Call::Take(_), Step::Done(Answer::Take(Some(work)))) => {
                format!("takes key {}, sees {}", work.key, work.saw)
            }
            (Call::Finish(finish), Step::Done(Answer::Finish(well))) => {
                let how = if *well { "is reconciled" } else { "fails" };
                format!("key {} {how}", finish.0.key)
            }
            (call, Step::Wait { .. }) => format!("{call:?} sleeps"),
            (call, _) => format!("{call:?}"),
        }
    }
}
