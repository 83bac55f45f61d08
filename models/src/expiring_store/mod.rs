//! The page of the store whose objects expire.

mod conformance;
mod op;
#[cfg(test)]
mod tests;

pub use conformance::conformance;
pub use op::{Machine, Op, check, check_on, decode};
