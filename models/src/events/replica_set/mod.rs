//! The page of a worked controller: a small one of replica sets, with the known mistakes of
//! controllers. The example `replica_set` of `seatrial-core` runs the same rules between real
//! informers, a queue and workers.
//!
//! The rules (`rules.rs`) are a function from the state of the caches to a list of requests. Around
//! them are a server, caches that follow it late, and a process that may die after every request.
//! When it dies, each request has either been carried out or not; none is in progress. Requests
//! whose answer is lost are not modelled: then the state is unknown until the cache shows it.
//!
//! `cargo seatrial list replica_set` prints what is checked, and the mutants that break it.

mod invariants;
mod mutants;
pub mod rules;
mod scenarios;
mod server;
mod stage;
mod states;
pub(crate) mod tests;

use seatrial_core::machine::Step;

use crate::engine::Engine;
use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, RetOf, Scenario, Simulation,
};

pub use server::{Happen, Id, Kind, Pod, Set, Todo, Truth};
pub use stage::{Act, Acted, Answer, Call, Inform, Occur, Stage, StopAtRest, Take, Work};

/// A controller of replica sets and its world, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct ReplicaSet;

type Event = EventOf<ReplicaSet>;
type History = HistoryOf<ReplicaSet>;

impl Component for ReplicaSet {
    type Machine = Stage;

    const NAME: &'static str = "replica_set";
    const SAYS: &'static str =
        "a worked example: a controller that keeps as many pods as a user wants";

    fn machine() -> MachineOf<Self> {
        Box::new(Stage::new(""))
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

    fn shows_mutants(engine: Engine) -> bool {
        engine != Engine::Trace // which holds no scenario
    }

    /// The crash must come between two requests, which loom's search reaches late.
    fn shows_mutant(engine: Engine, mutant: &str) -> bool {
        engine != Engine::Loom || mutant != "owns_later"
    }

    fn describe(call: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        match (call, outcome) {
            (Call::Occur(occur), Step::Done(Answer::Occur((truth, _)))) => {
                format!("{:?} -> {}", occur.0, described(truth))
            }
            (Call::Inform(inform), Step::Done(Answer::Inform(true))) => {
                format!("the cache of {:?} takes in what is new", inform.0)
            }
            (Call::Take(_), Step::Done(Answer::Take(Some(work)))) => {
                format!("plans {:?}", work.todo)
            }
            (Call::Act(_), Step::Done(Answer::Act(Acted::Did(todo, truth, _)))) => {
                format!("{todo:?} -> {}", described(truth))
            }
            (Call::Act(_), Step::Done(Answer::Act(acted))) => format!("{acted:?}"),
            (call, Step::Wait { .. }) => format!("{call:?} sleeps"),
            (call, _) => format!("{call:?}"),
        }
    }
}

fn described(Truth { set, pods }: &Truth) -> String {
    let set = set.as_ref().map_or("no set".to_owned(), |set| {
        let marks = [(set.guarded, ", guarded"), (set.deleted, ", deleted")];
        let marks = marks.into_iter().filter(|mark| mark.0).map(|mark| mark.1);
        format!("set {} wants {}{}", set.uid, set.wanted, marks.collect::<String>())
    });
    let names: Vec<Id> = pods.iter().map(|pod| pod.name).collect();
    format!("{set}; pods {names:?}")
}
