//! Runs that are awaited, and callbacks that hang or break.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::OnceLock;
use std::task::Poll;

use seatrial_core::elector::Op;
use seatrial_core::runtime::{Instant, Runtime};

use super::renewals::at;
use super::{Known, everybody_returned, millis, some_step, terms};
use crate::elector::network::{Fate, Passing, sleep_until};
use crate::elector::scene::{Leads, Participant, Scene, releasing, strict};
use crate::elector::timeline::{Asked, claims_the_lease};
use crate::elector::{Elector, History};
use crate::engine::Engine;
use crate::trial::{Scenario, World, sleeps};

/// A task runs an elector and does its work; it is cancelled between two renewals.
pub(super) struct AwaitedRun;

impl Scenario<Elector> for AwaitedRun {
    const NAME: &'static str = "awaited_run";
    const SAYS: &'static str =
        "a task leads and renews, interleaved with its work, until it is cancelled";

    fn run<R: Runtime>(&self, world: &World<R, Elector>) {
        let scene = Scene::new(world);
        let (a, b) = (scene.elector(releasing("a")), scene.elector(strict("b")));
        let leads = a.clone();
        let task = world.spawn("task", move || {
            let until_it_is_lost = |_: Participant<R>, leadership: Leads<R>| async move {
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
    }

    /// A leader is cancelled.
    fn reaches(history: &History) -> bool {
        let cancelled =
            |before: &Known, asked: &Asked<'_>| before.led && matches!(asked.op, Op::Cancel(_));
        everybody_returned(history)
            && some_step(history, |before, asked, _| cancelled(before, asked))
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}

/// A task drops its run while a renewal is on its way.
pub(super) struct DroppedRun;

impl Scenario<Elector> for DroppedRun {
    const NAME: &'static str = "dropped_run";
    const SAYS: &'static str = "a task drops its run during a renewal, and runs the elector again";

    fn run<R: Runtime>(&self, world: &World<R, Elector>) {
        let scene = Scene::new(world);
        let hangs = |_: &R, call: Passing| {
            if call.at == at(1_000) { Fate::Hangs(millis(800)) } else { Fate::Prompt }
        };
        let a = scene.elector_on(hangs, strict("a"));
        let leads = a.clone();
        let task = world.spawn("task", move || {
            let old = drop_a_run(&leads, at(1_200));
            leads.returned();
            let _not_valid = leads.is_leader();
            leads.again().lead(move |leads, _| {
                let runtime = leads.runtime();
                runtime.sleep_until(runtime.now() + millis(500)); // between two renewals
                let _not_valid = old.as_ref().map(Leads::is_valid);
                leads.cancel();
            });
        });
        scene.sleep(millis(1_100)); // while the renewal is on its way
        let _says = a.is_leader();
        world.join(task);
    }

    /// The run was dropped while a renewal was on its way, and led again.
    fn reaches(history: &History) -> bool {
        let dropped = some_step(history, |before, asked, _| {
            let renews = before.call.as_ref().is_some_and(|sent| claims_the_lease(&sent.io));
            renews && matches!(asked.op, Op::Abort(_))
        });
        dropped && terms(history, 0) == 2
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}

/// Runs until some time, and drops the run; returns its leadership.
fn drop_a_run<R: Runtime>(a: &Participant<R>, until: Instant) -> Option<Leads<R>> {
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
pub(super) struct WorkHangs;

impl Scenario<Elector> for WorkHangs {
    const NAME: &'static str = "work_hangs";
    const SAYS: &'static str =
        "a run that releases its lease is cancelled, and its work does not end in time";

    fn run<R: Runtime>(&self, world: &World<R, Elector>) {
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
    }

    /// The run is over before the work.
    fn reaches(history: &History) -> bool {
        some_step(history, |before, asked, _| {
            matches!(asked.op, Op::WorkEnded(_)) && before.led && !before.running
        })
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}

/// The protected work of a task panics.
pub(super) struct WorkBreaks;

impl Scenario<Elector> for WorkBreaks {
    const NAME: &'static str = "work_breaks";
    const SAYS: &'static str = "the work of a leading task panics, and the elector runs again";

    fn run<R: Runtime>(&self, world: &World<R, Elector>) {
        let scene = Scene::new(world);
        let a = scene.elector(releasing("a"));
        let leads = a.clone();
        let task = world.spawn("task", move || {
            let work = |_: Participant<R>, _: Leads<R>| async { panic!("the work breaks") };
            let run = || leads.runtime().block_on(leads.lead_async(work));
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err(), "the panic is passed on");
            leads.returned();
            let _not_valid = leads.is_leader();
            leads.again().lead(|_, _| {});
        });
        scene.sleep(millis(100));
        let _says = a.is_leader();
        world.join(task);
    }

    /// The work broke while its run led, and the elector led again.
    fn reaches(history: &History) -> bool {
        let breaks = some_step(history, |before, asked, _| {
            before.running && matches!(asked.op, Op::WorkEnded(work) if work.panicked)
        });
        breaks && terms(history, 0) == 2
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}
