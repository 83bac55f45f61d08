//! The simulated API server on the command line: the recorded traces of a real one, the server on
//! loopback, in place of the programs of envtest, and under plans of faults around a process.

mod assets;
mod command;
pub(crate) mod config;
mod conformance;
pub(crate) mod drive;

pub use assets::COMMAND as ASSETS;
pub use command::COMMAND;
pub use conformance::{crud, finalizers, lease, list, patch, watch};
pub use drive::COMMAND as DRIVE;
