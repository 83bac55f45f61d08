//! Pages of the book whose blocks of Rust are compiled and run with the tests of this crate.

#[doc = include_str!("../../../docs/checking/invariants.md")]
mod invariants {}

#[doc = include_str!("../../../docs/checking/liveness.md")]
mod liveness {}

#[doc = include_str!("../../../docs/checking/time.md")]
mod time {}
