//! The indexed store's page.

mod conformance;
mod op;
mod spec;
#[cfg(test)]
mod tests;

pub use conformance::conformance;
pub use op::{Labelled, Op, check, decode};
pub use spec::Spec;
