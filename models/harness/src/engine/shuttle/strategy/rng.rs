//! Random numbers that a seed determines.

use super::super::kernel::mix;

/// The random numbers of a strategy: one stream for each execution.
#[derive(Clone, Debug)]
pub(super) struct Rng {
    seed: u64,
    left: u64,
    execution: u64,
    state: u64,
}

impl Rng {
    pub(super) fn new(seed: u64, executions: u64) -> Self {
        Self { seed, left: executions, execution: 0, state: 0 }
    }

    /// Starts the stream of the next execution; false if there is none.
    pub(super) fn begin(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.execution += 1;
        self.state = mix(mix(self.seed ^ 0x6a09_e667_f3bc_c909).wrapping_add(self.execution));
        true
    }

    /// Returns which execution this is, counted from one.
    pub(super) fn execution(&self) -> u64 {
        self.execution
    }

    /// Returns any number (SplitMix64).
    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Draws one of some items in proportion to their weights, which are not all zero.
    pub(super) fn weighted<T: Copy>(
        &mut self,
        items: impl Iterator<Item = T> + Clone,
        weight: impl Fn(T) -> u64,
    ) -> T {
        let mut drawn = self.below(items.clone().map(&weight).sum());
        for item in items {
            let weight = weight(item);
            if drawn < weight {
                return item;
            }
            drawn -= weight;
        }
        unreachable!("what is drawn is less than the sum of the weights")
    }

    /// Returns a number below `bound`, which is not zero. The bias is one in 2^64 / `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}
