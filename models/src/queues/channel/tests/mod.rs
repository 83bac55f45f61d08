//! The channels against the simple construction.

pub(crate) mod mistakes;
pub(crate) mod proptest;
