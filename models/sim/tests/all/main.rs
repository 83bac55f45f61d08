//! The tests of the simulated server: one test program, since each of them would contain most of the
//! crate. Those that need another build, or a process of their own, are beside it.

mod access;
mod admission;
mod bad_input;
mod common;
mod conformance;
mod controllers;
mod conversion;
mod custom;
mod discovery;
mod doubts;
mod faults;
mod h2;
mod hostile;
mod http;
mod invariants;
mod kinds;
mod laws;
mod mistakes;
mod policies;
mod programs;
mod protobuf;
mod real;
mod reference_patches;
mod repeatable;
mod stored;
mod tls;
#[cfg(feature = "tower")]
mod tower;
mod two_apis;
mod worlds;
