//! What must hold, stated over histories.

use std::panic::Location;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::component::{Component, HistoryOf};

/// A broken promise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The event at which it shows, if it is one event.
    pub at: Option<usize>,
    /// What is wrong, in a fragment of a sentence.
    pub because: String,
}

impl Violation {
    /// Blames an event.
    pub fn at(event: usize, because: impl Into<String>) -> Self {
        Self { at: Some(event), because: because.into() }
    }

    /// Blames the execution as a whole.
    pub fn overall(because: impl Into<String>) -> Self {
        Self { at: None, because: because.into() }
    }
}

/// What is expected of an invariant. A canary's is expected to be violated: an engine that finds
/// nothing there is blind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    /// No execution violates it.
    #[default]
    Holds,
    /// Some execution violates it.
    Violated,
}

/// Which executions an invariant judges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Every execution, also one that was cut short: it can only be broken by what has happened.
    Always,
    /// Executions that came to an end by themselves, be it a deadlock: it can be broken by what
    /// has not happened.
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
    /// Which executions it judges.
    pub kind: Kind,
    /// What is expected of it.
    pub expect: Expect,
    /// Where it is stated.
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

    /// States what every execution must come to.
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

/// No thread panics unless the scenario expects it. Judged for every component.
pub const NEVER_PANICS: &str = "never_panics";
/// Every call returns: no deadlock, no endless loop. Judged for every component.
pub const TERMINATES: &str = "terminates";
/// Calls return what the sequential object says. The one promise that made-up calls are held
/// against.
pub const AGREES: &str = "agrees_with_the_sequential_object";
/// Some execution reaches the case that the scenario is named for. Judged for every component.
pub const REACHES_ITS_CASE: &str = "reaches_its_case";
