//! The machine against a map and against recorded traces.

pub(crate) mod conformance;
pub(crate) mod mistakes;
pub(crate) mod proptest;
pub(crate) mod shell;
