//! One elector leads; other threads ask about it, or wait for it to fail.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use seatrial_core::elector::{Next, Op};
use seatrial_core::runtime::{Ambient as _, Instant};

use super::{millis, some, some_step, terms};
use crate::elector::Elector;
use crate::elector::asked::claims_the_lease;
use crate::elector::network::{Fate, Passing};
use crate::elector::scene::{Scene, strict, until_it_ends};
use crate::engine::AnyRuntime;
use crate::trial::{Scenario, has_many_traces, sleeps};

/// A moment, counted from the beginning of the execution.
pub(super) fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// A thread asks everything about a leader that renews.
pub(super) fn leader_is_asked() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "leader_is_asked",
        "an elector gets every kind of question while it acquires and while it renews",
        |world| {
            let scene = Scene::new(world);
            let a = scene.elector(strict("a"));
            let asked = a.clone();
            let observer = world.spawn("observer", move || {
                let _says = asked.is_leader();
                scene.sleep(millis(1_000));
                // One question of four: all of them, one after another, have many more orders.
                match scene.world.runtime().choose(4) {
                    0 => drop(asked.observed()),
                    1 => drop(asked.leader()),
                    2 => drop(asked.check(Duration::ZERO)),
                    _ => {
                        let _says = asked.is_leader();
                    }
                }
                asked.cancel();
                let _says = asked.is_leader();
            });
            a.lead(until_it_ends);
            world.join(observer);
        },
        // A question is answered while a renewal is on its way.
        |history| {
            some_step(history, |before, asked, _| {
                let renews = before.call.as_ref().is_some_and(|sent| claims_the_lease(&sent.io));
                before.led && renews && matches!(asked.op, Op::Look(_))
            })
        },
    )
    .not_on(sleeps)
}

/// A client hangs far beyond its deadline: only the clock of a caller that asks can end the term.
pub(super) fn leader_hangs() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "leader_hangs",
        "a renewal hangs beyond its deadline, and another elector takes the lease",
        |world| {
            let scene = Scene::new(world);
            let hangs = |_: &AnyRuntime, call: Passing| {
                if call.at >= at(1_000) { Fate::Hangs(millis(6_000)) } else { Fate::Prompt }
            };
            let (a, b) = (scene.elector_on(hangs, strict("a")), scene.elector(strict("b")));
            let stuck = a.clone();
            let observer = world.spawn("observer", move || {
                scene.sleep(millis(100));
                let _lost = b.attempt();
                scene.sleep(millis(2_400));
                let _says = (stuck.is_leader(), stuck.check(Duration::ZERO).is_ok());
                scene.sleep(millis(700));
                let _won = b.attempt();
                let _says = (b.is_leader(), stuck.is_leader());
                let _wedged =
                    (stuck.check(Duration::ZERO).is_ok(), stuck.check(millis(900)).is_ok());
            });
            a.lead(until_it_ends);
            world.join(observer);
        },
        // The other elector takes the lease while the call hangs.
        |history| {
            let taken = |name: &str| {
                some(history, |before, _| {
                    let holder =
                        before.lease.as_ref().and_then(|lease| lease.content.holder.clone());
                    let waits = before.electors.first().is_some_and(|first| first.call.is_some());
                    waits && holder.is_some_and(|holder| holder.as_str() == name)
                })
            };
            taken("b")
        },
    )
    .not_on(sleeps)
}

/// A leader is cut off in the middle of a renewal; another takes over when the lease has run out.
pub(super) fn loses_to_another() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "loses_to_another",
        "a renewal or its answer is lost or late, the leader is cut off, and another elector leads",
        |world| {
            let scene = Scene::new(world);
            let cut_off = AtomicBool::new(false);
            let network = move |runtime: &AnyRuntime, call: Passing| {
                if call.at < at(1_000) {
                    return Fate::Prompt;
                }
                if cut_off.swap(true, Ordering::Relaxed) {
                    return Fate::LostRequest;
                }
                let renewal = [
                    Fate::Prompt,
                    Fate::LostRequest,
                    Fate::LostReply,
                    Fate::Slow(Duration::ZERO, millis(1_900)),
                ];
                renewal[runtime.choose(renewal.len() as u32) as usize]
            };
            let (a, b) = (scene.elector_on(network, strict("a")), scene.elector(strict("b")));
            let other = world.spawn("b", move || {
                scene.sleep(millis(1_000));
                b.lead(|b, leadership| {
                    let _valid = leadership.is_valid();
                    b.cancel();
                })
            });
            a.lead(until_it_ends);
            world.join(other);
        },
        |history| terms(history, 0) == 1 && terms(history, 1) == 1,
    )
    .not_on(has_many_traces)
    .not_on(sleeps)
}

/// From some time on, the store refuses every renewal at once.
pub(super) fn renewals_are_refused() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "renewals_are_refused",
        "the store refuses every renewal at once, until the leader gives up",
        |world| {
            let scene = Scene::new(world);
            let network = |_: &AnyRuntime, call: Passing| {
                if call.at >= at(1_000) { Fate::Refused } else { Fate::Prompt }
            };
            let a = scene.elector_on(network, strict("a"));
            let asked = a.clone();
            let observer = world.spawn("observer", move || {
                scene.sleep(millis(1_500));
                let _says = asked.is_leader();
            });
            a.lead(until_it_ends);
            world.join(observer);
        },
        // The leader has given up by itself.
        |history| {
            some_step(history, |before, asked, _| {
                let ends =
                    matches!(asked.turn().map(|turn| &turn.next), Some(Next::Ended { led: true }));
                ends && !before.cancelled
            })
        },
    )
    .not_on(sleeps)
}
