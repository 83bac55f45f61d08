//! Partial-order sampling: random priorities of steps.
//!
//! Every step gets a random priority when it becomes the next one of its thread, and the enabled
//! step of the highest priority runs. After it, the steps that it disturbs get new priorities: so
//! of three threads that want one lock, the order of the second and third does not hang on the
//! draw that made the first one first. After "Partial Order Aware Concurrency Sampling" (Yuan,
//! Yang, Gu, CAV 2018). The clock takes part as one more thread.

use super::rng::Rng;
use super::{Chooser, Decision, Kernel, Options, footprint};
use crate::engine::{Choice, MAX_THREADS};

pub(super) struct Pos {
    rng: Rng,
    /// The priority of the next step of each thread, and of the clock; zero before it is drawn.
    priorities: [u64; MAX_THREADS + 1],
}

const CLOCK: usize = MAX_THREADS;

impl Pos {
    pub(super) fn new(seed: u64, executions: u64) -> Self {
        Self { rng: Rng::new(seed, executions), priorities: [0; MAX_THREADS + 1] }
    }

    fn priority(&mut self, choice: Choice) -> u64 {
        let priority = &mut self.priorities[place(choice)];
        if *priority == 0 {
            *priority = self.rng.next() | 1;
        }
        *priority
    }
}

fn place(choice: Choice) -> usize {
    match choice {
        Choice::Thread(thread) => usize::from(thread),
        _ => CLOCK,
    }
}

impl Chooser for Pos {
    fn begin(&mut self) -> bool {
        self.priorities = [0; MAX_THREADS + 1];
        self.rng.begin()
    }

    fn thread(&mut self, kernel: &Kernel, options: Options) -> Decision<Choice> {
        let chosen = options.all().max_by_key(|&choice| self.priority(choice));
        let chosen = chosen.expect("there is at least one option");
        let touched = footprint(kernel, chosen);
        for other in options.all().filter(|&other| touched.disturbs(footprint(kernel, other))) {
            self.priorities[place(other)] = 0;
        }
        self.priorities[place(chosen)] = 0;
        Ok(chosen)
    }

    fn data(&mut self, _kernel: &Kernel, options: u32) -> Decision<u32> {
        Ok(self.rng.below(u64::from(options)) as u32)
    }
}
