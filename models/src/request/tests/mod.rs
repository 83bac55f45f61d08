//! The builder against the recorded traces, and the rules of calls against their plain
//! form.

pub(crate) mod conformance;
pub(crate) mod doubts;
pub(crate) mod proptest;
pub(crate) mod text;
