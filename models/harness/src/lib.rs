//! Deterministic checking of concurrent code: of controllers above all.
//!
//! A trial flows
//!
//! ```text
//! scenario -> engine -> machine -> history -> invariant -> verdict -> report
//! ```
//!
//! A [`Scenario`](author::Scenario) is a small concurrent program, written once. An engine runs it
//! many times. The machine under trial is the one that ships, or a mutant; it is wrapped by a
//! recorder, so every event is written down inside the critical section that it describes. The
//! invariants judge each history; the report says what held, how it was looked for, and how to see
//! a violation again.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod author;
#[cfg(all(doctest, feature = "loom", feature = "shuttle"))]
mod book;
pub mod canary;
pub mod catalogue;
pub mod check;
pub mod cli;
pub mod command;
pub mod conformance;
pub mod engine;
pub mod interrupt;
pub mod linear;
pub mod outcome;
pub mod picture;
pub mod program;
pub mod random;
pub mod report;
pub mod runner;
pub mod seam;
pub mod single_step;
pub mod tests;
pub mod texts;
pub mod toy;
pub mod trial;

pub use program::seam;
pub use seatrial_macros::test;
