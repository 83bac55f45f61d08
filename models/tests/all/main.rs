//! The tests of the program and of the catalogue: one test program, since each of them would contain
//! most of the crate.

mod apiserver;
mod blind;
mod boundary;
mod cli;
mod common;
mod conformance;
mod convictions;
mod determinism;
mod figures;
mod ledger;
mod minimal;
mod orderings;
mod reports;
mod same_bug;
mod witnesses;
