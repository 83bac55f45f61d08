//! How many steps each thread still has, as far as an earlier execution tells.

use super::super::kernel::ThreadName;
use super::Kernel;

/// How the threads of an execution descend from each other.
#[derive(Default)]
pub(super) struct Family {
    /// Each thread, after its parent.
    members: Vec<(Option<ThreadName>, ThreadName)>,
}

impl Family {
    /// Looks for threads that were started since the last time.
    pub(super) fn meet(&mut self, kernel: &Kernel) {
        for thread in self.members.len()..kernel.thread_count() {
            let parent = kernel.parent(thread).map(|parent| kernel.name(parent));
            self.members.push((parent, kernel.name(thread)));
        }
    }

    /// Adds to the steps of each thread those of its descendants.
    pub(super) fn totals(&self, own: impl Fn(ThreadName) -> u64) -> Vec<u64> {
        let names = self.members.iter().map(|(_, name)| name + 1).max().unwrap_or(0);
        let mut totals = vec![0; names];
        // Children come after their parents, so that grandchildren are added to children first.
        for &(parent, name) in self.members.iter().rev() {
            totals[name] += own(name);
            if let Some(parent) = parent {
                totals[parent] += totals[name];
            }
        }
        totals
    }
}

/// The steps that are left to each thread of an execution and to those it has not started yet.
#[derive(Default)]
pub(super) struct Left {
    steps: Vec<u64>,
}

impl Left {
    /// Begins an execution.
    pub(super) fn begin(&mut self) {
        self.steps.clear();
    }

    /// Looks for threads that were started since the last time: their steps are no longer their
    /// parents'. `totals` has the steps of each thread and its descendants, by name. Returns the
    /// first new thread.
    pub(super) fn meet(&mut self, kernel: &Kernel, totals: &[u64]) -> usize {
        let first = self.steps.len();
        for thread in first..kernel.thread_count() {
            let steps = totals.get(kernel.name(thread)).copied().unwrap_or(0);
            self.steps.push(steps);
            if let Some(parent) = kernel.parent(thread) {
                self.steps[parent] = self.steps[parent].saturating_sub(steps);
            }
        }
        first
    }

    /// Counts a step of a thread.
    pub(super) fn step(&mut self, thread: usize) {
        self.steps[thread] = self.steps[thread].saturating_sub(1);
    }

    /// Returns the steps that are left to a thread.
    pub(super) fn of(&self, thread: usize) -> u64 {
        self.steps[thread]
    }
}
