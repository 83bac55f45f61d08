//! Leases that are lost, and answers that come too late.

use std::time::Duration;

use seatrial_core::elector::Next;
use seatrial_core::runtime::{Ambient as _, Runtime};

use super::renewals::at;
use super::{millis, some_step, terms};
use crate::elector::Elector;
use crate::elector::network::{Fate, Passing, sleep_until};
use crate::elector::part::{Edit, Request};
use crate::elector::scene::{Scene, releasing, strict, until_it_ends};
use crate::engine::AnyRuntime;
use crate::trial::{Scenario, sleeps};

/// An administrator takes the lease away; another elector may take it before the leader reads it.
pub(super) fn lease_is_taken_away() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "lease_is_taken_away",
        "an administrator clears or deletes the lease of a leader, \
                                and another elector takes it",
        |world| {
            let scene = Scene::new(world);
            let (a, b) = (scene.elector(strict("a")), scene.elector(strict("b")));
            let administrator = world.spawn("administrator", move || {
                scene.sleep(millis(1_000));
                let deeds = [Request::Edit(Edit::ClearHolder), Request::Delete];
                let chosen = scene.world.runtime().choose(deeds.len() as u32) as usize;
                scene.interfere(deeds[chosen].clone()).expect("the lease exists");
                let _won = b.attempt();
                let _says = b.is_leader();
            });
            a.lead(|a, leadership| {
                a.runtime().sleep_until(at(1_500));
                let _not_valid = leadership.is_valid(); // if it has read its loss
                leadership.wait();
            });
            world.join(administrator);
        },
        // The leader ends its term because of what it reads.
        |history| {
            some_step(history, |before, asked, _| {
                let ends =
                    matches!(asked.turn().map(|turn| &turn.next), Some(Next::Ended { led: true }));
                before.led && ends && asked.learned().is_some()
            })
        },
    )
    .not_on(sleeps)
}

/// A leader was cut off. Its release reads a lease that another elector holds by now.
pub(super) fn late_release() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "late_release",
        "a leader that was cut off releases when another elector holds the lease",
        |world| {
            let scene = Scene::new(world);
            let network = |_: &AnyRuntime, call: Passing| match call.at {
                now if now <= at(1_000) => Fate::Prompt,
                now if now < at(3_500) => Fate::LostRequest,
                now if now == at(3_500) => Fate::Slow(millis(1_000), millis(0)),
                _ => Fate::Prompt,
            };
            let (a, b) = (scene.elector_on(network, releasing("a")), scene.elector(strict("b")));
            let other = world.spawn("b", move || {
                for pause in [1_100, 3_100, 300] {
                    scene.sleep(millis(pause));
                    let _won = b.attempt();
                }
            });
            a.lead(until_it_ends);
            let _healthy = a.check(Duration::ZERO).is_ok();
            world.join(other);
        },
        // The release reads the other elector's record.
        |history| {
            some_step(history, |before, asked, _| {
                let foreign = matches!(asked.learned(), Some(Ok(stored))
                if stored.record.holder.as_str() == "b");
                before.winding_down && foreign
            })
        },
    )
    .not_on(sleeps)
}

/// The answer to an acquisition comes too late to act on it, or after the lease has run out.
pub(super) fn late_acquisition() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "late_acquisition",
        "the answer to an acquisition comes too late to act on it",
        |world| {
            let scene = Scene::new(world);
            let network = |runtime: &AnyRuntime, call: Passing| {
                if !call.writes || call.at > at(0) {
                    return Fate::Prompt;
                }
                let delays = [2_700, 3_500].map(millis);
                Fate::Slow(millis(0), delays[runtime.choose(delays.len() as u32) as usize])
            };
            let (a, b) = (scene.elector_on(network, releasing("a")), scene.elector(releasing("b")));
            let other = world.spawn("b", move || {
                scene.sleep(millis(100));
                b.lead_alone(|b, leadership| async move {
                    let _valid = leadership.is_valid();
                    sleep_until(b.runtime(), b.runtime().now() + millis(400)).await;
                    let _valid = leadership.is_valid();
                    b.cancel();
                })
            });
            a.lead(|a, leadership| {
                let _valid = leadership.is_valid();
                a.cancel();
            });
            world.join(other);
        },
        // The elector whose answer was late leads later, with a term of its own.
        |history| terms(history, 0) == 1 && terms(history, 1) == 1,
    )
    .not_on(sleeps)
}
