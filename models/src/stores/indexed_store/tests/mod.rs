//! The store against the sequential object and against recorded traces.

mod conformance;
mod moments;
mod proptest;
