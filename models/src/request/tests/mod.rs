//! The builder against the recorded traces, the rules of calls against themselves.

mod conformance;
mod doubts;
mod proptest;
mod text;
