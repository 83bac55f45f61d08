//! Deterministic checking of `seatrial-core`, and of your own controllers.

pub mod engine;
