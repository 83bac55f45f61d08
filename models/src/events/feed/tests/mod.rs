//! Generated calls.

mod mistakes;
mod proptest;
