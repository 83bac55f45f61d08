//! The table against the sequential object and against the recorded traces.

mod conformance;
mod proptest;
