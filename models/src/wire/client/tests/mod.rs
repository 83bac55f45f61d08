//! The client that ships against the sequential object.

pub(crate) mod proptest;
