//! The lock that ships against the sequential object.

mod proptest;
