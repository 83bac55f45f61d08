//! The schedules that lead to two leaders, or to none, under the reference's rules (`election`
//! section 6.1), and the outcome of each under the rules that ship.

mod list;
mod script;

pub(crate) mod tests;

use std::sync::Arc;

use seatrial_core::elector::{Config, ConfigError};

use super::run::{Run, What};
use super::world::{Make, Setup, Simulated};
use crate::election::plain;

pub use list::SCHEDULES;
pub use script::{Calls, Rule, Script};

/// The outcome of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// These invariants are broken, and possibly others.
    Breaks(&'static [&'static str]),
    /// Everything is kept, whatever the faults.
    Holds,
    /// Two processes believe that they lead at the same time, for at most this long (in
    /// nanoseconds). A resource that checks tokens sees no interleaving.
    FencedOverlap {
        /// The longest overlap.
        at_most: u64,
    },
    /// The node leads within that span of time.
    Leads {
        /// The node.
        node: u8,
        /// The earliest moment.
        from: u64,
        /// The latest moment; a moment at or after the end of the run means that the node never
        /// leads.
        to: u64,
    },
    /// The set-up is refused.
    Refused(ConfigError),
}

/// A named schedule and its outcomes.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// Its name: what happens.
    pub name: &'static str,
    /// The rule that describes it.
    pub rule: &'static str,
    /// The events, in a sentence.
    pub says: &'static str,
    /// The outcome under the reference's rules.
    pub classic: Outcome,
    /// The outcome under the strict rules.
    pub strict: Outcome,
    make: fn(Config) -> (Setup, Script),
}

impl Schedule {
    /// Returns the expected outcome.
    #[must_use]
    pub fn expected(&self, strict: bool) -> Outcome {
        if strict { self.strict } else { self.classic }
    }

    /// Returns the set-up of its first elector.
    #[must_use]
    pub fn config(&self, strict: bool) -> Config {
        let (setup, _) = (self.make)(list::config(strict));
        setup.config.identity("a".into())
    }

    /// Simulates the schedule.
    #[must_use]
    pub fn run(&self, strict: bool) -> Run {
        self.run_on(strict, Arc::new(plain::elector))
    }

    /// Simulates the schedule on the electors that `make` makes.
    #[must_use]
    pub fn run_on(&self, strict: bool, make: Make) -> Run {
        let (setup, script) = (self.make)(list::config(strict));
        Simulated::new(setup, script, make).finish()
    }
}

/// Returns when a process of the node first leads: at the end of the run if none ever does.
#[must_use]
pub fn leads_at(run: &Run, node: u8) -> u64 {
    let first = run.happenings.iter().find(|happening| {
        matches!(happening.what, What::Leads { .. })
            && run.processes[usize::from(happening.process)].node == node
    });
    first.map_or(run.end, |happening| happening.at)
}
