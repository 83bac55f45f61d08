//! Pages of the book. Their Rust blocks are compiled and run with the tests of this crate.

#[doc = include_str!("../../README.md")]
mod readme {}

#[doc = include_str!("../../docs/parts.md")]
mod parts {}
