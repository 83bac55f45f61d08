//! Runs that end: cancelled, releasing, broken.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use seatrial_core::elector::{Next, Op, StoreError};
use seatrial_core::runtime::Runtime;

use super::renewals::at;
use super::{learns, millis, some_step, terms};
use crate::elector::network::{Fate, Passing};
use crate::elector::part::Edit;
use crate::elector::scene::{Scene, releasing, strict, until_it_ends};
use crate::elector::{Elector, History};
use crate::engine::Engine;
use crate::trial::{Scenario, What, World, sleeps};

/// A run is cancelled at any point: before it begins, in a call, in a sleep, in a renewal.
pub(super) struct CancelledAnywhere;

impl Scenario<Elector> for CancelledAnywhere {
    const NAME: &'static str = "cancelled_anywhere";
    const SAYS: &'static str =
        "a run that releases its lease is cancelled before, during or between calls";

    fn run<R: Runtime>(&self, world: &World<R, Elector>) {
        let scene = Scene::new(world);
        let (a, b) = (scene.elector(releasing("a")), scene.elector(strict("b")));
        let cancelled = a.clone();
        let canceller = world.spawn("canceller", move || {
            let moments = [0, 500, 1_000].map(millis);
            let chosen = scene.world.runtime().choose(moments.len() as u32) as usize;
            scene.sleep(moments[chosen]);
            cancelled.cancel();
            let _says = cancelled.is_leader();
        });
        a.lead(until_it_ends);
        world.join(canceller);
        assert_eq!(b.attempt(), Ok(true), "the lease is free");
    }

    /// The run is cancelled while a call is on its way.
    fn reaches(history: &History) -> bool {
        some_step(history, |before, asked, _| {
            before.running && before.call.is_some() && matches!(asked.op, Op::Cancel(_))
        })
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}

/// A renewal that its sender has given up arrives while the lease is released.
pub(super) struct ReleaseRacesARenewal;

impl Scenario<Elector> for ReleaseRacesARenewal {
    const NAME: &'static str = "release_races_a_renewal";
    const SAYS: &'static str = "a renewal that was given up arrives while the lease is released";

    fn run<R: Runtime>(&self, world: &World<R, Elector>) {
        let scene = Scene::new(world);
        let astray = AtomicBool::new(false);
        let network = move |_: &R, call: Passing| {
            let renews = call.writes && call.at >= at(1_000);
            if renews && !astray.swap(true, Ordering::Relaxed) {
                return Fate::Astray(millis(500));
            }
            Fate::Prompt
        };
        let (a, b) = (scene.elector_on(network, releasing("a")), scene.elector(strict("b")));
        let cancelled = a.clone();
        let canceller = world.spawn("canceller", move || {
            scene.sleep(millis(1_500));
            cancelled.cancel();
        });
        a.lead(until_it_ends);
        world.join(canceller);
        let _won = b.attempt();
    }

    fn reaches(history: &History) -> bool {
        learns(history, |error| *error == StoreError::Conflict)
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}

/// While the lease is released, a stranger puts a label on it.
pub(super) struct ContestedRelease;

impl Scenario<Elector> for ContestedRelease {
    const NAME: &'static str = "contested_release";
    const SAYS: &'static str = "another program labels the lease while it is released";

    fn run<R: Runtime>(&self, world: &World<R, Elector>) {
        let scene = Scene::new(world);
        let a = scene.elector(releasing("a"));
        let touches = scene.clone();
        let toucher = world.spawn("toucher", move || {
            touches.sleep(millis(500));
            touches.edit(Edit::Touch).expect("the lease exists");
        });
        a.lead(move |a, leadership| {
            scene.sleep(millis(500));
            a.cancel();
            let _not_valid = leadership.is_valid();
        });
        world.join(toucher);
    }

    fn reaches(history: &History) -> bool {
        some_step(history, |before, asked, _| {
            let conflicts = matches!(asked.learned(), Some(Err(StoreError::Conflict)));
            before.winding_down && conflicts
        })
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}

/// A run is cancelled while the answer to its acquisition is late or lost.
pub(super) struct AbandonedAcquisition;

impl Scenario<Elector> for AbandonedAcquisition {
    const NAME: &'static str = "abandoned_acquisition";
    const SAYS: &'static str =
        "a run is cancelled while it acquires, and its write or the answer is late or lost";

    fn run<R: Runtime>(&self, world: &World<R, Elector>) {
        let scene = Scene::new(world);
        let acquired = AtomicBool::new(false);
        let network = move |runtime: &R, call: Passing| {
            if !call.writes || acquired.swap(true, Ordering::Relaxed) {
                return Fate::Prompt;
            }
            let fates = [
                Fate::Slow(Duration::ZERO, millis(800)),
                Fate::LostReply,
                Fate::Astray(millis(500)),
            ];
            fates[runtime.choose(fates.len() as u32) as usize]
        };
        let (a, b) = (scene.elector_on(network, releasing("a")), scene.elector(strict("b")));
        let cancelled = a.clone();
        let canceller = world.spawn("canceller", move || {
            let moments = [500, 1_500].map(millis); // in the attempt, and after it
            let chosen = scene.world.runtime().choose(moments.len() as u32) as usize;
            scene.sleep(moments[chosen]);
            cancelled.cancel();
        });
        a.lead(until_it_ends);
        world.join(canceller);
        let _won = b.attempt();
    }

    /// The run is over, never led, and has freed the lease that it had taken.
    fn reaches(history: &History) -> bool {
        some_step(history, |before, asked, _| {
            let ends = matches!(asked.turn().map(|turn| &turn.next), Some(Next::Ended { .. }));
            let frees =
                matches!(asked.learned(), Some(Ok(stored)) if stored.record.holder.is_empty());
            ends && frees && !before.led
        })
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}

/// A call on the lock panics; the elector is ready for another run.
pub(super) struct ClientBreaks;

impl Scenario<Elector> for ClientBreaks {
    const NAME: &'static str = "client_breaks";
    const SAYS: &'static str =
        "a call on the lock panics at some point, and the elector runs again";

    fn run<R: Runtime>(&self, world: &World<R, Elector>) {
        let scene = Scene::new(world);
        let chosen = world.runtime().choose(4);
        let broken = AtomicBool::new(false);
        let network = move |_: &R, call: Passing| {
            let breaks = call.nth == chosen && !broken.swap(true, Ordering::Relaxed);
            if breaks { Fate::Panics } else { Fate::Prompt }
        };
        let a = scene.elector_on(network, strict("a"));
        let first = catch_unwind(AssertUnwindSafe(|| a.lead(until_it_ends)));
        assert!(first.is_err(), "the panic is passed on");
        a.again().lead(|a, leadership| {
            let _valid = leadership.is_valid();
            a.cancel();
        });
    }

    /// The elector leads again, after it led when the client broke.
    fn reaches(history: &History) -> bool {
        is_aborted(history) && terms(history, 0) == 2
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}

fn is_aborted(history: &History) -> bool {
    let aborts = |event: &crate::elector::Event| {
        matches!(&event.what, What::Step { op: crate::elector::part::Call::Ask(ask), .. }
            if matches!(ask.0, Op::Abort(_)))
    };
    history.events.iter().any(aborts)
}

/// A call on the lock panics in a single attempt; the elector is ready for another one.
pub(super) struct AttemptBreaks;

impl Scenario<Elector> for AttemptBreaks {
    const NAME: &'static str = "attempt_breaks";
    const SAYS: &'static str =
        "a call on the lock panics in a single attempt, and the elector tries again";

    fn run<R: Runtime>(&self, world: &World<R, Elector>) {
        let scene = Scene::new(world);
        let (chosen, broken) = (world.runtime().choose(2), AtomicBool::new(false));
        let network = move |_: &R, call: Passing| {
            let breaks = call.nth == chosen && !broken.swap(true, Ordering::Relaxed);
            if breaks { Fate::Panics } else { Fate::Prompt }
        };
        let a = scene.elector_on(network, strict("a"));
        let first = catch_unwind(AssertUnwindSafe(|| a.attempt()));
        assert!(first.is_err(), "the panic is passed on");
        assert_eq!(a.attempt(), Ok(true));
    }

    fn reaches(history: &History) -> bool {
        is_aborted(history)
    }
}
