//! Random numbers that a seed determines.

use super::super::kernel::mix;
use crate::random::Random;

/// The random numbers of a strategy: one stream for each execution.
#[derive(Clone, Debug)]
pub(super) struct Rng {
    seed: u64,
    left: u64,
    execution: u64,
    random: Random,
}

impl Rng {
    pub(super) fn new(seed: u64, executions: u64) -> Self {
        Self { seed, left: executions, execution: 0, random: Random::new(0) }
    }

    /// Starts the stream of the next execution; false if there is none.
    pub(super) fn begin(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.execution += 1;
        let start = mix(mix(self.seed ^ 0x6a09_e667_f3bc_c909).wrapping_add(self.execution));
        self.random = Random::new(start);
        true
    }

    /// Returns which execution this is, counted from one.
    pub(super) fn execution(&self) -> u64 {
        self.execution
    }

    /// Returns any number.
    pub(super) fn next(&mut self) -> u64 {
        self.random.bits()
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
        self.random.below(bound)
    }
}
