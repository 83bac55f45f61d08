//! The machine against the sequential object and against recorded traces.

mod conformance;
mod mistakes;
mod proptest;
