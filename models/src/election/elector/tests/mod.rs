//! The elector against the sequential object, and laws of its record.

mod beside;
mod laws;
mod mutants;
mod proptest;
mod reference;
mod simulations;
mod told;
