//! Probabilistic concurrency testing: random priorities, few changes.
//!
//! The thread of the highest priority runs as long as it can. At `depth - 1` steps, drawn among as
//! many as the longest execution so far had, the thread that ran last falls behind all others.
//! After "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs" (Burckhardt,
//! Kothari, Musuvathi, Nagarakatti, ASPLOS 2010). Only steps with a choice count. The clock takes
//! part as one more thread.

use super::rng::Rng;
use super::{Chooser, Decision, Kernel, Options};
use crate::engine::{Choice, MAX_THREADS};

pub(super) struct Pct {
    rng: Rng,
    depth: u32,
    /// Zero for a thread that was not seen yet. The last entry is the clock's.
    priorities: [u64; MAX_THREADS + 1],
    /// The next priority of a thread that falls behind: less than all before it.
    lowest: u64,
    changes: Vec<u64>,
    steps: u64,
    most_steps: u64,
    last: Option<Choice>,
}

/// Below it lie the priorities of threads that fell behind.
const FIRST: u64 = 1 << 32;

impl Pct {
    pub(super) fn new(seed: u64, depth: u32, executions: u64) -> Self {
        Self {
            rng: Rng::new(seed, executions),
            depth: depth.max(1),
            priorities: [0; MAX_THREADS + 1],
            lowest: FIRST,
            changes: Vec::new(),
            steps: 0,
            most_steps: 0,
            last: None,
        }
    }

    fn priority(&mut self, choice: Choice) -> u64 {
        let at = place(choice);
        if self.priorities[at] == 0 {
            self.priorities[at] = self.rng.next() | FIRST << 1;
        }
        self.priorities[at]
    }
}

fn place(choice: Choice) -> usize {
    match choice {
        Choice::Thread(thread) => usize::from(thread),
        _ => MAX_THREADS,
    }
}

impl Chooser for Pct {
    fn begin(&mut self) -> bool {
        if !self.rng.begin() {
            return false;
        }
        self.priorities = [0; MAX_THREADS + 1];
        self.lowest = FIRST;
        self.steps = 0;
        self.last = None;
        self.changes.clear();
        // The first execution has no changes: it only tells how many steps there are.
        if self.most_steps > 1 {
            for _ in 1..self.depth {
                let at = 1 + self.rng.below(self.most_steps - 1);
                self.changes.push(at);
            }
        }
        true
    }

    fn thread(&mut self, _kernel: &Kernel, options: Options) -> Decision<Choice> {
        if options.len() > 1 {
            let falls = self.changes.iter().filter(|&&at| at == self.steps).count();
            if let Some(last) = self.last
                && falls > 0
            {
                self.lowest -= 1;
                self.priorities[place(last)] = self.lowest;
            }
            self.steps += 1;
            self.most_steps = self.most_steps.max(self.steps);
        }
        let chosen = options.all().max_by_key(|&choice| self.priority(choice));
        self.last = chosen;
        Ok(chosen.expect("there is at least one option"))
    }

    fn data(&mut self, _kernel: &Kernel, options: u32) -> Decision<u32> {
        Ok(self.rng.below(u64::from(options)) as u32)
    }
}
