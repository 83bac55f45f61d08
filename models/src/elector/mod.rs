//! The elector under check: conformance with the reference, sequential meaning, random operations.

pub mod conformance;
pub mod hunt;
pub mod mutants;
pub mod op;
pub mod spec;

#[cfg(test)]
mod tests;
