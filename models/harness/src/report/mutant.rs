//! The kill matrix as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::Engine;

/// One engine's conviction of a mutant.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Kill {
    /// The engine.
    pub engine: Engine,
    /// Executions until the conviction, over all scenarios tried before.
    pub executions: u64,
    /// Preemptions in the convicting execution, where the engine can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemptions: Option<u32>,
    /// Whether no execution with fewer preemptions convicts it; absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proved_minimum: Option<bool>,
    /// The scenario that convicted it.
    pub scenario: String,
    /// The invariant that convicted it.
    pub invariant: String,
    /// The way back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<String>,
}

impl Kill {
    /// Tells whether no execution with fewer preemptions convicts the mutant.
    pub fn is_least(&self) -> bool {
        self.preemptions == Some(0) || self.proved_minimum == Some(true)
    }
}

/// The fate of a mutant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// An engine convicted it.
    Killed,
    /// No engine did.
    Survived,
    /// None did, and none should.
    Equivalent,
}

/// How many executions one way of looking takes until it convicts a mutant, on one scenario.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Speed {
    /// The engine; `plain loom` and `plain random` are loom without a bound of preemptions, and one
    /// sampler that draws the next thread at random.
    pub by: String,
    /// The scenario.
    pub scenario: String,
    /// How many seeds were tried.
    pub seeds: u32,
    /// How many of the seeds led to a conviction.
    pub convicted: u32,
    /// The median; absent if fewer than half of the seeds convicted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median: Option<u64>,
    /// The most executions that one seed took.
    pub at_most: u64,
}

/// One mutant.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MutantRow {
    /// The component.
    pub component: String,
    /// Its name.
    pub name: String,
    /// The source of the mistake.
    pub origin: String,
    /// The invariants that it breaks.
    pub breaks: Vec<String>,
    /// `seeded`, `exhibit` or `equivalent`.
    pub kind: String,
    /// The convictions.
    pub kills: Vec<Kill>,
    /// Its fate.
    pub outcome: Fate,
    /// Engines that were tried and did not convict it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed_by: Vec<Engine>,
    /// Whether only its choice of threads to wake is wrong: single calls one after another do not
    /// show that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_waking: bool,
    /// How many executions a conviction takes, where that was measured over many seeds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub speeds: Vec<Speed>,
    /// Why it is equivalent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

impl MutantRow {
    /// Tells whether it met its expected fate.
    pub fn as_expected(&self) -> bool {
        if self.kind == "equivalent" {
            self.outcome == Fate::Equivalent
        } else {
            self.outcome == Fate::Killed
        }
    }
}
