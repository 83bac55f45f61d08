//! The builder that ships against the sequential object.

pub(crate) mod proptest;
