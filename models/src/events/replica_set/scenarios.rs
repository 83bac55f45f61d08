//! Small programs of users and accidents, each named by the case that it must reach.
//!
//! They have more than 200,000 traces each, because every step of the four threads is one of the
//! same machine. The models of states visit each state once.

use std::sync::Arc;

use seatrial_core::machine::Boxed;
use seatrial_core::monitor::Monitor;
use seatrial_core::runtime::Runtime;

use super::invariants::some;
use super::server::Happen::{self, *};
use super::server::{Kind, Todo};
use super::stage::{Act, Acted, Answer, Call, Inform, Occur, Stage, StopAtRest, Take};
use super::{Event, History, ReplicaSet};
use crate::engine::Engine;
use crate::events::stated::has_many_traces;
use crate::trial::{DynScenario, Scenario, What, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<ReplicaSet>>> {
    vec![
        Box::new(ScaledMeanwhile),
        Box::new(PodsAreLost),
        Box::new(DiesBetweenRequests),
        Box::new(DeletedMeanwhile),
        Box::new(MadeAnew),
        Box::new(RequestFails),
    ]
}

type Shared<R> = Arc<Monitor<Stage, R, Boxed<Stage>>>;

/// Reconciles until everything stops.
fn work<R: Runtime>(stage: &Shared<R>) {
    while let Some(work) = stage.call(Take) {
        let mut left = work.todo.len();
        while left > 0 {
            left = match stage.call(Act(work.process)) {
                Acted::Did(_, _, left) => left,
                Acted::Refused(_) | Acted::Dead => 0,
            };
        }
    }
}

/// Runs two informers and a worker while things happen; everything comes to rest after each part.
fn run<R: Runtime>(world: &World<R, ReplicaSet>, parts: &[&[Happen]]) {
    let stage: Shared<R> = Arc::new(Monitor::new(world.runtime(), world.machine()));
    let informers = [(Kind::Sets, "sets"), (Kind::Pods, "pods")].map(|(kind, name)| {
        let own = Arc::clone(&stage);
        world.spawn(name, move || while own.call(Inform(kind)) {})
    });
    let own = Arc::clone(&stage);
    let worker = world.spawn("worker", move || work(&own));
    for part in parts {
        for happen in *part {
            stage.call(Occur(*happen));
        }
        world.quiesce();
    }
    stage.call(StopAtRest(0));
    informers.into_iter().chain([worker]).for_each(|thread| world.join(thread));
}

/// Tells whether a request of this kind was carried out.
fn did(history: &History, wanted: impl Fn(&Todo) -> bool) -> bool {
    history.events.iter().any(|event| match event.returned() {
        Some((_, Answer::Act(Acted::Did(todo, ..)))) => wanted(todo),
        _ => false,
    })
}

fn is_delete(todo: &Todo) -> bool {
    matches!(todo, Todo::Delete(_))
}

/// Fewer pods are wanted while pods are made.
struct ScaledMeanwhile;

impl Scenario<ReplicaSet> for ScaledMeanwhile {
    const NAME: &'static str = "scaled_meanwhile";
    const SAYS: &'static str =
        "a user wants two pods, and then one pod while the controller makes them";

    fn run<R: Runtime>(&self, world: &World<R, ReplicaSet>) {
        run(world, &[&[Wants(2), Wants(1)]]);
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        has_many_traces(engine)
    }

    fn reaches(history: &History) -> bool {
        did(history, is_delete)
    }
}

/// A pod goes, and then another one whose deletion the server does not send.
struct PodsAreLost;

impl Scenario<ReplicaSet> for PodsAreLost {
    const NAME: &'static str = "pods_are_lost";
    const SAYS: &'static str = "a pod goes, and then a second one whose deletion only a list shows";

    fn run<R: Runtime>(&self, world: &World<R, ReplicaSet>) {
        run(world, &[&[Wants(1)], &[Kills], &[Loses]]);
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        has_many_traces(engine)
    }

    fn reaches(history: &History) -> bool {
        some(history, |book, event| match event.returned() {
            Some((Call::Occur(Occur(Loses)), Answer::Occur((truth, _)))) => {
                book.truth.pods.len() > truth.pods.len()
            }
            _ => false,
        })
    }
}

/// The controller dies within a plan.
struct DiesBetweenRequests;

impl Scenario<ReplicaSet> for DiesBetweenRequests {
    const NAME: &'static str = "dies_between_requests";
    const SAYS: &'static str = "the controller dies while it makes a pod, and dies again at rest";

    fn run<R: Runtime>(&self, world: &World<R, ReplicaSet>) {
        run(world, &[&[Wants(1), Crashes], &[Crashes]]);
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        has_many_traces(engine)
    }

    /// The pod is there, and the status does not count it yet.
    fn reaches(history: &History) -> bool {
        some(history, |book, event| {
            let died = matches!(
                event.returned(),
                Some((Call::Occur(Occur(Crashes)), Answer::Occur((_, left)))) if *left > 0
            );
            died && !book.truth.pods.is_empty()
        })
    }
}

/// The set is deleted while its pod is made.
struct DeletedMeanwhile;

impl Scenario<ReplicaSet> for DeletedMeanwhile {
    const NAME: &'static str = "deleted_meanwhile";
    const SAYS: &'static str = "a set is deleted while its pod is being made";

    fn run<R: Runtime>(&self, world: &World<R, ReplicaSet>) {
        run(world, &[&[Wants(1), Deletes]]);
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        has_many_traces(engine)
    }

    fn reaches(history: &History) -> bool {
        did(history, is_delete) && did(history, |todo| *todo == Todo::Release)
    }
}

/// A set is deleted, and another one with the same name is made.
struct MadeAnew;

impl Scenario<ReplicaSet> for MadeAnew {
    const NAME: &'static str = "made_anew";
    const SAYS: &'static str =
        "a set with a pod is deleted, and another set with the same name is made";

    fn run<R: Runtime>(&self, world: &World<R, ReplicaSet>) {
        run(world, &[&[Wants(1)], &[Deletes, Wants(1)]]);
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        has_many_traces(engine)
    }

    /// The first set has the uid 1.
    fn reaches(history: &History) -> bool {
        some(history, |book, event| {
            let is_another = book.truth.set.as_ref().is_some_and(|set| set.uid > 1);
            is_another && matches!(event.what, What::Quiet)
        })
    }
}

fn is_refused(history: &History) -> bool {
    let refused =
        |event: &Event| matches!(event.returned(), Some((_, Answer::Act(Acted::Refused(_)))));
    history.events.iter().any(refused)
}

/// A request fails.
struct RequestFails;

impl Scenario<ReplicaSet> for RequestFails {
    const NAME: &'static str = "request_fails";
    const SAYS: &'static str = "the server refuses a request of the controller";

    fn run<R: Runtime>(&self, world: &World<R, ReplicaSet>) {
        run(world, &[&[Refuses, Wants(1)]]);
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        has_many_traces(engine)
    }

    fn reaches(history: &History) -> bool {
        is_refused(history)
    }
}
