//! The limiters' page.

mod conformance;
mod op;
mod spec;
#[cfg(test)]
mod tests;

pub use conformance::conformance;
pub(crate) use conformance::limiter_of;
pub use op::{Op, check, check_on, decode, limiter};
pub use spec::{Shape, Spec};
