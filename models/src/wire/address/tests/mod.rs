//! The builder that ships against the sequential object.

mod proptest;
