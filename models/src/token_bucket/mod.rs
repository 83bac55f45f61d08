//! The token bucket's page.

mod conformance;
mod op;
mod spec;
#[cfg(test)]
mod tests;

pub use conformance::conformance;
pub(crate) use conformance::{number, whole};
pub use op::{Op, Setup, check, decode};
pub use spec::{Rate, Reserved, Spec};
