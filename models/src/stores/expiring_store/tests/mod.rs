//! The machine against a map and against recorded traces.

mod conformance;
mod mistakes;
mod proptest;
mod shell;
