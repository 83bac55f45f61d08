//! Unusual leases and set-ups.

use std::time::Duration;

use seatrial_core::elector::{Bounds, Timing};

use super::{millis, terms};
use crate::elector::Elector;
use crate::elector::part::Edit;
use crate::elector::scene::{IS_TOLD, Scene, classic, strict};
use crate::trial::{Scenario, sleeps};

/// Another program has made a lease that names a holder and nothing else.
pub(super) fn strange_lease() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "strange_lease",
        "a lease has a holder, but neither a duration nor times",
        |world| {
            let scene = Scene::new(world);
            scene.strange_lease();
            let a = scene.elector(strict("a"));
            let asked = a.clone();
            let observer = world.spawn("observer", move || {
                scene.sleep(millis(500));
                let _record = asked.observed();
                let _says = (asked.is_leader(), asked.leader());
            });
            a.lead(|a, _| a.cancel());
            world.join(observer);
        },
        |history| terms(history, 0) == 1,
    )
    .not_on(sleeps)
}

/// The holder's lease is longer than that of the elector that waits for it.
pub(super) fn leases_differ() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "leases_differ",
        "an elector with a short lease waits for a holder with a long one",
        |world| {
            let scene = Scene::new(world);
            let long = strict("a").timing(Timing::seconds(6, 2, 1));
            let (a, b) = (scene.elector(long), scene.elector(strict("b")));
            assert_eq!(a.attempt(), Ok(true));
            let holder = world.spawn("holder", move || {
                scene.sleep(millis(1_500));
                let _renewed = a.attempt();
            });
            b.lead(|b, leadership| {
                let _valid = leadership.is_valid();
                b.cancel();
            });
            world.join(holder);
        },
        |history| terms(history, 1) == 1,
    )
    .not_on(sleeps)
}

/// An elector comes back under the identity of an elector that still runs.
pub(super) fn same_identity() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "same_identity",
        "two electors wrongly share an identity",
        |world| {
            let scene = Scene::new(world);
            let (first, second) = (scene.elector(strict("a")), scene.elector(strict("a")));
            let runs = first.clone();
            let led = move || runs.lead_alone(|first, _| async move { first.cancel() });
            world.join(world.spawn("first", led));
            let again = first.clone();
            let other = world.spawn("again", move || {
                let _won = again.attempt();
                let _says = again.is_leader();
            });
            second.lead(|second, leadership| {
                let _valid = leadership.is_valid();
                second.cancel();
            });
            world.join(other);
        },
        |history| terms(history, 0) == 1 && terms(history, 1) == 1,
    )
    .not_on(sleeps)
}

/// An elector that watches sees one leader after another.
pub(super) fn leaders_are_reported() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "leaders_are_reported",
        "an elector sees one leader after another, and reports them to its callback",
        |world| {
            let scene = Scene::new(world);
            let (a, b) = (scene.elector(strict("a")), scene.elector(strict("b")));
            assert_eq!(b.attempt(), Ok(true));
            let (waits, releases) = (scene.clone(), b.clone());
            let other = world.spawn("b", move || {
                waits.sleep(millis(500));
                assert_eq!(releases.release(), Ok(true));
            });
            a.lead_and_watch(|a, _| a.cancel());
            world.join(other);
            // A single attempt tells no callback which leader it sees.
            scene.edit(Edit::ClearHolder).expect("the lease exists");
            assert_eq!((b.attempt(), a.attempt()), (Ok(true), Ok(false)));
        },
        // The callback was told of both leaders.
        |history| history.notes(IS_TOLD).count() == 2,
    )
    .not_on(sleeps)
}

/// Set-ups that cannot work, or that allow two leaders.
pub(super) fn refused_set_ups() -> Scenario<Elector> {
    Scenario::new(
        "refused_set_ups",
        "electors are set up with timings that cannot work or are not safe",
        |world| {
            let scene = Scene::new(world);
            let timing = |lease, renew, retry| {
                let [lease, renew, retry] = [lease, renew, retry].map(millis);
                Timing { lease, renew, retry }
            };
            for timing in [
                timing(15_000, 10_000, 2_000),
                timing(10_000, 10_000, 2_000),
                timing(15_000, 2_400, 2_000),
                timing(15_000, 10_000, 0),
                timing(0, 0, 0),
                timing(1_900, 1_400, 400),
                timing(500, 400, 100),
            ] {
                for config in [strict("a"), classic("a"), strict("")] {
                    let _answer = scene.try_elector(config.timing(timing)).map(drop);
                }
            }
            let bounds = Bounds::default().drift_ppm(0).work(Duration::ZERO);
            for acting in [2_000, 3_000, 3_001, 1_200].map(millis) {
                let bounds = bounds.acting(Some(acting));
                let _answer = scene.try_elector(strict("a").bounds(bounds)).map(drop);
            }
        },
        |history| history.finished(),
    )
}
