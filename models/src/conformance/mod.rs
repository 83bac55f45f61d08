//! The recorded traces that this crate carries, and how they are replayed.

mod carried;

pub use carried::{PROVENANCE, TRACES, carried};
pub use seatrial::conformance::*;
