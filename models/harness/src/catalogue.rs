//! The components that a program tries.

use crate::command::ExtraCommand;
use crate::conformance::Conformance;
use crate::report::Report;
use crate::trial::{MADE_UP_CALLS, Subject};

/// Components under trial. A crate of your own makes one for its own scenarios.
#[derive(Clone, Copy)]
pub struct Catalogue {
    /// The name of the program in messages: `seatrial` for this crate's own.
    pub program: &'static str,
    /// The components.
    pub subjects: &'static [&'static dyn Subject],
    /// How recorded traces are replayed of parts that no component here tries.
    pub traces: &'static [fn() -> Conformance],
    /// Commands in addition to those that every command line has.
    pub commands: &'static [ExtraCommand],
    /// The commit that the program was built from, if the program itself is what it checks. By
    /// default a report names the commit of the folder in which the program runs.
    pub built_from: Option<&'static str>,
}

impl Catalogue {
    /// Makes a catalogue of components, for a program of that name.
    #[must_use]
    pub const fn new(program: &'static str, subjects: &'static [&'static dyn Subject]) -> Self {
        Self { program, subjects, traces: &[], commands: &[], built_from: None }
    }

    /// Makes the empty report of this program, with the commit that it checks.
    pub(crate) fn report(&self, seed: u64) -> Report {
        Report::of(self.program, self.built_from, seed)
    }

    /// Goes through all that says how recorded traces are replayed.
    pub fn conformance(&self) -> impl Iterator<Item = Conformance> {
        let of_subjects = self.subjects.iter().flat_map(|subject| subject.conformance());
        of_subjects.chain(self.traces.iter().map(|of| of()))
    }

    /// Returns the component of that name.
    pub fn subject(&self, name: &str) -> Option<&'static dyn Subject> {
        self.subjects.iter().copied().find(|subject| subject.name() == name)
    }

    /// Returns the pairs of component and scenario that a pattern names. A pattern is a part of
    /// `component/scenario`; without patterns all are meant.
    pub fn scenarios(&self, patterns: &[String]) -> Vec<(&'static dyn Subject, &'static str)> {
        let mut found = Vec::new();
        for subject in self.subjects {
            for scenario in subject.scenarios() {
                if is_meant(patterns, *subject, scenario.name) {
                    found.push((*subject, scenario.name));
                }
            }
        }
        found
    }

    /// Returns the components whose made-up calls a pattern names, as if those were a scenario.
    pub fn made_up(&self, patterns: &[String]) -> impl Iterator<Item = &'static dyn Subject> {
        let subjects = self.subjects.iter().copied();
        subjects.filter(|subject| {
            subject.fuzz().is_some() && is_meant(patterns, *subject, MADE_UP_CALLS)
        })
    }
}

fn is_meant(patterns: &[String], subject: &dyn Subject, scenario: &str) -> bool {
    let path = format!("{}/{scenario}", subject.name());
    patterns.is_empty() || patterns.iter().any(|pattern| path.contains(pattern))
}

impl std::fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.subjects.iter().map(|subject| subject.name())).finish()
    }
}
