//! Calls and callbacks that take long.

use seatrial_core::runtime::Runtime;

use super::renewals::at;
use super::{everybody_returned, millis, some_step};
use crate::elector::Elector;
use crate::elector::network::{Fate, Passing, sleep_until};
use crate::elector::part::Edit;
use crate::elector::scene::{IS_TOLD, Leads, Participant, Scene, releasing, strict, until_it_ends};
use crate::engine::AnyRuntime;
use crate::trial::{Scenario, has_many_traces, sleeps};

/// A task cancels its run while it leads, and its calls to free the lease are slow.
pub(super) fn slow_release() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "slow_release",
        "a leading task cancels its run, and the calls that free its lease take time",
        |world| {
            let scene = Scene::new(world);
            let slow = |_: &AnyRuntime, call: Passing| {
                let is_late = call.at >= at(1_500);
                if is_late { Fate::Slow(millis(50), millis(50)) } else { Fate::Prompt }
            };
            let (a, b) = (scene.elector_on(slow, releasing("a")), scene.elector(strict("b")));
            let task = world.spawn("task", move || {
                let cancels = |leads: Participant, leadership: Leads| async move {
                    sleep_until(leads.runtime(), at(1_500)).await; // between two renewals
                    leads.cancel();
                    leadership.lost().await;
                };
                a.runtime().block_on(a.lead_async(cancels));
            });
            world.join(task);
            assert_eq!(b.attempt(), Ok(true), "the lease is free");
        },
        // The lease is freed after the token has ended.
        |history| {
            everybody_returned(history)
                && some_step(history, |before, asked, event| {
                    before.winding_down
                        && event.at > at(1_500)
                        && asked.learned().is_some_and(Result::is_ok)
                })
        },
    )
    .not_on(has_many_traces)
    .not_on(sleeps)
}

/// A leader comes back while the callback is still busy with an earlier one.
pub(super) fn slow_reports() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "slow_reports",
        "a callback takes long for each new leader, and a leader that waits to be told comes back",
        |world| {
            let scene = Scene::new(world);
            let watcher = scene.elector(strict("w"));
            scene.nominate("x");
            let cancelled = watcher.clone();
            let server = world.spawn("server", move || {
                for letter in ['a', 'b', 'a'] {
                    scene.sleep(millis(2_500)); // longer than the watcher waits between two reads
                    scene.edit(Edit::Nominate(letter)).expect("the lease exists");
                }
                scene.sleep(millis(2_500));
                cancelled.cancel();
            });
            watcher.watch_slowly(millis(20_000), until_it_ends);
            world.join(server);
        },
        // The callback is told of the same leader twice, with another one between.
        |history| history.notes(IS_TOLD).count() == 4,
    )
    .not_on(sleeps)
}
