//! Small programs with a registry, each named by the case that it must reach.

mod ending;
mod starting;

use std::time::Duration;

use seatrial_core::runtime::{Instant, Runtime};

use super::book::Entry;
use super::ledger::{Seen, entry};
use super::{History, Registry};
use crate::engine::Engine;
use crate::trial::{DynScenario, Ledger as _, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<Registry>>> {
    let mut all = starting::all();
    all.extend(ending::all());
    all
}

/// Tells whether something was written down that meets a condition.
fn some(history: &History, wanted: impl Fn(&Seen, &Entry) -> bool) -> bool {
    Seen::some(history, |seen, event| entry(event).is_some_and(|entry| wanted(seen, entry)))
}

/// A time that is over soon.
fn soon<R: Runtime>(world: &World<R, Registry>) -> Instant {
    world.runtime().now() + Duration::from_millis(10)
}

/// Refuses the search of all traces to scenarios that have too many.
fn has_many_traces(engine: Engine) -> Option<&'static str> {
    let many = "it has too many traces; others try some of them";
    (engine == Engine::Trace).then_some(many)
}

/// The way in which scenarios are written.
macro_rules! scenario {
    ($name:ident, $text:literal, $says:literal, |$world:ident| $run:block,
     |$history:ident| $reaches:expr) => {
        scenario!($name, $text, $says, |_| None, |$world| $run, |$history| $reaches);
    };
    ($name:ident, $text:literal, $says:literal, $refuses:expr, |$world:ident| $run:block,
     |$history:ident| $reaches:expr) => {
        #[doc = $says]
        struct $name;

        impl crate::trial::Scenario<crate::registry::Registry> for $name {
            const NAME: &'static str = $text;
            const SAYS: &'static str = $says;

            fn run<R: seatrial_core::runtime::Runtime>(
                &self,
                $world: &crate::trial::World<R, crate::registry::Registry>,
            ) {
                $run
            }

            fn reaches($history: &crate::registry::History) -> bool {
                $reaches
            }

            fn cannot_run_on(engine: crate::engine::Engine) -> Option<&'static str> {
                $refuses(engine)
            }
        }
    };
}

use scenario;
