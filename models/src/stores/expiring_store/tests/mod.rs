//! The machine against a map and against recorded traces.

mod conformance;
mod mistakes;
mod proptest;
#[cfg(any(feature = "loom", feature = "shuttle"))]
mod shell;
