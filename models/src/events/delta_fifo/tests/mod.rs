//! Recorded traces, and laws of compression.

pub(crate) mod conformance;
pub(crate) mod laws;
