//! The recorded traces that this crate carries.

mod carried;

pub use carried::{PROVENANCE, TRACES, carried};
pub use seatrial::conformance::*;
