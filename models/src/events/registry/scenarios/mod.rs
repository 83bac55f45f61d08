//! Small programs with a registry, each named by the case that it must reach.

mod ending;
mod starting;

use std::time::Duration;

use seatrial_core::runtime::{Ambient as _, Instant};

use super::book::Entry;
use super::ledger::Seen;
use super::{History, Registry};
use crate::events::fixtures::entry;
use crate::trial::{Ledger as _, Scenario, World};

pub(super) fn all() -> Vec<Scenario<Registry>> {
    let mut all = starting::all();
    all.extend(ending::all());
    all
}

/// Tells whether some entry meets a condition. The condition also sees the state before the entry.
fn some(history: &History, wanted: impl Fn(&Seen, &Entry) -> bool) -> bool {
    Seen::some(history, |seen, event| entry(event).is_some_and(|entry| wanted(seen, entry)))
}

/// A time in the near future.
fn soon(world: &World<Registry>) -> Instant {
    world.runtime().now() + Duration::from_millis(10)
}
