//! The FIFO's page.

mod conformance;
mod map_and_list;
mod op;
mod spec;
#[cfg(test)]
mod tests;

pub use conformance::conformance;
pub use map_and_list::{MapAndList, Mistake, REFERENCE};
pub use op::{Machine, MachineOp, MachineRet, Op, check, check_on, decode};
pub use spec::{Spec, Taken};
