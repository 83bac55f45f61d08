//! The elector under check: conformance with the reference, sequential meaning, random operations.

pub mod conformance;
