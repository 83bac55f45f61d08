//! The engines: ways to run one scenario many times.
//!
//! An engine is given the body of a scenario over its own runtime and a [`Judge`] that looks at
//! every execution and says whether to go on. It decides nothing about right or wrong.

mod execution;
mod quiet;
mod schedule;
#[cfg(feature = "shuttle")]
pub mod shuttle;

pub use execution::{End, Execution, Exploration, Judge};
pub use quiet::{panic_text, quietly};
pub use schedule::{Choice, MAX_THREADS, ParseScheduleError, Schedule, ThreadLetter};
