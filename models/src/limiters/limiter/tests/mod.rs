//! The limiters against their sequential objects and against the recorded traces.

mod conformance;
mod mistakes;
mod proptest;
