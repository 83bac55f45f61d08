//! The simulated API server on the command line: the recorded traces of a real one, and the server
//! on loopback.

mod command;
pub(crate) mod config;
mod conformance;

pub use command::COMMAND;
pub use conformance::{crud, finalizers, lease, list, patch, watch};
