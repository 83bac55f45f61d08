//! The page of the reflector: lists and watches that keep a consumer at the state of a collection,
//! against a server at which many things go wrong.
//!
//! Reflector, consumer and server are one machine here: a turn makes the reflector's request to the
//! server, and gives the result to the consumer. So every order of turns and of changes at the
//! server is a schedule, on every engine. Generated plans of changes are judged by the same
//! promises (`op.rs`).
//!
//! `cargo seatrial list reflector` prints what is checked, and the mutants that break it.

mod book;
mod follower;
mod invariants;
mod mutants;
mod op;
mod scenarios;
mod server;
mod states;
pub(crate) mod tests;
mod tried;
mod turn;

use seatrial_core::machine::Step;

use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario,
    Simulation,
};

pub(crate) use follower::RESTERS;
pub use follower::{Answer, Begin, Call, Follower, Happen, Setting, Stop, StopAtRest, Turn};
pub use op::{Op, Plan, check, check_on, decode};
pub(crate) use server::KEYS;
pub use server::{Object, Thing, Trouble};
pub(crate) use states::programs;
pub use turn::{Asked, Given, Reply, Told, Turned, Why};

/// A reflector, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Reflector;

type Event = EventOf<Reflector>;
type History = HistoryOf<Reflector>;

impl Component for Reflector {
    type Machine = Follower;

    const NAME: &'static str = "reflector";
    const SAYS: &'static str = "lists and watches that keep a consumer up to date with a server";

    fn machine() -> MachineOf<Self> {
        follower::ships()
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
            (Call::Begin(begin), _) => format!("begins: {:?}", begin.0),
            (Call::Happen(happen), _) => format!("{happen:?}"),
            (Call::Stop(_), _) => "stops".to_owned(),
            (Call::StopAtRest(_), Step::Done(_)) => "it is at rest, and stops".to_owned(),
            (Call::StopAtRest(_), _) => "waits until it is at rest".to_owned(),
            (Call::Turn(_), Step::Done(Answer::Turn(Some(turn)))) => {
                let Turned { asked, reply, given, refused, .. } = &**turn;
                let given = given.as_ref().map(|given| format!(", gives {given:?}"));
                let refused = if *refused { ", which is refused" } else { "" };
                format!("{asked:?} -> {reply:?}{}{refused}", given.unwrap_or_default())
            }
            (Call::Turn(_), Step::Done(_)) => "has stopped".to_owned(),
            (Call::Turn(_), _) => "waits".to_owned(),
        }
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| check(&decode(bytes)))
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        let make = mutant.make;
        Some(Box::new(move |bytes| check_on(&decode(bytes), make())))
    }
}
