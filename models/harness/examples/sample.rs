//! Checks what threads share in this crate: `cargo seatrial run`, `cargo seatrial mutants`.
//!
//! This is a sample, to be replaced piece by piece by what you want to check. It hands out nodes.
//! `Nodes` has the rules, `worker` uses them. `hasty_worker` has a bug that no unit test finds.

use std::process::ExitCode;
use std::sync::Arc;

use seatrial::catalogue::Catalogue;
use seatrial::engine::{AnyRuntime, Engine};
use seatrial::trial::{
    Component, HistoryOf, Invariant, MachineOf, Mutant, Scenario, Violation, World, mutants,
    subject,
};
use seatrial_core::machine::{Cx, Machine, Operation, Step};
use seatrial_core::monitor::Monitor;

/// Everything that is checked here.
const CATALOGUE: Catalogue =
    Catalogue::new("cargo seatrial", &[subject::<Sample>(), subject::<Hasty>()]);

fn main() -> ExitCode {
    seatrial::tests::main(&CATALOGUE, &[])
}

/// The nodes that are free: plain data and rules, no lock, no clock.
#[derive(Clone, Debug)]
pub struct Nodes {
    free: u64,
}

/// How many nodes there are in the beginning.
const NODES: u64 = 1;

/// Tells whether a node is free.
#[derive(Clone, Debug)]
pub struct Look;

/// Takes a node, and tells whether there was one.
#[derive(Clone, Debug)]
pub struct Take;

seatrial_core::operations! {
    [] Nodes: Op, Ret { Look(Look) -> bool, Take(Take) -> bool }
    describe = |nodes| format!("{nodes:?}") // for `explore`
}

impl Operation<Nodes> for Look {
    fn step(&mut self, nodes: &mut Nodes, _: &mut Cx<'_>) -> Step<bool> {
        Step::Done(nodes.free > 0)
    }
}

impl Operation<Nodes> for Take {
    fn step(&mut self, nodes: &mut Nodes, _: &mut Cx<'_>) -> Step<bool> {
        let is_free = nodes.free > 0;
        nodes.free = nodes.free.saturating_sub(1);
        Step::Done(is_free)
    }
}

/// The rules under a lock, as the checkers run them: each step is recorded.
type Shared = Arc<Monitor<Nodes, AnyRuntime>>;

/// Takes a node if there is one. Looking and taking are one critical section.
fn worker(nodes: &Shared) -> bool {
    nodes.call(Take)
}

/// Looks, and then takes. Between the two another worker may take the last node.
fn hasty_worker(nodes: &Shared) -> bool {
    let is_free = nodes.call(Look);
    if is_free {
        nodes.call(Take);
    }
    is_free
}

/// Two workers want a node at a time; each notes whether it has one.
fn two_workers<C: Component<Machine = Nodes>>(world: &World<C>, work: fn(&Shared) -> bool) {
    let nodes: Shared = Arc::new(Monitor::new(world.runtime(), world.machine()));
    let workers = ["first", "second"].map(|name| {
        let nodes = Arc::clone(&nodes);
        world.spawn(name, move || work(&nodes))
    });
    for worker in workers {
        let has_one = world.join(worker);
        world.note("given", u64::from(has_one));
    }
}

fn the_last_node<C: Component<Machine = Nodes>>(work: fn(&Shared) -> bool) -> Scenario<C> {
    Scenario::new(
        "the_last_node",
        "two workers want the last node",
        move |world| two_workers(world, work),
        |history| history.finished(),
    )
}

const PROMISE: &str = "no more nodes are given away than there are";

fn no_node_is_given_twice<C: Component>(history: &HistoryOf<C>) -> Result<(), Violation> {
    match history.notes("given").sum::<u64>() {
        given if given > NODES => {
            Err(Violation::overall(format!("there is {NODES} node, and {given} were given")))
        }
        _ => Ok(()),
    }
}

/// The workers as they should be.
struct Sample;

impl Component for Sample {
    type Machine = Nodes;
    const NAME: &'static str = "sample";
    const SAYS: &'static str = "hands out nodes";

    fn machine() -> MachineOf<Self> {
        Box::new(Nodes { free: NODES })
    }
    fn scenarios() -> Vec<Scenario<Self>> {
        vec![the_last_node(worker)]
    }
    fn invariants() -> Vec<Invariant<Self>> {
        vec![Invariant::always(
            "no_node_is_given_twice",
            PROMISE,
            &[],
            no_node_is_given_twice::<Self>,
        )]
    }
    // A bug in the rules, put in on purpose: an invariant that convicts none proves nothing.
    fn mutants() -> Vec<Mutant<Self>> {
        fn broken(machine: Forgetful) -> MachineOf<Sample> {
            Box::new(machine)
        }
        mutants! {
            broken:
            Seeded "takes_without_looking" from "a check that was forgotten":
                (Forgetful(Nodes { free: NODES })) breaks ["no_node_is_given_twice"];
        }
    }
}

/// The same rules, but `Take` always has a node.
struct Forgetful(Nodes);

impl Machine for Forgetful {
    type Op = Op;
    type Ret = Ret;

    fn step(&mut self, op: &mut Op, cx: &mut Cx<'_>) -> Step<Ret> {
        match self.0.step(op, cx) {
            Step::Done(Ret::Take(_)) => Step::Done(Ret::Take(true)),
            other => other,
        }
    }
}

/// The workers with the bug. It is expected here: without `expected_to_break` the run fails.
struct Hasty;

impl Component for Hasty {
    type Machine = Nodes;
    const NAME: &'static str = "hasty";
    const SAYS: &'static str = "looks whether a node is free, and then takes it";

    fn machine() -> MachineOf<Self> {
        Box::new(Nodes { free: NODES })
    }
    fn scenarios() -> Vec<Scenario<Self>> {
        let why = "real threads rarely meet in so short a window";
        let refuses = move |engine| (engine == Engine::Threads).then_some(why);
        vec![the_last_node(hasty_worker).not_on(refuses)]
    }
    fn invariants() -> Vec<Invariant<Self>> {
        let promise = Invariant::always(
            "no_node_is_given_twice",
            PROMISE,
            &[],
            no_node_is_given_twice::<Self>,
        );
        vec![promise.expected_to_break()]
    }
}
