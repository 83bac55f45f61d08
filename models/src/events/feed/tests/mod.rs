//! Made-up calls.

mod mistakes;
mod proptest;
