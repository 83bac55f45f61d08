//! Checks the reconcilers: the correct one holds, the hasty one is convicted.
//!
//! `cargo test` runs each of them as a test, `cargo test --test check -- run` shows what was searched. The hasty
//! reconciler is expected to break its promise, so the checks succeed if its mistake is found.

use std::process::ExitCode;
use std::sync::Arc;

use reconciler::{Cluster, reconcile, reconcile_too_early};
use seatrial::catalogue::Catalogue;
use seatrial::engine::{AnyRuntime, Engine};
use seatrial::trial::{
    Component, HistoryOf, Invariant, MachineOf, Scenario, Violation, World, subject,
};
use seatrial_core::queue::{Queue, WorkQueue};

const CATALOGUE: Catalogue =
    Catalogue::new("cargo test --test check --", &[subject::<Reconciler>(), subject::<Hasty>()]);

fn main() -> ExitCode {
    seatrial::tests::main(&CATALOGUE, &[])
}

/// The correct reconciler.
struct Reconciler;
/// The reconciler with the mistake.
struct Hasty;

/// Two changes of one object, and two workers; at the end the actual number must be the desired
/// one.
fn two_changes<C: Component<Machine = Queue<u8>>>(
    world: &World<C>,
    work: fn(&Shared, &Cluster<AnyRuntime>),
) {
    let queue: Shared =
        Arc::new(WorkQueue::with_host(world.runtime(), Fixed::default(), world.machine()));
    let cluster = Arc::new(Cluster::new(world.runtime()));
    let workers: Vec<_> = ["first", "second"]
        .into_iter()
        .map(|name| {
            let (queue, cluster) = (Arc::clone(&queue), Arc::clone(&cluster));
            world.spawn(name, move || work(&queue, &cluster))
        })
        .collect();
    for desired in [1, 2] {
        cluster.ask(7, desired);
        queue.add(7);
    }
    queue.shut_down();
    for worker in workers {
        world.join(worker);
    }
    world.note("actual", cluster.read(7).actual.into());
}

fn scenario<C: Component<Machine = Queue<u8>>>(
    work: fn(&Shared, &Cluster<AnyRuntime>),
) -> Scenario<C> {
    Scenario::new(
        "two_changes",
        "an object changes twice while two workers reconcile it",
        move |world| two_changes(world, work),
        |history| history.finished(),
    )
}

type Fixed = std::hash::BuildHasherDefault<std::hash::DefaultHasher>;
type Shared = Arc<WorkQueue<u8, AnyRuntime>>;

fn converges<C: Component>(history: &HistoryOf<C>) -> Result<(), Violation> {
    match history.notes("actual").next() {
        Some(2) | None => Ok(()),
        Some(actual) => Err(Violation::overall(format!("2 replicas asked for, {actual} there"))),
    }
}

const SAYS: &str = "what is there becomes what was asked for last";

impl Component for Reconciler {
    type Machine = Queue<u8>;
    const NAME: &'static str = "reconciler";
    const SAYS: &'static str = "makes the number of replicas what was asked for";

    fn machine() -> MachineOf<Self> {
        Box::new(Queue::<u8>::default())
    }
    fn scenarios() -> Vec<Scenario<Self>> {
        vec![scenario(|queue, cluster| reconcile(queue, cluster))]
    }
    fn invariants() -> Vec<Invariant<Self>> {
        vec![Invariant::eventually("converges", SAYS, &[], converges::<Self>)]
    }
}

impl Component for Hasty {
    type Machine = Queue<u8>;
    const NAME: &'static str = "hasty";
    const SAYS: &'static str = "the same, but it calls done before it has finished";

    fn machine() -> MachineOf<Self> {
        Box::new(Queue::<u8>::default())
    }
    fn scenarios() -> Vec<Scenario<Self>> {
        let rarely = "real threads rarely meet in so short a window";
        let hasty = scenario(|queue, cluster| reconcile_too_early(queue, cluster));
        vec![hasty.not_on(move |engine| (engine == Engine::Threads).then_some(rarely))]
    }
    fn invariants() -> Vec<Invariant<Self>> {
        let converges = Invariant::eventually("converges", SAYS, &[], converges::<Self>);
        vec![converges.expected_to_break()]
    }
}
