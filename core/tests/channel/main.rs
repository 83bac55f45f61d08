//! Channels beside those of the crate `crossbeam-channel`: made-up programs, run on both.

mod ends;
mod steps;
mod threads;
