//! Several electors compete for one lease.

use seatrial_core::elector::StoreError;

use super::{everybody_returned, learns, terms};
use crate::elector::Elector;
use crate::elector::scene::{Scene, classic, releasing, strict};
use crate::trial::{Scenario, has_many_traces, sleeps};

/// Two electors run at the same time; the leader cancels itself, and the other leads next.
pub(super) fn race_for_a_free_lease() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "race_for_a_free_lease",
        "two electors race for a lease that does not exist yet",
        |world| {
            let scene = Scene::new(world);
            let (a, b) = (scene.elector(releasing("a")), scene.elector(releasing("b")));
            let other = world.spawn("b", move || {
                b.lead(|b, leadership| {
                    let _valid = leadership.is_valid();
                    b.cancel();
                })
            });
            a.lead(|a, leadership| {
                a.cancel();
                let _not_valid = leadership.is_valid();
            });
            world.join(other);
        },
        |history| {
            let lost = learns(history, |error| *error == StoreError::AlreadyExists);
            lost && everybody_returned(history) && terms(history, 0) + terms(history, 1) == 2
        },
    )
    // More than 200,000 traces: each token of a run has a lock of its own.
    .not_on(has_many_traces)
    .not_on(sleeps)
}

/// The same under the reference's rules; the leader cancels both.
pub(super) fn classic_race() -> Scenario<Elector> {
    Scenario::new(
        "classic_race",
        "two electors race for a lease by the reference's rules",
        |world| {
            let scene = Scene::new(world);
            let (a, b) = (scene.elector(classic("a")), scene.elector(classic("b")));
            let (of_a, of_b) = (a.clone(), b.clone());
            let other = world.spawn("b", move || {
                b.lead(move |b, leadership| {
                    let _valid = leadership.is_valid();
                    of_a.cancel();
                    b.cancel();
                })
            });
            a.lead(move |a, leadership| {
                let _valid = leadership.is_valid();
                of_b.cancel();
                a.cancel();
            });
            world.join(other);
        },
        |history| {
            learns(history, |error| *error == StoreError::AlreadyExists)
                && everybody_returned(history)
        },
    )
}

/// Three electors make one attempt each on a lease that was freed.
pub(super) fn single_attempts() -> Scenario<Elector> {
    Scenario::new(
        "single_attempts",
        "three electors make one attempt each on a lease that was freed",
        |world| {
            let scene = Scene::new(world);
            let [a, b, c] = ["a", "b", "c"].map(|name| scene.elector(strict(name)));
            assert_eq!(a.attempt(), Ok(true));
            assert_eq!(a.release(), Ok(true));
            let others = [b, c].map(|other| {
                world.spawn("other", move || {
                    let _won = other.attempt();
                    let _says = other.is_leader();
                })
            });
            let _won = a.attempt();
            let _says = a.is_leader();
            for other in others {
                world.join(other);
            }
        },
        |history| learns(history, |error| *error == StoreError::Conflict),
    )
}
