//! Doubts a property: it must notice a machine with a mistake.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::engine::quietly;

pub use super::Changed as Mistaken;

/// Tells whether a property fails on one of many random inputs.
pub fn notices(property: impl Fn(&[u8])) -> bool {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    (0..2000).any(|_| {
        let bytes: Vec<u8> = (0..90)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 32) as u8
            })
            .collect();
        quietly(|| catch_unwind(AssertUnwindSafe(|| property(&bytes))).is_err())
    })
}
