//! The channels against the simple construction.

mod mistakes;
mod proptest;
