//! The bucket against the one in whole numbers and against the recorded traces.

mod conformance;
mod proptest;
