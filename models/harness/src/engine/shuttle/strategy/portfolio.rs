//! Several strategies in turn: no single one finds every bug.

use super::{Chooser, Decision, Kernel, Options, Strategy};
use crate::engine::{Choice, End};

pub(super) struct Portfolio {
    members: Vec<Box<dyn Chooser>>,
    /// The member whose turn it is.
    at: usize,
}

impl Portfolio {
    pub(super) fn new(members: Vec<Strategy>) -> Self {
        let members: Vec<_> = members.into_iter().map(Strategy::chooser).collect();
        Self { at: members.len().saturating_sub(1), members }
    }

    fn member(&mut self) -> &mut dyn Chooser {
        &mut *self.members[self.at]
    }
}

impl Chooser for Portfolio {
    fn begin(&mut self) -> bool {
        self.at += 1;
        while !self.members.is_empty() {
            self.at %= self.members.len();
            if self.member().begin() {
                return true;
            }
            drop(self.members.remove(self.at));
        }
        false
    }

    fn thread(&mut self, kernel: &Kernel, options: Options) -> Decision<Choice> {
        self.member().thread(kernel, options)
    }

    fn data(&mut self, kernel: &Kernel, options: u32) -> Decision<u32> {
        self.member().data(kernel, options)
    }

    fn jumped(&mut self, kernel: &Kernel) {
        self.member().jumped(kernel);
    }

    fn nobody_moves(&mut self, kernel: &Kernel) {
        self.member().nobody_moves(kernel);
    }

    fn released(&mut self, kernel: &Kernel, mutex: usize) {
        self.member().released(kernel, mutex);
    }

    fn started(&mut self, kernel: &Kernel, thread: usize) {
        self.member().started(kernel, thread);
    }

    fn joined(&mut self, kernel: &Kernel, thread: usize) {
        self.member().joined(kernel, thread);
    }

    fn stands_for(&self, kernel: &Kernel) -> Option<f64> {
        self.members[self.at].stands_for(kernel)
    }

    fn finish(&mut self, kernel: &Kernel, end: &End) {
        self.member().finish(kernel, end);
    }
}
