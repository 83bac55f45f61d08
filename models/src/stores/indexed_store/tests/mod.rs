//! The store against the sequential object and against recorded traces.

pub(crate) mod conformance;
pub(crate) mod moments;
pub(crate) mod proptest;
