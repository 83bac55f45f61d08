//! The machine against the sequential object and against recorded traces.

pub(crate) mod conformance;
pub(crate) mod laws;
pub(crate) mod mistakes;
pub(crate) mod proptest;
