//! Who stands in a place of a table: a hash and a slot as one number, and what is at hand with them.

/// Stands where nothing does. Greater than all that can stand there: no slot has that number.
const EMPTY: u64 = u64::MAX;

/// A place of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<T> {
    /// A spread hash above and a slot below, or [`EMPTY`].
    pub(super) standing: u64,
    pub(super) with: T,
}

impl<T: Default> Default for Place<T> {
    fn default() -> Self {
        Self { standing: EMPTY, with: T::default() }
    }
}

impl<T> Place<T> {
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.standing == EMPTY
    }

    #[inline(always)]
    pub(super) fn slot(&self) -> u32 {
        self.standing as u32
    }

    #[inline(always)]
    pub(super) fn spread(&self) -> u32 {
        (self.standing >> 32) as u32
    }
}

/// Spreads a folded hash over all of its bits; different ones stay different.
#[inline(always)]
pub(super) fn spread(hash: u32) -> u32 {
    hash.wrapping_mul(0x9E37_79B1)
}

/// Returns what stands for a slot with a spread hash.
#[inline(always)]
pub(super) fn standing(spread: u32, slot: u32) -> u64 {
    (u64::from(spread) << 32) | u64::from(slot)
}
