//! Every schedule, one after the other: the plainest search there is.

use super::{Chooser, Decision, Kernel, Options, diverged};
use crate::engine::{Choice, End};

/// Depth-first search without any reduction, within a bound of preemptions if there is one.
pub(super) struct All {
    preemptions: Option<u32>,
    /// Executions that may still be run.
    left: u64,
    /// The decisions of the last execution: which option was taken, and how many there were.
    taken: Vec<(u32, u32)>,
    depth: usize,
    last: Option<Choice>,
    begun: bool,
    complete: bool,
    exhausted: bool,
}

impl All {
    pub(super) fn new(preemptions: Option<u32>, executions: u64) -> Self {
        Self {
            preemptions,
            left: executions,
            taken: Vec::new(),
            depth: 0,
            last: None,
            begun: false,
            complete: true,
            exhausted: false,
        }
    }

    /// Goes back to the deepest decision with an option left, and takes that; false if none has.
    fn backtrack(&mut self) -> bool {
        while let Some((taken, options)) = self.taken.last_mut() {
            *taken += 1;
            if taken < options {
                return true;
            }
            self.taken.pop();
        }
        false
    }

    fn take(&mut self, options: u32) -> Decision<u32> {
        if self.depth == self.taken.len() {
            self.taken.push((0, options));
        }
        let (taken, expected) = self.taken[self.depth];
        self.depth += 1;
        if expected == options { Ok(taken) } else { Err(diverged()) }
    }

    /// Tells whether the last thread could go on and no other may be preferred.
    fn must_stay(&self, kernel: &Kernel, options: Options) -> Option<Choice> {
        let spent = self.preemptions.is_some_and(|most| kernel.preemptions() >= most);
        self.last.filter(|&last| spent && options.allow(last))
    }
}

impl Chooser for All {
    fn begin(&mut self) -> bool {
        if self.begun && !self.exhausted {
            self.exhausted = !self.backtrack();
        }
        if self.exhausted || self.left == 0 {
            return false;
        }
        self.begun = true;
        self.left -= 1;
        self.depth = 0;
        self.last = None;
        true
    }

    fn thread(&mut self, kernel: &Kernel, options: Options) -> Decision<Choice> {
        let chosen = match self.must_stay(kernel, options) {
            Some(last) if options.clock => {
                // A jump of the clock does not count as a preemption.
                if self.take(2)? == 0 { last } else { Choice::Clock }
            }
            Some(last) => last,
            None => options.nth(self.take(options.len() as u32)? as usize),
        };
        if chosen != Choice::Clock {
            self.last = Some(chosen);
        }
        Ok(chosen)
    }

    fn data(&mut self, _kernel: &Kernel, options: u32) -> Decision<u32> {
        self.take(options)
    }

    fn finish(&mut self, _kernel: &Kernel, end: &End) {
        match end {
            End::Diverged(_) | End::Refused(_) => {
                self.left = 0;
                self.complete = false;
            }
            End::Endless(_) => self.complete = false,
            End::Finished | End::Deadlock(_) | End::Panicked(_) => {}
        }
    }

    fn exhausted(&self) -> bool {
        self.exhausted && self.complete
    }
}
