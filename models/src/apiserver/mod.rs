//! The simulated API server on the command line: the recorded traces of a real one, the server on
//! loopback, and in place of the programs of envtest.

mod assets;
mod command;
pub(crate) mod config;
mod conformance;

pub use assets::COMMAND as ASSETS;
pub use command::COMMAND;
pub use conformance::{crud, finalizers, lease, list, patch, watch};
