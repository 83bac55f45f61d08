//! The results of a run, as data: the source of truth of every format.
//!
//! The names of the fields are fixed; more may be added. Everything that depends on the clock of
//! the machine is under `timing`, so two runs with the same seed and counts are otherwise equal.

mod brief;
mod commit;
mod github;
mod grid;
mod html;
mod junit;
mod markdown;
mod merge;
mod mutant;
mod outcome;
mod part;
mod perfetto;
mod problem;
mod read;
mod sarif;
mod schema;
mod text;
mod witnesses;
mod write;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::engine::Left;
use crate::outcome::Expect;

pub use crate::outcome::Picture;
pub use brief::{Detail, report_text, report_text_within};
pub use github::github;
pub use html::html;
pub use junit::junit;
pub use markdown::markdown;
pub use merge::{DifferentRuns, merge};
pub use mutant::{Fate, Kill, MutantRow, Speed};
pub use part::{Dealing, Part, Shard};
pub use perfetto::perfetto;
pub use problem::{Problem, Severity};
pub use read::{ReadError, parse_report, read};
pub use sarif::sarif;
pub use schema::schema;
pub use text::{
    Colour, NOT_HELD, counted, mutants_text, rows_text, speeds_text, summary, thousands,
};
pub use witnesses::{WitnessFile, witness_files};
pub use write::{Format, WriteError, write_atomically};

/// The version of the report's form.
pub const SCHEMA_VERSION: u32 = 1;

/// The overall result of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Summary {
    /// All is as expected.
    Holds,
    /// Something that must hold is violated.
    Violated,
    /// Something behaved differently although the schedule was the same, so it proves nothing.
    Inadmissible,
    /// Something that must be found was not found.
    Blind,
    /// Something is undecided.
    Inconclusive,
    /// Nothing was run.
    Empty,
}

impl Summary {
    /// Returns the exit code of the command line.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Holds => 0,
            Self::Violated => 100,
            Self::Inadmissible => 102,
            Self::Blind => 3,
            Self::Inconclusive => 5,
            Self::Empty => 4,
        }
    }
}

/// The verdict on one invariant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No execution violated it.
    Holds,
    /// Some execution did.
    Violated,
    /// The engine did not get far enough to tell.
    Undecided,
    /// The program behaved differently although the schedule was the same: nothing follows from it.
    Inadmissible,
}

/// How far a verdict reaches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Coverage {
    /// Every execution within the bounds.
    Exhausted,
    /// As many executions as the budget allowed.
    Sampled,
}

/// The number of a shard, and how many there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Partition {
    /// The number of the shard, from one.
    pub index: u32,
    /// How many shards there are.
    pub count: u32,
}

/// A line of a source file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// The path of the file, as the compiler was given it.
    pub file: String,
    /// The line, from one.
    pub line: u32,
}

/// One invariant of one scenario on one engine.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// The component.
    pub component: String,
    /// The scenario.
    pub scenario: String,
    /// The invariant.
    pub invariant: String,
    /// The invariant in words, where it is violated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
    /// The scenario in words, where an invariant is violated in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario_says: Option<String>,
    /// The place in the source where the invariant is stated, if it is violated and the place is
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated: Option<Place>,
    /// The rules that it states.
    pub rules: Vec<String>,
    /// The engine.
    pub engine: Engine,
    /// The exhibit that was run in the place of the code that ships.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exhibit: Option<String>,
    /// The expected verdict.
    pub expect: Expect,
    /// The verdict.
    pub verdict: Verdict,
    /// How far the verdict reaches; absent where it depends on the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// The bounds of the engine.
    #[serde(default)]
    pub bounds: BTreeMap<String, u64>,
    /// Executions run; of a search of states, the states visited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executions: Option<u64>,
    /// Distinct states visited, where the engine visits states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states: Option<u64>,
    /// Distinct traces seen, where the engine can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traces: Option<u64>,
    /// How much was not seen, where that can be told.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Left>,
    /// Scheduling points passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Preemptions in the violating execution, after it was made small.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemptions: Option<u32>,
    /// Whether no execution with fewer preemptions violates the invariant; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proved_minimum: Option<bool>,
    /// The way back to the violation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<String>,
    /// Why it is violated or undecided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The events of the violating execution.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<crate::outcome::Line>,
    /// The event of `history` at which the violation shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<usize>,
}

impl Row {
    /// Tells whether the verdict is the expected one.
    pub fn as_expected(&self) -> bool {
        matches!(
            (self.expect, self.verdict),
            (Expect::Holds, Verdict::Holds) | (Expect::Violated, Verdict::Violated)
        )
    }
}

/// The traces of one component.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ConformanceRow {
    /// The component's name in the traces.
    pub component: String,
    /// Traces read.
    pub traces: u64,
    /// Steps in them.
    pub steps: u64,
    /// Traces that replayed, predicted departures included.
    pub replayed: u64,
    /// Traces that the faithful variant replayed without a departure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faithful: Option<u64>,
    /// Traces that show a departure, by rule.
    pub departures: BTreeMap<String, u64>,
    /// The failures: the trace, the machine on which it failed, and the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
}

/// Everything that a run found.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// The version of this form.
    pub schema_version: u32,
    /// The overall result.
    pub outcome: Summary,
    /// The commit that was checked, where it is known.
    pub commit: String,
    /// The compiler.
    pub toolchain: String,
    /// The seed of the random numbers.
    pub seed: u64,
    /// The shard; 1 of 1 if it is all of them.
    pub partition: Partition,
    /// The name of the program that wrote it, as on a command line; that program replays the
    /// witnesses.
    #[serde(default = "own_program")]
    pub program: String,
    /// The requests, and the shards of each that the report holds.
    #[serde(default)]
    pub parts: Vec<Part>,
    /// Whether it was put together from several.
    #[serde(default)]
    pub merged: bool,
    /// Verdicts.
    pub rows: Vec<Row>,
    /// The kill matrix.
    pub mutants: Vec<MutantRow>,
    /// Recorded traces.
    pub conformance: Vec<ConformanceRow>,
    /// Pictures of the components that were simulated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<Picture>,
    /// Everything that depends on the clock of the machine.
    pub timing: BTreeMap<String, serde_json::Value>,
}

impl Report {
    /// Makes an empty report.
    pub fn new(seed: u64) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            outcome: Summary::Empty,
            commit: commit::of(Some("unknown")),
            toolchain: env!("SEATRIAL_TOOLCHAIN").to_owned(),
            seed,
            partition: Partition { index: 1, count: 1 },
            program: own_program(),
            parts: Vec::new(),
            merged: false,
            rows: Vec::new(),
            mutants: Vec::new(),
            conformance: Vec::new(),
            pictures: Vec::new(),
            timing: BTreeMap::new(),
        }
    }

    /// Makes the empty report of a program, with the commit that it checks.
    pub(crate) fn of(program: &str, built_from: Option<&'static str>, seed: u64) -> Self {
        Self { program: program.to_owned(), commit: commit::of(built_from), ..Self::new(seed) }
    }
}

fn own_program() -> String {
    "seatrial".to_owned()
}
