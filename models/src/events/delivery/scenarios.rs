//! Small programs from end to end, each named by the case that it must reach.

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::informer::SourceKind;
use seatrial_core::machine::Boxed;
use seatrial_core::monitor::Monitor;
use seatrial_core::runtime::Runtime;

use super::chain::{Answer, Begin, Call, Chain, Finish, Inform, Informed, Occur, StopAtRest, Take};
use super::invariants::some;
use super::{Delivery, History};
use crate::engine::Engine;
use crate::reflector::Happen::{self, Meet, Remove, Write};
use crate::reflector::Trouble::Breaks;
use crate::trial::{DynScenario, Scenario, World, sleeps};

pub(super) fn all() -> Vec<Box<dyn DynScenario<Delivery>>> {
    vec![Box::new(ChangedMeanwhile), Box::new(DeletedMeanwhile), Box::new(ReconcilesFail)]
}

/// Runs an informer and a worker while things happen: the `first` ones before the pause, if there
/// is one, the others after it. Stops everything once it is at rest.
fn run<R: Runtime>(
    world: &World<R, Delivery>,
    begin: Begin,
    (first, pause): (usize, u64),
    happen: &[Happen],
) {
    let chain: Arc<Monitor<Chain, R, Boxed<Chain>>> =
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
struct ChangedMeanwhile;

impl Scenario<Delivery> for ChangedMeanwhile {
    const NAME: &'static str = "changed_meanwhile";
    const SAYS: &'static str = "an object changes while it is listed, stored and reconciled";

    fn run<R: Runtime>(&self, world: &World<R, Delivery>) {
        run(world, Begin(1, 0), (0, 0), &[Write(0)]);
    }

    /// A change is stored while the key is in a worker's hands: it is reconciled twice.
    fn reaches(history: &History) -> bool {
        history.events.iter().filter(|event| is_finish(event)).count() >= 2
    }
}

fn is_finish(event: &super::Event) -> bool {
    matches!(event.returned(), Some((_, Answer::Finish(_))))
}

/// An object changes and another is deleted while no stream tells it.
struct DeletedMeanwhile;

impl Scenario<Delivery> for DeletedMeanwhile {
    const NAME: &'static str = "deleted_meanwhile";
    const SAYS: &'static str =
        "a stream breaks, and the next list shows one object changed and another one missing";

    fn run<R: Runtime>(&self, world: &World<R, Delivery>) {
        let breaks = Meet(Breaks(SourceKind::Expired));
        run(world, Begin(2, 0), (1, 100), &[breaks, Write(1), Remove(0)]);
    }

    fn reaches(history: &History) -> bool {
        some(history, |_, event| match event.returned() {
            Some((_, Answer::Inform(Informed::Stored(told)))) => {
                told.len() == 2 && told.contains(&(0, 0))
            }
            _ => false,
        })
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}

/// Reconciles fail, and are tried again.
struct ReconcilesFail;

impl Scenario<Delivery> for ReconcilesFail {
    const NAME: &'static str = "reconciles_fail";
    const SAYS: &'static str = "two reconciles fail, and one of their objects changes meanwhile";

    fn run<R: Runtime>(&self, world: &World<R, Delivery>) {
        run(world, Begin(2, 2), (0, 100), &[Write(0)]);
    }

    fn reaches(history: &History) -> bool {
        let failed = |event: &&super::Event| {
            matches!(event.returned(), Some((Call::Finish(_), Answer::Finish(false))))
        };
        history.events.iter().filter(failed).count() == 2
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}
