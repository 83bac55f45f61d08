//! The request and the result of a trial: plain data, for authors of components and for runners.

mod budget;
mod digest;
mod explored;
mod finding;
mod found;
mod plan;
mod violation;

pub use budget::Budget;
pub use digest::digest;
pub use explored::{Broken, Explored, Shown};
pub use finding::{Finding, Line, transcript};
pub use found::{InvariantInfo, Picture, Replayed, Trial, Violated};
pub use plan::{Plan, StopAt};
pub use violation::{Expect, Violation};
