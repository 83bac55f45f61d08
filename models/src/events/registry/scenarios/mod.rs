//! Small programs with a registry, each named by the case that it must reach.

mod ending;
mod starting;

use std::time::Duration;

use seatrial_core::runtime::{Instant, Runtime};

use super::book::Entry;
use super::ledger::Seen;
use super::{History, Registry};
use crate::events::fixtures::entry;
use crate::trial::{DynScenario, Ledger as _, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<Registry>>> {
    let mut all = starting::all();
    all.extend(ending::all());
    all
}

/// Tells whether some entry meets a condition. The condition also sees the state before the entry.
fn some(history: &History, wanted: impl Fn(&Seen, &Entry) -> bool) -> bool {
    Seen::some(history, |seen, event| entry(event).is_some_and(|entry| wanted(seen, entry)))
}

/// A time in the near future.
fn soon<R: Runtime>(world: &World<R, Registry>) -> Instant {
    world.runtime().now() + Duration::from_millis(10)
}

/// Writes a scenario.
macro_rules! scenario {
    ($($stated:tt)*) => {
        crate::events::scenario_of! { crate::registry::Registry; $($stated)* }
    };
}

use scenario;
