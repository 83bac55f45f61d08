//! The elector against the sequential object, and laws of its record.

mod beside;
mod laws;
mod mutants;
mod plain;
mod proptest;
mod simulations;
mod told;
