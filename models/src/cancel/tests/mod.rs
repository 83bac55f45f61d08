//! The tokens against the sequential object.

pub(crate) mod mistakes;
pub(crate) mod proptest;
