//! The builder against the recorded traces, and the two statements of the rules of calls against
//! each other.

mod conformance;
mod doubts;
mod proptest;
mod text;
