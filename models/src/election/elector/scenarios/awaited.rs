//! Runs that are awaited, and callbacks that hang or break.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::OnceLock;
use std::task::Poll;

use seatrial_core::elector::Op;
use seatrial_core::runtime::{Ambient as _, Instant, Runtime};

use super::renewals::at;
use super::{Known, everybody_returned, millis, some_step, terms};
use crate::elector::Elector;
use crate::elector::asked::{Asked, claims_the_lease};
use crate::elector::network::{Fate, Passing, sleep_until};
use crate::elector::scene::{Leads, Participant, Scene, releasing, strict};
use crate::engine::AnyRuntime;
use crate::trial::{Scenario, sleeps};

/// A task runs an elector and does its work; it is cancelled between two renewals.
pub(super) fn awaited_run() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "awaited_run",
        "a task leads and renews, interleaved with its work, until it is cancelled",
        |world| {
            let scene = Scene::new(world);
            let (a, b) = (scene.elector(releasing("a")), scene.elector(strict("b")));
            let leads = a.clone();
            let task = world.spawn("task", move || {
                let until_it_is_lost = |_: Participant, leadership: Leads| async move {
                    leadership.lost().await;
                    let _not_valid = leadership.is_valid();
                };
                leads.runtime().block_on(leads.lead_async(until_it_is_lost));
            });
            scene.sleep(millis(1_500)); // between two renewals
            a.cancel();
            let _says = a.is_leader();
            world.join(task);
            assert_eq!(b.attempt(), Ok(true), "the lease is free");
        },
        // A leader is cancelled.
        |history| {
            let cancelled =
                |before: &Known, asked: &Asked<'_>| before.led && matches!(asked.op, Op::Cancel(_));
            everybody_returned(history)
                && some_step(history, |before, asked, _| cancelled(before, asked))
        },
    )
    .not_on(sleeps)
}

/// A task drops its run while a renewal is on its way.
pub(super) fn dropped_run() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "dropped_run",
        "a task drops its run during a renewal, and runs the elector again",
        |world| {
            let scene = Scene::new(world);
            let hangs = |_: &AnyRuntime, call: Passing| {
                if call.at == at(1_000) { Fate::Hangs(millis(800)) } else { Fate::Prompt }
            };
            let a = scene.elector_on(hangs, strict("a"));
            let leads = a.clone();
            let task = world.spawn("task", move || {
                let old = drop_a_run(&leads, at(1_200));
                leads.returned();
                let _not_valid = leads.is_leader();
                leads.again().lead_alone(|leads, _| {
                    let old = &old;
                    async move {
                        let runtime = leads.runtime();
                        sleep_until(runtime, runtime.now() + millis(500)).await; // between renewals
                        let _not_valid = old.as_ref().map(Leads::is_valid);
                        leads.cancel();
                    }
                });
            });
            scene.sleep(millis(1_100)); // while the renewal is on its way
            let _says = a.is_leader();
            world.join(task);
        },
        // The run was dropped while a renewal was on its way, and led again.
        |history| {
            let dropped = some_step(history, |before, asked, _| {
                let renews = before.call.as_ref().is_some_and(|sent| claims_the_lease(&sent.io));
                renews && matches!(asked.op, Op::Abort(_))
            });
            dropped && terms(history, 0) == 2
        },
    )
    .not_on(sleeps)
}

/// Runs until some time, and drops the run; returns its leadership.
fn drop_a_run(a: &Participant, until: Instant) -> Option<Leads> {
    let runtime = a.runtime();
    let kept = OnceLock::new();
    runtime.block_on(async {
        let mut run = pin!(a.lead_async(|_, leadership| {
            let first = kept.set(Leads::clone(&leadership));
            assert!(first.is_ok(), "it leads once a run");
            async move { leadership.lost().await }
        }));
        let mut moment = pin!(sleep_until(runtime, until));
        poll_fn(|task| match run.as_mut().poll(task) {
            Poll::Ready(_) => panic!("nobody has cancelled it"),
            Poll::Pending => moment.as_mut().poll(task),
        })
        .await;
    });
    kept.into_inner()
}

/// The protected work goes on long after its leadership was cancelled.
pub(super) fn work_hangs() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "work_hangs",
        "a run that releases its lease is cancelled, and its work does not end in time",
        |world| {
            let scene = Scene::new(world);
            let a = scene.elector(releasing("a"));
            let cancelled = a.clone();
            let waits = scene.clone();
            let canceller = world.spawn("canceller", move || {
                waits.sleep(millis(500));
                cancelled.cancel();
            });
            a.lead(move |_, leadership| {
                leadership.wait();
                scene.sleep(millis(2_000));
            });
            world.join(canceller);
        },
        // The run is over before the work.
        |history| {
            some_step(history, |before, asked, _| {
                matches!(asked.op, Op::WorkEnded(_)) && before.led && !before.running
            })
        },
    )
    .not_on(sleeps)
}

/// The protected work of a task panics.
pub(super) fn work_breaks() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "work_breaks",
        "the work of a leading task panics, and the elector runs again",
        |world| {
            let scene = Scene::new(world);
            let a = scene.elector(releasing("a"));
            let leads = a.clone();
            let task = world.spawn("task", move || {
                let work = |_: Participant, _: Leads| async { panic!("the work breaks") };
                let run = || leads.runtime().block_on(leads.lead_async(work));
                assert!(catch_unwind(AssertUnwindSafe(run)).is_err(), "the panic is passed on");
                leads.returned();
                let _not_valid = leads.is_leader();
                leads.again().lead(|_, _| {});
            });
            scene.sleep(millis(100));
            let _says = a.is_leader();
            world.join(task);
        },
        // The work broke while its run led, and the elector led again.
        |history| {
            let breaks = some_step(history, |before, asked, _| {
                before.running && matches!(asked.op, Op::WorkEnded(work) if work.panicked)
            });
            breaks && terms(history, 0) == 2
        },
    )
    .not_on(sleeps)
}
