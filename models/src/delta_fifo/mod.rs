//! The DeltaFIFO's page.

mod conformance;
mod op;
mod spec;
#[cfg(test)]
mod tests;

pub use conformance::conformance;
pub use op::{
    Checked, Machine, MachineOp, MachineRet, Object, Op, Setup, Store, check, check_on, decode,
};
pub use spec::{Spec, Taken};
