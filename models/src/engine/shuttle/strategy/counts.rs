//! How many steps each thread still has, as far as an earlier execution tells.

use super::super::kernel::ThreadName;
use super::rng::Rng;
use super::{Kernel, Options};
use crate::engine::Choice;

/// Estimates of the steps that are left, for one execution after the other.
#[derive(Default)]
pub(super) struct Counts {
    /// Steps of each thread of the execution that is learned from, by name.
    own: Vec<u64>,
    /// Each thread of that execution, after its parent.
    family: Vec<(Option<ThreadName>, ThreadName)>,
    /// Steps of each thread and its descendants, by name; empty until something was learned.
    learned: Vec<u64>,
    /// Steps left to each thread of this execution and to those that it has not started yet.
    left: Vec<u64>,
}

impl Counts {
    /// Begins an execution.
    pub(super) fn begin(&mut self) {
        self.left.clear();
    }

    /// Looks for threads that were started since the last time.
    pub(super) fn meet(&mut self, kernel: &Kernel) {
        for thread in self.left.len()..kernel.thread_count() {
            let name = kernel.name(thread);
            let parent = kernel.parent(thread);
            let steps = self.learned.get(name).copied().unwrap_or(0).max(1);
            self.left.push(steps);
            if let Some(parent) = parent {
                self.left[parent] = self.left[parent].saturating_sub(steps).max(1);
            }
            if self.learned.is_empty() {
                self.family.push((parent.map(|parent| kernel.name(parent)), name));
            }
        }
    }

    fn weight(&self, choice: Choice) -> u64 {
        match choice {
            Choice::Thread(thread) => self.left[usize::from(thread)],
            _ => 1,
        }
    }

    /// Draws an option in proportion to the steps that are left.
    pub(super) fn draw(&self, options: Options, rng: &mut Rng) -> Choice {
        let total = options.all().map(|choice| self.weight(choice)).sum();
        let mut drawn = rng.below(total);
        for choice in options.all() {
            let weight = self.weight(choice);
            if drawn < weight {
                return choice;
            }
            drawn -= weight;
        }
        unreachable!("what is drawn is less than the sum of the weights")
    }

    /// Counts a step.
    pub(super) fn step(&mut self, kernel: &Kernel, choice: Choice) {
        let Choice::Thread(thread) = choice else { return };
        let thread = usize::from(thread);
        self.left[thread] = self.left[thread].saturating_sub(1).max(1);
        if self.learned.is_empty() {
            let name = kernel.name(thread);
            if self.own.len() <= name {
                self.own.resize(name + 1, 0);
            }
            self.own[name] += 1;
        }
    }

    /// Takes the steps of this execution as the estimate for all that follow.
    pub(super) fn learn(&mut self) {
        let names = self.family.iter().map(|(_, name)| name + 1).max().unwrap_or(0);
        self.learned = std::mem::take(&mut self.own);
        self.learned.resize(names, 0);
        // Children come after their parents, so that grandchildren are added to children first.
        for (parent, name) in self.family.drain(..).rev() {
            if let Some(parent) = parent {
                self.learned[parent] += self.learned[name];
            }
        }
    }
}
