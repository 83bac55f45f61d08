//! The results of a trial.

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

/// The result of running a scenario on an engine.
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
    /// Why the engine could not go on with this program, if it could not. The executions before
    /// prove nothing.
    pub refused: Option<String>,
    /// The place where the program behaved differently although the schedule was the same, if it
    /// did. Then nothing was proved.
    pub diverged: Option<String>,
    /// The part that was not run although all of it must run, if there is any. Then no verdict
    /// holds.
    pub unfinished: Option<String>,
    /// How many distinct traces were seen, where the engine can tell.
    pub traces: Option<u64>,
    /// How much was not seen, where that can be told.
    pub left: Option<Left>,
    /// Wall-clock time.
    pub took: Duration,
}

impl Trial {
    /// Makes the result of an engine that came to its end and tells nothing else.
    #[must_use]
    pub const fn new(
        exploration: Exploration,
        findings: Vec<Finding>,
        reached: bool,
        took: Duration,
    ) -> Self {
        Self {
            exploration,
            findings,
            together: BTreeSet::new(),
            reached,
            refused: None,
            diverged: None,
            unfinished: None,
            traces: None,
            left: None,
            took,
        }
    }
}

/// One execution, run again.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The violations.
    pub findings: Vec<Finding>,
    /// The events and the end, as text.
    pub transcript: String,
    /// The events, for pictures.
    pub lines: Vec<Line>,
    /// A picture that says more than the columns of events, if there is one.
    pub picture: Option<String>,
}

/// The facts about an invariant in the catalogue.
#[derive(Clone, Debug)]
pub struct InvariantInfo {
    /// Its name.
    pub name: &'static str,
    /// The promise.
    pub says: &'static str,
    /// The rules that it states.
    pub rules: &'static [&'static str],
    /// The expected verdict.
    pub expect: Expect,
    /// The place in the source where it is stated; `None` for promises of every component.
    pub stated: Option<&'static Location<'static>>,
}

/// A picture of something that was run, e.g. of a boundary.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Picture {
    /// The component.
    pub component: String,
    /// The title.
    pub title: String,
    /// The picture, as SVG.
    pub svg: String,
}
