//! What a trial comes to.

use std::collections::BTreeSet;
use std::panic::Location;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::finding::{Finding, Line};
use super::violation::Expect;
use crate::engine::{Exploration, Left};

/// The invariants that one execution violates, by name.
pub type Violated = BTreeSet<&'static str>;

/// What running a scenario on an engine found.
#[derive(Clone, Debug)]
pub struct Trial {
    /// How much was run.
    pub exploration: Exploration,
    /// The first violation of each invariant, in the order of their finding.
    pub findings: Vec<Finding>,
    /// The sets of invariants that some execution violated, each set once; only of executions that
    /// were looked at, so one at most where a trial ends with its first violation. Engines without
    /// executions of a scenario tell none.
    pub together: BTreeSet<Violated>,
    /// Whether some execution reached the scenario's case.
    pub reached: bool,
    /// Why the engine could not go on with this program, if it could not: what it looked at before
    /// proves nothing.
    pub refused: Option<String>,
    /// Where the program did something else than before although it was led the same way, if it
    /// did: nothing was proved then.
    pub diverged: Option<String>,
    /// What was not run of what must all be run, if there is any: nothing holds then.
    pub unfinished: Option<String>,
    /// How many distinct traces were seen, where the engine can tell.
    pub traces: Option<u64>,
    /// How much was not seen, where that can be told.
    pub left: Option<Left>,
    /// Wall-clock time.
    pub took: Duration,
}

/// One execution, run again.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// What it violates.
    pub findings: Vec<Finding>,
    /// What happened.
    pub transcript: String,
    /// The events, for pictures.
    pub lines: Vec<Line>,
    /// A picture that says more than the columns of events, if there is one.
    pub picture: Option<String>,
}

/// What the catalogue knows of an invariant.
#[derive(Clone, Debug)]
pub struct InvariantInfo {
    /// Its name.
    pub name: &'static str,
    /// The promise.
    pub says: &'static str,
    /// The rules that it states.
    pub rules: &'static [&'static str],
    /// What is expected of it.
    pub expect: Expect,
    /// Where it is stated; `None` for what every component promises.
    pub stated: Option<&'static Location<'static>>,
}

/// A picture that belongs to what was run, e.g. of a boundary.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Picture {
    /// The component.
    pub component: String,
    /// What it shows.
    pub title: String,
    /// The picture, as SVG.
    pub svg: String,
}
