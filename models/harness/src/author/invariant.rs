//! Invariants: conditions on histories.

use std::panic::Location;

use super::component::{Component, HistoryOf};
use crate::outcome::{Expect, InvariantInfo, Violation};

/// The executions that an invariant judges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Every execution, also one that was cut short. Only an event that has happened can break it.
    Always,
    /// Executions that ended by themselves, deadlocks included. An event that has not happened can
    /// break it.
    Eventually,
}

/// A promise as a check of one history.
pub struct Invariant<C: Component> {
    /// Its name in reports: a promise in snake case.
    pub name: &'static str,
    /// The promise in words.
    pub says: &'static str,
    /// The rules that it states.
    pub rules: &'static [&'static str],
    /// The executions that it judges.
    pub kind: Kind,
    /// The expected verdict.
    pub expect: Expect,
    /// The place in the source where it is stated.
    pub stated: &'static Location<'static>,
    /// Checks one history.
    pub check: fn(&HistoryOf<C>) -> Result<(), Violation>,
}

impl<C: Component> Invariant<C> {
    /// States what no execution may ever do.
    #[track_caller]
    pub const fn always(
        name: &'static str,
        says: &'static str,
        rules: &'static [&'static str],
        check: fn(&HistoryOf<C>) -> Result<(), Violation>,
    ) -> Self {
        let (kind, expect) = (Kind::Always, Expect::Holds);
        Self { name, says, rules, kind, expect, stated: Location::caller(), check }
    }

    /// States a condition that every execution must fulfil by its end.
    #[track_caller]
    pub const fn eventually(
        name: &'static str,
        says: &'static str,
        rules: &'static [&'static str],
        check: fn(&HistoryOf<C>) -> Result<(), Violation>,
    ) -> Self {
        let (kind, expect) = (Kind::Eventually, Expect::Holds);
        Self { name, says, rules, kind, expect, stated: Location::caller(), check }
    }

    /// Turns the invariant into one that a canary must break.
    #[must_use]
    pub const fn expected_to_break(mut self) -> Self {
        self.expect = Expect::Violated;
        self
    }
}

impl<C: Component> std::fmt::Debug for Invariant<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Invariant").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Calls return the same as the sequential object. Made-up calls are checked against this invariant
/// alone.
pub const AGREES: &str = "agrees_with_the_sequential_object";
/// Some execution reaches the case that the scenario is named for. Judged for every component.
pub const REACHES_ITS_CASE: &str = "reaches_its_case";

impl InvariantInfo {
    pub(crate) fn of<C: Component>(invariant: &Invariant<C>) -> Self {
        let Invariant { name, says, rules, expect, stated, .. } = *invariant;
        Self { name, says, rules, expect, stated: Some(stated) }
    }
}
