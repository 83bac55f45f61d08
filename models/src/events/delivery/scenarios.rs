//! Small programs from end to end, each named by the case that it must reach.

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::informer::SourceKind;
use seatrial_core::monitor::Monitor;
use seatrial_core::runtime::{Ambient as _, Runtime};

use super::Delivery;
use super::chain::{Answer, Begin, Call, Chain, Finish, Inform, Informed, Occur, StopAtRest, Take};
use super::invariants::some;
use crate::engine::AnyRuntime;
use crate::reflector::Happen::{self, Meet, Remove, Write};
use crate::reflector::Trouble::Breaks;
use crate::trial::{Scenario, World, sleeps};

pub(super) fn all() -> Vec<Scenario<Delivery>> {
    vec![changed_meanwhile(), deleted_meanwhile(), reconciles_fail()]
}

/// Runs an informer and a worker while things happen: the `first` ones before the pause, if there
/// is one, the others after it. Stops everything once it is at rest.
fn run(world: &World<Delivery>, begin: Begin, (first, pause): (usize, u64), happen: &[Happen]) {
    let chain: Arc<Monitor<Chain, AnyRuntime>> =
        Arc::new(Monitor::new(world.runtime(), world.machine()));
    chain.call(begin);
    for happen in &happen[..first] {
        chain.call(Occur(*happen));
    }
    let own = Arc::clone(&chain);
    let informer = world.spawn("informer", move || while own.call(Inform) != Informed::Stopped {});
    let own = Arc::clone(&chain);
    let worker = world.spawn("worker", move || {
        while let Some(work) = own.call(Take) {
            own.call(Finish(work));
        }
    });
    if pause > 0 {
        world.runtime().sleep_until(world.runtime().now() + Duration::from_millis(pause));
    }
    for happen in &happen[first..] {
        chain.call(Occur(*happen));
    }
    world.quiesce();
    chain.call(StopAtRest(u32::try_from(happen.len()).expect("little happens")));
    world.join(informer);
    world.join(worker);
}

/// An object changes while it is reconciled.
fn changed_meanwhile() -> Scenario<Delivery> {
    Scenario::new(
        "changed_meanwhile",
        "an object changes while it is listed, stored and reconciled",
        |world| run(world, Begin(1, 0), (0, 0), &[Write(0)]),
        // A change is stored while the key is in a worker's hands: it is reconciled twice.
        |history| history.events.iter().filter(|event| is_finish(event)).count() >= 2,
    )
}

fn is_finish(event: &super::Event) -> bool {
    matches!(event.returned(), Some((_, Answer::Finish(_))))
}

/// An object changes and another is deleted while no stream tells it.
fn deleted_meanwhile() -> Scenario<Delivery> {
    Scenario::<Delivery>::new(
        "deleted_meanwhile",
        "a stream breaks, and the next list shows one object changed and another one missing",
        |world| {
            let breaks = Meet(Breaks(SourceKind::Expired));
            run(world, Begin(2, 0), (1, 100), &[breaks, Write(1), Remove(0)]);
        },
        |history| {
            some(history, |_, event| match event.returned() {
                Some((_, Answer::Inform(Informed::Stored(told)))) => {
                    told.len() == 2 && told.contains(&(0, 0))
                }
                _ => false,
            })
        },
    )
    .not_on(sleeps)
}

/// Reconciles fail, and are tried again.
fn reconciles_fail() -> Scenario<Delivery> {
    Scenario::<Delivery>::new(
        "reconciles_fail",
        "two reconciles fail, and one of their objects changes meanwhile",
        |world| run(world, Begin(2, 2), (0, 100), &[Write(0)]),
        |history| {
            let failed = |event: &&super::Event| {
                matches!(event.returned(), Some((Call::Finish(_), Answer::Finish(false))))
            };
            history.events.iter().filter(failed).count() == 2
        },
    )
    .not_on(sleeps)
}
