//! The ordered FIFO's page.

mod conformance;
mod event_list;
mod op;
mod spec;
#[cfg(test)]
mod tests;

pub use conformance::conformance;
pub use event_list::{EventList, Mistake, REFERENCE};
pub use op::{Machine, MachineOp, MachineRet, Op, Setup, check, check_on, decode};
pub use spec::Spec;
