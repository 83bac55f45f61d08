//! One recorded trace.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::Deserialize;
use serde_json::Value;

use crate::engine::{panic_text, quietly, told_in_full};

/// A sequence of calls and the results that the reference gave.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Trace {
    /// Its name.
    #[serde(alias = "name")]
    pub id: String,
    /// How the object was made.
    #[serde(default)]
    pub config: Value,
    /// The calls.
    pub steps: Vec<Step>,
    /// All of it as it was read, for those whose steps say more than a call and its result.
    #[serde(skip)]
    pub line: String,
}

/// One call and its result.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Step {
    /// The call.
    pub op: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Arguments,
    /// The value that the reference returned.
    #[serde(default)]
    pub out: Value,
}

/// The arguments of a call; absent means none.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Arguments(pub Value);

/// How far a trace replayed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// Steps compared.
    pub steps: usize,
    /// The rule by which ours departs from the reference at the last of them, if one does; the two
    /// are in different states from there on.
    pub departure: Option<&'static str>,
}

/// Why a trace does not replay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TraceError {
    /// The line is not a trace, for this reason.
    Unreadable(String),
    /// A step asks for something that the replayer does not know, or lacks an argument.
    Malformed {
        /// The step, from zero.
        step: usize,
        /// The reason.
        why: String,
    },
    /// A step gave something else.
    Different {
        /// The step, from zero.
        step: usize,
        /// The call.
        op: String,
        /// The recorded result.
        recorded: String,
        /// The result of our machine, or the result that our machine predicts for the reference.
        got: String,
    },
    /// Ours panicked.
    Panicked {
        /// The step, from zero; `None` if it was outside of all steps.
        step: Option<usize>,
        /// Where it panicked, and what it said.
        said: String,
    },
    /// The faithful variant departed from the reference.
    Departed {
        /// The step, from zero.
        step: usize,
        /// The rule that was blamed.
        rule: &'static str,
    },
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) => write!(f, "not a trace: {why}"),
            Self::Malformed { step, why } => write!(f, "step {step}: {why}"),
            Self::Different { step, op, recorded, got } => {
                write!(f, "step {step}, {op}: recorded {recorded}, got {got}")
            }
            Self::Panicked { step: Some(step), said } => write!(f, "step {step}: {said}"),
            Self::Panicked { step: None, said } => f.write_str(said),
            Self::Departed { step, rule } => {
                write!(f, "step {step}: the faithful variant departs by {rule}")
            }
        }
    }
}

impl std::error::Error for TraceError {}

/// Does something; a panic becomes the reason why the trace does not replay.
pub(super) fn caught<T>(step: Option<usize>, run: impl FnOnce() -> T) -> Result<T, TraceError> {
    quietly(|| catch_unwind(AssertUnwindSafe(run))).map_err(|panic| {
        let said = told_in_full(&panic_text(&*panic));
        TraceError::Panicked { step, said }
    })
}

impl Trace {
    /// Reads one line of JSON.
    ///
    /// # Errors
    /// The line is not a trace.
    pub fn parse(line: &str) -> Result<Self, TraceError> {
        let read = serde_json::from_str(line);
        let trace: Self = read.map_err(|error| TraceError::Unreadable(error.to_string()))?;
        Ok(Self { line: line.to_owned(), ..trace })
    }

    /// Runs `step` on every step and compares what it gives with what was recorded.
    ///
    /// # Errors
    /// The first step that gives something else, or that `step` does not understand.
    pub fn replay(
        &self,
        mut step: impl FnMut(&Step) -> Result<Gives, String>,
    ) -> Result<Replayed, TraceError> {
        for (number, recorded) in self.steps.iter().enumerate() {
            let given = caught(Some(number), || step(recorded))?;
            let gives = given.map_err(|why| TraceError::Malformed { step: number, why })?;
            let (expected, departure) = match gives {
                Gives::Same(value) => (value, None),
                Gives::Departs { rule, reference } => (reference, Some(rule)),
            };
            if expected != recorded.out {
                return Err(TraceError::Different {
                    step: number,
                    op: recorded.op.clone(),
                    recorded: recorded.out.to_string(),
                    got: expected.to_string(),
                });
            }
            if departure.is_some() {
                return Ok(Replayed { steps: number, departure });
            }
        }
        Ok(Replayed { steps: self.steps.len(), departure: None })
    }
}

/// The result of a machine at a step.
#[derive(Clone, PartialEq, Debug)]
pub enum Gives {
    /// The same as the reference.
    Same(Value),
    /// Something better by a rule; the reference must have given this.
    Departs {
        /// The rule.
        rule: &'static str,
        /// The computed result of the reference.
        reference: Value,
    },
}

impl Arguments {
    /// Returns a text argument.
    ///
    /// # Errors
    /// It is missing or no text.
    pub fn text(&self, name: &str) -> Result<&str, String> {
        let value = self.0.get(name).ok_or_else(|| format!("argument '{name}' is missing"))?;
        value.as_str().ok_or_else(|| format!("argument '{name}' is no text: {value}"))
    }

    /// Returns an integer argument, exactly.
    ///
    /// # Errors
    /// It is missing or no integer.
    pub fn integer(&self, name: &str) -> Result<i64, String> {
        let value = self.0.get(name).ok_or_else(|| format!("argument '{name}' is missing"))?;
        value.as_i64().ok_or_else(|| format!("argument '{name}' is no integer: {value}"))
    }
}
