//! Events that happen at the same moment, or a moment too late.

use std::time::Duration;

use seatrial_core::elector::{Next, Op};
use seatrial_core::runtime::Runtime;

use super::renewals::at;
use super::{learns_late, millis, some, some_step, terms};
use crate::elector::Elector;
use crate::elector::network::{Fate, Passing};
use crate::elector::part::Edit;
use crate::elector::scene::{IS_TOLD, Scene, releasing, strict, until_it_ends};
use crate::engine::AnyRuntime;
use crate::trial::{Scenario, sleeps};

/// An elector is checked while it takes over a lease that ran out long ago.
pub(super) fn checked_while_it_acquires() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "checked_while_it_acquires",
        "an elector is checked while it takes over a lease that ran out long ago",
        |world| {
            let scene = Scene::new(world);
            let (a, b) = (scene.elector(strict("a")), scene.elector(strict("b")));
            assert_eq!((b.attempt(), a.attempt()), (Ok(true), Ok(false)));
            scene.sleep(millis(3_500));
            let checked = a.clone();
            let checker = world.spawn("checker", move || checked.is_checked(Duration::ZERO));
            assert_eq!(a.attempt(), Ok(true));
            world.join(checker);
        },
        // The check comes while the write is on its way.
        |history| {
            some_step(history, |before, asked, _| {
                before.call.is_some() && matches!(asked.op, Op::Check(_))
            })
        },
    )
    .not_on(sleeps)
}

/// An administrator clears the lease between the acquisition and the first renewal.
pub(super) fn lost_at_once() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "lost_at_once",
        "a lease is cleared right after it is taken, so two leaders are reported at one moment",
        |world| {
            let scene = Scene::new(world);
            let a = scene.elector(strict("a"));
            let cancelled = a.clone();
            let administrator = world.spawn("administrator", move || {
                let _there_may_be_none = scene.edit(Edit::ClearHolder);
                scene.sleep(millis(500));
                cancelled.cancel();
            });
            a.lead_and_watch(until_it_ends);
            world.join(administrator);
        },
        // The callback was told of both leaders.
        |history| history.notes(IS_TOLD).count() == 2,
    )
    .not_on(sleeps)
}

/// A run frees its lease, which an elector of the same identity has taken meanwhile.
pub(super) fn namesake() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "namesake",
        "a leader releases a lease that an elector of the same identity has taken meanwhile",
        |world| {
            let scene = Scene::new(world);
            let (first, second) = (scene.elector(releasing("a")), scene.elector(strict("a")));
            let cancelled = first.clone();
            let other = world.spawn("other", move || {
                scene.sleep(millis(500));
                scene.edit(Edit::ClearHolder).expect("the lease exists");
                assert_eq!(second.attempt(), Ok(true));
                cancelled.cancel();
                let _says = second.is_leader();
            });
            first.lead(until_it_ends);
            world.join(other);
        },
        // The release reads the other elector's record.
        |history| {
            some(history, |before, event| {
                let Some((elector, asked)) = before.asked(event) else { return false };
                let read = asked.learned().and_then(|learned| learned.as_ref().ok());
                asked.number == 0
                    && elector.winding_down
                    && read.is_some_and(|read| elector.written != Some(read.record.transitions))
            })
        },
    )
    .not_on(sleeps)
}

/// A renewal succeeds, and its answer comes when the term has run out.
pub(super) fn late_renewal() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "late_renewal",
        "a renewal is answered after the term ran out, before any caller checks the term",
        |world| {
            let scene = Scene::new(world);
            let late = |_: &AnyRuntime, call: Passing| {
                if call.at == at(1_000) { Fate::Late(millis(1_700)) } else { Fate::Prompt }
            };
            let a = scene.elector_on(late, strict("a"));
            a.lead(|a, leadership| {
                a.runtime().sleep_until(at(2_800));
                let _not_valid = (leadership.is_valid(), a.is_leader());
                a.cancel();
            });
        },
        |history| {
            let late = learns_late(history);
            late && terms(history, 0) == 1
                && some_step(history, |_, asked, _| {
                    matches!(asked.turn().map(|turn| &turn.next), Some(Next::Ended { led: true }))
                })
        },
    )
    .not_on(sleeps)
}
