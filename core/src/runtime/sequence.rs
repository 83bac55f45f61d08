//! Random numbers that depend only on a seed.

use std::sync::atomic::{AtomicU64, Ordering};

/// The difference of two successive numbers before mixing: the odd constant of splitmix64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A sequence of random numbers; the same seed gives the same numbers. Not for secrets: all numbers
/// can be computed from a single one.
#[derive(Debug)]
pub(super) struct Sequence(AtomicU64);

impl Sequence {
    pub(super) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// Returns the next number (splitmix64).
    pub(super) fn next(&self) -> u64 {
        let x = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
}
