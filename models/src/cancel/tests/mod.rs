//! The tokens against the sequential object.

mod mistakes;
mod proptest;
