//! The machine against the sequential object and against recorded traces.

mod conformance;
mod laws;
mod mistakes;
mod proptest;
