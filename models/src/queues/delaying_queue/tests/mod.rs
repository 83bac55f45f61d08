//! The machine against the sequential object and against the recorded traces.

mod conformance;
mod mistakes;
mod proptest;
mod wakes;
