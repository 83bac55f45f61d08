//! The builder against the recorded traces, and the two statements of the rules of calls against
//! each other.

pub(crate) mod conformance;
pub(crate) mod doubts;
pub(crate) mod proptest;
pub(crate) mod text;
