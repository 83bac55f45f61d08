//! The builder against the recorded traces, the rules of calls against themselves.

mod builder;
mod conformance;
mod doubts;
mod proptest;
mod text;
