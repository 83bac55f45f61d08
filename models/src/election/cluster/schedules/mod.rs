//! The schedules that lead to two leaders, or to none, under the reference's rules (`election`
//! section 6.1), and the outcome of each under the rules that ship.

mod list;
mod script;

pub(crate) mod tests;

use seatrial_core::elector::{Config, ConfigError, Election};
use seatrial_core::machine::Host;

use super::invariants::{INVARIANTS, Terms, invariant};
use super::run::{Run, What};
use super::world::{Setup, Simulated};
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
        self.run_on(strict, plain::elector)
    }

    /// Simulates the schedule on the electors that `make` makes.
    pub fn run_on<H: Host<Election>>(
        &self,
        strict: bool,
        make: impl Fn(Config) -> H + Send + Sync + 'static,
    ) -> Run {
        let (setup, script) = (self.make)(list::config(strict));
        Simulated::new(setup, script, make).finish()
    }

    /// Simulates the schedule and compares its outcome with the expected one.
    ///
    /// # Errors
    /// A description of the difference.
    pub fn verify(&self, strict: bool) -> Result<(), String> {
        self.verify_on(strict, plain::elector)
    }

    /// As [`verify`](Self::verify), on the electors that `make` makes.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub fn verify_on<H: Host<Election>>(
        &self,
        strict: bool,
        make: impl Fn(Config) -> H + Send + Sync + 'static,
    ) -> Result<(), String> {
        let expected = self.expected(strict);
        let config = self.config(strict);
        if let Outcome::Refused(error) = expected {
            let found = plain::validate(&config);
            return if found == Err(error) { Ok(()) } else { Err(format!("{found:?}")) };
        }
        plain::validate(&config).map_err(|error| error.to_string())?;
        let run = self.run_on(strict, make);
        let terms = Terms { config, drift_ppm: 0 };
        compare(expected, &run, &terms)
    }
}

fn compare(expected: Outcome, run: &Run, terms: &Terms) -> Result<(), String> {
    match expected {
        Outcome::Breaks(names) => {
            for name in names {
                let invariant = invariant(name).ok_or_else(|| format!("no invariant {name}"))?;
                if invariant.check(run, terms).is_ok() {
                    return Err(format!("{name} is not broken"));
                }
            }
            Ok(())
        }
        Outcome::Holds => {
            for invariant in INVARIANTS {
                invariant
                    .check(run, terms)
                    .map_err(|breach| format!("{}: {}", breach.invariant, breach.because))?;
            }
            Ok(())
        }
        Outcome::FencedOverlap { at_most } => {
            let overlap = longest_overlap(run);
            if overlap == 0 || overlap > at_most {
                return Err(format!("the leaders overlap for {overlap} ns"));
            }
            let fenced = invariant("fenced_effects_never_interleave").expect("it is listed");
            fenced.check(run, terms).map_err(|breach| breach.because)
        }
        Outcome::Leads { node, from, to } => {
            let first = run.happenings.iter().find(|happening| {
                matches!(happening.what, What::Leads { .. })
                    && run.processes[usize::from(happening.process)].node == node
            });
            let at = first.map_or(run.end, |happening| happening.at);
            if (from..=to).contains(&at) { Ok(()) } else { Err(format!("leads at {at} ns")) }
        }
        Outcome::Refused(_) => Ok(()),
    }
}

/// Returns the longest time for which two processes both believed that they lead.
#[must_use]
pub fn longest_overlap(run: &Run) -> u64 {
    let windows = run.belief_windows();
    let mut longest = 0;
    for (index, first) in windows.iter().enumerate() {
        for second in &windows[index + 1..] {
            if first.process != second.process {
                longest = longest.max(first.overlap(second));
            }
        }
    }
    longest
}
