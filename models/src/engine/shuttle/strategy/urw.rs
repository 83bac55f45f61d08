//! Uniform random walk: every interleaving is about as likely as any other.
//!
//! A thread that has more steps left is chosen more often: with the true counts, choosing in
//! proportion to them draws all interleavings of the threads with equal probability. The counts
//! are those of the first execution, which is a random walk; the steps of a thread that is not
//! started yet belong to its parent. After "Selectively Uniform Concurrency Testing" (Zhao, Wolff,
//! Mathur, Roychoudhury, ASPLOS 2025).

use super::counts::Counts;
use super::rng::Rng;
use super::{Chooser, Decision, Kernel, Options};
use crate::engine::Choice;

pub(super) struct Urw {
    rng: Rng,
    counts: Counts,
}

impl Urw {
    pub(super) fn new(seed: u64, executions: u64) -> Self {
        Self { rng: Rng::new(seed, executions), counts: Counts::default() }
    }
}

impl Chooser for Urw {
    fn begin(&mut self) -> bool {
        self.counts.begin();
        self.rng.begin()
    }

    fn thread(&mut self, kernel: &Kernel, options: Options) -> Decision<Choice> {
        self.counts.meet(kernel);
        let chosen = self.counts.draw(options, &mut self.rng);
        self.counts.step(kernel, chosen);
        Ok(chosen)
    }

    fn data(&mut self, _kernel: &Kernel, options: u32) -> Decision<u32> {
        Ok(self.rng.below(u64::from(options)) as u32)
    }

    fn finish(&mut self, _kernel: &Kernel) {
        if self.rng.execution() == 1 {
            self.counts.learn();
        }
    }
}
