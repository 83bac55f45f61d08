//! Generated calls.

pub(crate) mod mistakes;
pub(crate) mod proptest;
