//! The bucket against the one in whole numbers and against the recorded traces.

pub(crate) mod conformance;
pub(crate) mod proptest;
