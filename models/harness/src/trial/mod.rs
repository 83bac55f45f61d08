//! A trial: scenario, machine, engine, history, invariants, verdict. The subjects of trials are
//! written with [`author`](crate::author), and re-exported here under the same names.

mod again;
mod case;
#[cfg(feature = "shuttle")]
mod exploring;
mod fuzzing;
mod judge;
mod lines;
#[cfg(feature = "loom")]
mod looming;
#[cfg(feature = "shuttle")]
mod minimise;
#[cfg(feature = "shuttle")]
mod searching;
#[cfg(feature = "shuttle")]
mod shuttling;
mod states;
mod subject;
mod witness;

pub use crate::author::*;
pub use crate::engine::{Left, NEVER_PANICS, Observed, TERMINATES};
pub use crate::outcome::*;
pub(crate) use again::Again;
pub(crate) use case::Case;
pub use fuzzing::MADE_UP_CALLS;
pub use states::States;
pub use subject::{MutantInfo, ScenarioInfo, Subject, subject};
pub use witness::{VERSION, Witness, WitnessError};
