//! The client that ships against the sequential object.

mod proptest;
