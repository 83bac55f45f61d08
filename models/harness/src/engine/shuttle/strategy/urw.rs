//! Uniform random walk: every interleaving is about as likely as any other.
//!
//! A thread that has more steps left is chosen more often: with the true counts, choosing in
//! proportion to them draws all interleavings of the threads with equal probability. The counts
//! are those of the first execution, which is a random walk; the steps of a thread that is not
//! started yet belong to its parent. After "Selectively Uniform Concurrency Testing" (Zhao, Wolff,
//! Mathur, Roychoudhury, ASPLOS 2025).

use super::counts::{Family, Left};
use super::rng::Rng;
use super::{Chooser, Decision, Kernel, Options};
use crate::engine::{Choice, End};

pub(super) struct Urw {
    rng: Rng,
    /// Steps of each thread of the first execution, by name.
    own: Vec<u64>,
    family: Family,
    /// Steps of each thread and its descendants, by name; empty in the first execution.
    totals: Vec<u64>,
    left: Left,
}

impl Urw {
    pub(super) fn new(seed: u64, executions: u64) -> Self {
        Self {
            rng: Rng::new(seed, executions),
            own: Vec::new(),
            family: Family::default(),
            totals: Vec::new(),
            left: Left::default(),
        }
    }

    fn is_first(&self) -> bool {
        self.rng.execution() == 1
    }

    fn count(&mut self, kernel: &Kernel, thread: usize) {
        self.left.step(thread);
        if self.is_first() {
            let name = kernel.name(thread);
            if self.own.len() <= name {
                self.own.resize(name + 1, 0);
            }
            self.own[name] += 1;
        }
    }
}

impl Chooser for Urw {
    fn begin(&mut self) -> bool {
        self.left.begin();
        self.rng.begin()
    }

    fn thread(&mut self, kernel: &Kernel, options: Options) -> Decision<Choice> {
        self.left.meet(kernel, &self.totals);
        // A thread that can move has a step left, whatever the estimate says.
        let weight = |choice| match choice {
            Choice::Thread(thread) => self.left.of(usize::from(thread)).max(1),
            _ => 1,
        };
        let chosen = self.rng.weighted(options.all(), weight);
        if let Choice::Thread(thread) = chosen {
            self.count(kernel, usize::from(thread));
        }
        Ok(chosen)
    }

    fn data(&mut self, _kernel: &Kernel, options: u32) -> Decision<u32> {
        Ok(self.rng.below(u64::from(options)) as u32)
    }

    fn finish(&mut self, kernel: &Kernel, _end: &End) {
        if self.is_first() {
            self.family.meet(kernel);
            let own = &self.own;
            self.totals = self.family.totals(|name| own.get(name).copied().unwrap_or(0));
        }
    }
}
