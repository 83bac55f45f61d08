//! The DeltaFIFO's page.

mod conformance;
mod op;
mod spec;
#[cfg(test)]
mod tests;

pub use conformance::conformance;
pub use op::{Machine, MachineOp, MachineRet, Op, Setup, check, check_on, decode};
pub use spec::{Spec, Taken};
