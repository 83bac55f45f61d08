//! The page of the candidates of a coordinated election; a candidate announces itself with an
//! object.
//!
//! `cargo seatrial list candidate` prints what is checked, and the mutants that break it.

mod invariants;
mod mutants;
mod reference;
mod scenarios;
mod server;
mod stage;

use seatrial_core::machine::Step;

use crate::trial::{Component, EventOf, Invariant, MachineOf, Mutant, OpOf, RetOf, Scenario};

pub use server::{Answer, Call, Server, Shown, Tried};

/// A candidate, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Candidate;

type Event = EventOf<Candidate>;

impl Component for Candidate {
    type Machine = Server;

    const NAME: &'static str = "candidate";
    const SAYS: &'static str = "a candidate for leadership where the server chooses the leader";

    fn machine() -> MachineOf<Self> {
        Server::of(Tried::Ships)
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

    fn describe(call: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        match (call, outcome) {
            (Call::Who(_), _) => "who is tried?".to_owned(),
            (Call::Serve(serve), Step::Done(Answer::Serve(answer))) => {
                let says = match answer {
                    Ok(shown) => format!("change {}", shown.changes),
                    Err(error) => error.to_string(),
                };
                format!("{} -> {says}", serve.verb())
            }
            (Call::Ping(_), _) => "the server pings".to_owned(),
            (Call::Watch(_), Step::Done(Answer::Watch(Some(shown)))) => {
                format!("the watch shows change {}", shown.changes)
            }
            (Call::Watch(_), Step::Done(_)) => "the watch ends".to_owned(),
            (Call::Watch(_), _) => "the watch sleeps".to_owned(),
            (call, _) => format!("{call:?}"),
        }
    }
}
