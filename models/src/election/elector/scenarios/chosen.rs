//! The server chooses who holds the lease (`election:LC-1`).

use std::time::Duration;

use seatrial_core::elector::Config;

use super::{everybody_returned, terms};
use crate::elector::Elector;
use crate::elector::part::Edit;
use crate::elector::scene::{Scene, strict, until_it_ends};
use crate::trial::{Scenario, sleeps};

fn coordinated(identity: &str) -> Config {
    strict(identity).coordinated(true)
}

/// The server names one elector, then wants another, and names it when the lease has run out.
pub(super) fn coordinated_election() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "coordinated_election",
        "the server names one elector, asks it to make room for another, \
                                and names the other when the lease has run out",
        |world| {
            let scene = Scene::new(world);
            let (a, b) = (scene.elector(coordinated("a")), scene.elector(coordinated("b")));
            let first = world.spawn("a", move || a.lead(until_it_ends));
            let second = world.spawn("b", move || b.lead_alone(|b, _| async move { b.cancel() }));
            scene.sleep(Duration::from_millis(500));
            scene.nominate("a");
            scene.sleep(Duration::from_millis(4_000));
            scene.edit(Edit::Prefer('b')).expect("the lease exists");
            world.join(first);
            scene.sleep(Duration::from_millis(3_000));
            scene.edit(Edit::Nominate('b')).expect("the lease exists");
            world.join(second);
        },
        |history| terms(history, 0) == 1 && terms(history, 1) == 1 && everybody_returned(history),
    )
    .not_on(sleeps)
}
