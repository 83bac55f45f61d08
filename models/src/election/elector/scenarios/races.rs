//! Several electors compete for one lease.

use seatrial_core::elector::StoreError;
use seatrial_core::runtime::Runtime;

use super::{everybody_returned, learns, terms};
use crate::elector::scene::{Scene, classic, releasing, strict};
use crate::elector::{Elector, History};
use crate::engine::Engine;
use crate::trial::{Scenario, World, sleeps};

/// More than 200,000 traces: each token of a run has a lock of its own.
pub(super) fn too_many_traces(engine: Engine) -> Option<&'static str> {
    (engine == Engine::Trace).then_some("it has too many traces; others try some of them")
}

/// Two electors run at the same time; the leader cancels itself, and the other leads next.
pub(super) struct RaceForAFreeLease;

impl Scenario<Elector> for RaceForAFreeLease {
    const NAME: &'static str = "race_for_a_free_lease";
    const SAYS: &'static str = "two electors race for a lease that does not exist yet";

    fn run<R: Runtime>(&self, world: &World<R, Elector>) {
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
    }

    fn reaches(history: &History) -> bool {
        let lost = learns(history, |error| *error == StoreError::AlreadyExists);
        lost && everybody_returned(history) && terms(history, 0) + terms(history, 1) == 2
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        too_many_traces(engine).or_else(|| sleeps(engine))
    }
}

/// The same under the reference's rules; the leader cancels both.
pub(super) struct ClassicRace;

impl Scenario<Elector> for ClassicRace {
    const NAME: &'static str = "classic_race";
    const SAYS: &'static str = "two electors of the classic profile race for a lease";

    fn run<R: Runtime>(&self, world: &World<R, Elector>) {
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
    }

    fn reaches(history: &History) -> bool {
        learns(history, |error| *error == StoreError::AlreadyExists) && everybody_returned(history)
    }
}

/// Three electors make one attempt each on a lease that was freed.
pub(super) struct SingleAttempts;

impl Scenario<Elector> for SingleAttempts {
    const NAME: &'static str = "single_attempts";
    const SAYS: &'static str = "three electors make one attempt each on a lease that was freed";

    fn run<R: Runtime>(&self, world: &World<R, Elector>) {
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
    }

    fn reaches(history: &History) -> bool {
        learns(history, |error| *error == StoreError::Conflict)
    }
}
