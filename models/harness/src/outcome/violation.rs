//! A promise that was broken, and whether it was meant to be.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A broken promise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The event at which it shows, if it is one event.
    pub at: Option<usize>,
    /// The reason, as a fragment of a sentence.
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

impl From<String> for Violation {
    fn from(because: String) -> Self {
        Self::overall(because)
    }
}

/// The expected verdict of an invariant. The invariant of a canary is expected to be violated: an
/// engine that finds no violation there is blind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    /// No execution violates it.
    #[default]
    Holds,
    /// Some execution violates it.
    Violated,
}
