//! Random walk.

use super::rng::Rng;
use super::{Chooser, Decision, Kernel, Options};
use crate::engine::Choice;

pub(super) struct Random {
    rng: Rng,
}

impl Random {
    pub(super) fn new(seed: u64, executions: u64) -> Self {
        Self { rng: Rng::new(seed, executions) }
    }
}

impl Chooser for Random {
    fn begin(&mut self) -> bool {
        self.rng.begin()
    }

    fn thread(&mut self, _kernel: &Kernel, options: Options) -> Decision<Choice> {
        Ok(options.nth(self.rng.below(options.len() as u64) as usize))
    }

    fn data(&mut self, _kernel: &Kernel, options: u32) -> Decision<u32> {
        Ok(self.rng.below(u64::from(options)) as u32)
    }
}
