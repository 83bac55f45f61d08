//! Runs that end: cancelled, releasing, broken.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use seatrial_core::elector::{Next, Op, StoreError};
use seatrial_core::runtime::Ambient as _;

use super::renewals::at;
use super::{learns, millis, some_step, terms};
use crate::elector::network::{Fate, Passing};
use crate::elector::part::Edit;
use crate::elector::scene::{Leads, Participant, Scene, releasing, strict, until_it_ends};
use crate::elector::{Elector, History};
use crate::engine::AnyRuntime;
use crate::trial::{Scenario, What, sleeps};

/// A run is cancelled at any point: before it begins, in a call, in a sleep, in a renewal.
pub(super) fn cancelled_anywhere() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "cancelled_anywhere",
        "a run that releases its lease is cancelled before, during or between calls",
        |world| {
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
        },
        // The run is cancelled while a call is on its way.
        |history| {
            some_step(history, |before, asked, _| {
                before.running && before.call.is_some() && matches!(asked.op, Op::Cancel(_))
            })
        },
    )
    .not_on(sleeps)
}

/// A renewal that its sender has given up arrives while the lease is released.
pub(super) fn release_races_a_renewal() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "release_races_a_renewal",
        "a renewal that was given up arrives while the lease is released",
        |world| {
            let scene = Scene::new(world);
            let astray = AtomicBool::new(false);
            let network = move |_: &AnyRuntime, call: Passing| {
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
        },
        |history| learns(history, |error| *error == StoreError::Conflict),
    )
    .not_on(sleeps)
}

/// While the lease is released, a stranger puts a label on it.
pub(super) fn contested_release() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "contested_release",
        "another program labels the lease while it is released",
        |world| {
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
        },
        |history| {
            some_step(history, |before, asked, _| {
                let conflicts = matches!(asked.learned(), Some(Err(StoreError::Conflict)));
                before.winding_down && conflicts
            })
        },
    )
    .not_on(sleeps)
}

/// A run is cancelled while the answer to its acquisition is late or lost.
pub(super) fn abandoned_acquisition() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "abandoned_acquisition",
        "a run is cancelled while it acquires, and its write or the answer is late or lost",
        |world| {
            let scene = Scene::new(world);
            let acquired = AtomicBool::new(false);
            let network = move |runtime: &AnyRuntime, call: Passing| {
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
        },
        // The run is over, never led, and has freed the lease that it had taken.
        |history| {
            some_step(history, |before, asked, _| {
                let ends = matches!(asked.turn().map(|turn| &turn.next), Some(Next::Ended { .. }));
                let frees =
                    matches!(asked.learned(), Some(Ok(stored)) if stored.record.holder.is_empty());
                ends && frees && !before.led
            })
        },
    )
    .not_on(sleeps)
}

/// A call on the lock panics; the elector is ready for another run.
pub(super) fn client_breaks() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "client_breaks",
        "a call on the lock panics at some point, and the elector runs again",
        |world| {
            let scene = Scene::new(world);
            let (chosen, alone) = (world.runtime().choose(4), world.runtime().choose(2));
            let broken = AtomicBool::new(false);
            let network = move |_: &AnyRuntime, call: Passing| {
                let breaks = call.nth == chosen && !broken.swap(true, Ordering::Relaxed);
                if breaks { Fate::Panics } else { Fate::Prompt }
            };
            let a = scene.elector_on(network, strict("a"));
            // One of both runs is a single task: the orders of both together are many more.
            let task = world.spawn("task", move || {
                let first = catch_unwind(AssertUnwindSafe(|| match alone {
                    0 => a.lead_alone(|_, leadership| async move { leadership.lost().await }),
                    _ => a.lead(until_it_ends),
                }));
                assert!(first.is_err(), "the panic is passed on");
                let asks = |a: &Participant, leadership: &Leads| {
                    let _valid = leadership.is_valid();
                    a.cancel();
                };
                match alone {
                    0 => a.again().lead(asks),
                    _ => a.again().lead_alone(|a, leadership| async move { asks(&a, &leadership) }),
                }
            });
            world.join(task);
        },
        // The elector leads again, after it led when the client broke.
        |history| is_aborted(history) && terms(history, 0) == 2,
    )
    .not_on(sleeps)
}

fn is_aborted(history: &History) -> bool {
    let aborts = |event: &crate::elector::Event| {
        matches!(&event.what, What::Step { op: crate::elector::part::Call::Ask(ask), .. }
            if matches!(ask.0, Op::Abort(_)))
    };
    history.events.iter().any(aborts)
}

/// A call on the lock panics in a single attempt; the elector is ready for another one.
pub(super) fn attempt_breaks() -> Scenario<Elector> {
    Scenario::new(
        "attempt_breaks",
        "a call on the lock panics in a single attempt, and the elector tries again",
        |world| {
            let scene = Scene::new(world);
            let (chosen, broken) = (world.runtime().choose(2), AtomicBool::new(false));
            let network = move |_: &AnyRuntime, call: Passing| {
                let breaks = call.nth == chosen && !broken.swap(true, Ordering::Relaxed);
                if breaks { Fate::Panics } else { Fate::Prompt }
            };
            let a = scene.elector_on(network, strict("a"));
            let first = catch_unwind(AssertUnwindSafe(|| a.attempt()));
            assert!(first.is_err(), "the panic is passed on");
            assert_eq!(a.attempt(), Ok(true));
        },
        is_aborted,
    )
}
