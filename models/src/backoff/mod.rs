//! The keyed back-off's page.

mod conformance;
mod op;
mod spec;
#[cfg(test)]
mod tests;

pub use conformance::conformance;
pub use op::{Op, Setup, check, decode};
pub use spec::Spec;
