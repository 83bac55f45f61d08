//! The machine against the sequential object and against the recorded traces.

pub(crate) mod conformance;
pub(crate) mod mistakes;
pub(crate) mod proptest;
pub(crate) mod wakes;
