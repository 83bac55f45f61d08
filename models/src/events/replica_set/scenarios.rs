//! Small programs of users and accidents, each named by the case that it must reach.
//!
//! They have more than 200,000 traces each, because every step of the four threads is one of the
//! same machine. The models of states visit each state once.

use std::sync::Arc;

use seatrial_core::monitor::Monitor;

use super::invariants::some;
use super::server::Happen::{self, *};
use super::server::{Kind, Todo};
use super::stage::{Act, Acted, Answer, Call, Inform, Occur, Stage, StopAtRest, Take};
use super::{Event, History, ReplicaSet};
use crate::engine::AnyRuntime;
use crate::trial::{Scenario, What, World, has_many_traces};

pub(super) fn all() -> Vec<Scenario<ReplicaSet>> {
    vec![
        scaled_meanwhile(),
        pods_are_lost(),
        dies_between_requests(),
        deleted_meanwhile(),
        made_anew(),
        request_fails(),
    ]
}

type Shared = Arc<Monitor<Stage, AnyRuntime>>;

/// Reconciles until everything stops.
fn work(stage: &Shared) {
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
fn run(world: &World<ReplicaSet>, parts: &[&[Happen]]) {
    let stage: Shared = Arc::new(Monitor::new(world.runtime(), world.machine()));
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
fn scaled_meanwhile() -> Scenario<ReplicaSet> {
    Scenario::<ReplicaSet>::new(
        "scaled_meanwhile",
        "a user wants two pods, and then one pod while the controller makes them",
        |world| run(world, &[&[Wants(2), Wants(1)]]),
        |history| did(history, is_delete),
    )
    .not_on(has_many_traces)
}

/// A pod goes, and then another one whose deletion the server does not send.
fn pods_are_lost() -> Scenario<ReplicaSet> {
    Scenario::<ReplicaSet>::new(
        "pods_are_lost",
        "a pod goes, and then a second one whose deletion only a list shows",
        |world| run(world, &[&[Wants(1)], &[Kills], &[Loses]]),
        |history| {
            some(history, |book, event| match event.returned() {
                Some((Call::Occur(Occur(Loses)), Answer::Occur((truth, _)))) => {
                    book.truth.pods.len() > truth.pods.len()
                }
                _ => false,
            })
        },
    )
    .not_on(has_many_traces)
}

/// The controller dies within a plan.
fn dies_between_requests() -> Scenario<ReplicaSet> {
    Scenario::<ReplicaSet>::new(
        "dies_between_requests",
        "the controller dies while it makes a pod, and dies again at rest",
        |world| run(world, &[&[Wants(1), Crashes], &[Crashes]]),
        // The pod is there, and the status does not count it yet.
        |history| {
            some(history, |book, event| {
                let died = matches!(
                    event.returned(),
                    Some((Call::Occur(Occur(Crashes)), Answer::Occur((_, left)))) if *left > 0
                );
                died && !book.truth.pods.is_empty()
            })
        },
    )
    .not_on(has_many_traces)
}

/// The set is deleted while its pod is made.
fn deleted_meanwhile() -> Scenario<ReplicaSet> {
    Scenario::<ReplicaSet>::new(
        "deleted_meanwhile",
        "a set is deleted while its pod is being made",
        |world| run(world, &[&[Wants(1), Deletes]]),
        |history| did(history, is_delete) && did(history, |todo| *todo == Todo::Release),
    )
    .not_on(has_many_traces)
}

/// A set is deleted, and another one with the same name is made.
fn made_anew() -> Scenario<ReplicaSet> {
    Scenario::<ReplicaSet>::new(
        "made_anew",
        "a set with a pod is deleted, and another set with the same name is made",
        |world| run(world, &[&[Wants(1)], &[Deletes, Wants(1)]]),
        // The first set has the uid 1.
        |history| {
            some(history, |book, event| {
                let is_another = book.truth.set.as_ref().is_some_and(|set| set.uid > 1);
                is_another && matches!(event.what, What::Quiet)
            })
        },
    )
    .not_on(has_many_traces)
}

fn is_refused(history: &History) -> bool {
    let refused =
        |event: &Event| matches!(event.returned(), Some((_, Answer::Act(Acted::Refused(_)))));
    history.events.iter().any(refused)
}

/// A request fails.
fn request_fails() -> Scenario<ReplicaSet> {
    Scenario::<ReplicaSet>::new(
        "request_fails",
        "the server refuses a request of the controller",
        |world| run(world, &[&[Refuses, Wants(1)]]),
        is_refused,
    )
    .not_on(has_many_traces)
}
