//! The rate-limiting queue's page.

mod conformance;
mod op;
mod spec;
#[cfg(test)]
mod tests;

pub use conformance::conformance;
pub use op::{Op, Ours, check, check_on, decode, machine};
pub use spec::Spec;
