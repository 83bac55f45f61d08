//! The stack of decisions of a depth-first search, with the sequences that are still to be tried at
//! each.

use super::event::{Act, Label, Step, weak_initial};
use super::tree::Tree;
use super::weak::{Weakness, forgets};

/// A decision that was taken.
#[derive(Debug)]
struct Frame {
    chosen: Act,
    /// Acts with which every trace from here on has been seen.
    sleep: Vec<Act>,
    /// The sequences that are left to try in place of the chosen act.
    tree: Tree,
}

/// A depth-first search.
#[derive(Default, Debug)]
pub(super) struct Search {
    frames: Vec<Frame>,
    /// The sequences that the next new frame has to try; its parent hands them down.
    handed_down: Tree,
}

impl Search {
    /// Returns the decision that is to be taken again, at a depth where one was taken before.
    pub(super) fn chosen(&self, depth: usize) -> Option<Act> {
        self.frames.get(depth).map(|frame| frame.chosen)
    }

    /// Takes a new decision: the one handed down, or else any option that does not sleep.
    /// `None` if all sleep, which would make the execution redundant.
    pub(super) fn decide(&mut self, mut options: impl Iterator<Item = Act>) -> Option<Act> {
        let sleep = self.sleep();
        let (chosen, tree) = match self.next_handed_down() {
            Some(first) => first,
            None => (options.find(|option| !sleep.contains(option))?, Tree::default()),
        };
        self.frames.push(Frame { chosen, sleep, tree });
        Some(chosen)
    }

    /// Takes a new decision among answers. If some were handed down, only those matter: the others
    /// were tried below the act that sleeps here, and every difference that they led to was handed
    /// down as well.
    pub(super) fn decide_answer(&mut self, mut answers: impl Iterator<Item = Act>) -> Option<Act> {
        let sleep = self.sleep();
        let (chosen, tree) = match self.next_handed_down() {
            Some(first) => first,
            None => {
                let first = answers.next()?;
                let mut tree = Tree::default();
                answers.for_each(|answer| tree.push(answer));
                (first, tree)
            }
        };
        self.frames.push(Frame { chosen, sleep, tree });
        Some(chosen)
    }

    /// Returns the acts that sleep after the last decision: the ones that it does not disturb.
    fn sleep(&self) -> Vec<Act> {
        let Some(parent) = self.frames.last() else { return Vec::new() };
        let undisturbed = |act: &&Act| !act.disturbs(&parent.chosen);
        parent.sleep.iter().filter(undisturbed).copied().collect()
    }

    fn next_handed_down(&mut self) -> Option<(Act, Tree)> {
        let mut tree = std::mem::take(&mut self.handed_down);
        let (chosen, below) = tree.take_first()?;
        self.handed_down = below;
        Some((chosen, tree))
    }

    /// Notes that everything comes after a decision: nothing sleeps any more.
    pub(super) fn wake_all(&mut self, depth: usize) {
        self.frames[depth].sleep.clear();
    }

    /// Sees to it that some execution begins as this one did before an event and goes on with a
    /// sequence, unless one has done so already.
    pub(super) fn insert(&mut self, at: usize, sequence: &mut Vec<Step>) {
        let frame = &mut self.frames[at];
        debug_assert!(matches!(frame.chosen.label, Label::Step(_)), "answers do not race");
        let is_covered = frame.sleep.iter().any(|act| weak_initial(act, sequence).is_some());
        if !is_covered || forgets(Weakness::Sleepers) {
            frame.tree.insert(sequence);
        }
    }

    /// Prepares the next execution: the deepest decision that has something left to try takes it.
    /// False if none has.
    pub(super) fn backtrack(&mut self) -> bool {
        while let Some(frame) = self.frames.last_mut() {
            frame.sleep.push(frame.chosen);
            if let Some((next, below)) = frame.tree.take_first() {
                frame.chosen = next;
                self.handed_down = below;
                return true;
            }
            self.frames.pop();
        }
        false
    }
}
