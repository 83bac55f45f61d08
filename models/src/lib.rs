//! Deterministic checking of `seatrial-core`, and of your own controllers.
//!
//! A trial flows
//!
//! ```text
//! scenario -> engine -> machine -> history -> invariant -> verdict -> report
//! ```
//!
//! A [`Scenario`](trial::Scenario) is a small concurrent program, written once. An engine runs it
//! many times. The machine under trial is the one that ships, or a mutant; it is wrapped by a
//! recorder, so every event is written down inside the critical section that it describes. The
//! invariants judge each history; the report says what held, how it was looked for, and how to see
//! a violation again.

pub mod backoff;
pub mod by_hand;
pub mod canary;
pub mod candidate;
pub mod catalogue;
pub mod check;
pub mod cli;
pub mod cluster;
pub mod conformance;
pub mod delaying_queue;
pub mod delta_fifo;
pub mod elector;
pub mod engine;
pub mod expiring_store;
pub mod fifo;
pub mod heap;
pub mod indexed_store;
mod interrupt;
mod items;
pub mod limited_queue;
pub mod limiter;
pub mod objects;
pub mod ordered_fifo;
pub mod picture;
pub mod pool;
pub mod priority_queue;
pub mod queue;
pub mod report;
pub mod runner;
pub mod seam;
pub mod texts;
pub mod token_bucket;
pub mod toy;
pub mod trial;
