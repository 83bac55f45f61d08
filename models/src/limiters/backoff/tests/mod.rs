//! The table against the sequential object and against the recorded traces.

pub(crate) mod conformance;
pub(crate) mod proptest;
