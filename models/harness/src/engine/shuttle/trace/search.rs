//! The stack of decisions of a depth-first search, with the sequences that are still to be tried at
//! each.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::RangeInclusive;

use super::event::{Act, Label, Step, weak_initial};
use super::tree::{Lent, Tree};
use super::weak::{Weakness, forgets};

/// A decision that was taken.
#[derive(Clone, Debug)]
struct Frame {
    chosen: Act,
    /// Acts with which every trace from here on has been seen.
    sleep: Vec<Act>,
    /// The sequences that are left to try in place of the chosen act.
    tree: Tree,
    /// How many executions there were when the act was chosen.
    since: u64,
}

/// A depth-first search.
#[derive(Default, Debug)]
pub(super) struct Search {
    frames: Vec<Frame>,
    /// The sequences that the next new frame has to try; its parent hands them down.
    handed_down: Tree,
    /// How many of the first decisions are not this search's own: it is a part of another one.
    given: usize,
    /// What the larger search has to insert at its own decisions, in the order of the numbers.
    owed: HashMap<Insertion, usize>,
    /// How many steps these have.
    owes: usize,
    executions: u64,
    /// How many executions a branch has had at each depth, on the average of late.
    sizes: Vec<u64>,
}

/// A sequence, and the depth of the decision at which it is to be inserted.
pub(super) type Insertion = (usize, Vec<Step>);

/// What comes next in a search.
pub(super) enum Next {
    /// An execution.
    Execution,
    /// A part that somebody else explores.
    Part(Lent),
    /// Nothing.
    Nothing,
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
        self.frames.push(Frame { chosen, sleep, tree, since: self.executions });
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
        self.frames.push(Frame { chosen, sleep, tree, since: self.executions });
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
        let (chosen, below, _) = tree.take_first()?;
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
        if is_covered && !forgets(Weakness::Sleepers) {
            return;
        }
        if at >= self.given {
            return frame.tree.insert(sequence);
        }
        let whole = sequence.clone();
        if !frame.tree.covers(sequence) {
            let (number, steps) = (self.owed.len(), whole.len());
            if let Entry::Vacant(new) = self.owed.entry((at, whole)) {
                new.insert(number);
                self.owes += steps;
            }
        }
    }

    /// Prepares the next execution: the deepest decision that has something left to try takes it.
    pub(super) fn backtrack(&mut self) -> Next {
        self.executions += 1;
        while self.frames.len() > self.given
            && let Some(frame) = self.frames.last_mut()
        {
            frame.sleep.push(frame.chosen);
            let size = self.executions - std::mem::replace(&mut frame.since, self.executions);
            let depth = self.frames.len() - 1;
            self.sizes.resize(self.sizes.len().max(depth + 1), 0);
            self.sizes[depth] = (self.sizes[depth] + size).div_ceil(2);
            let frame = &mut self.frames[depth];
            if let Some((next, below, lent)) = frame.tree.take_first() {
                frame.chosen = next;
                self.handed_down = below;
                return lent.map_or(Next::Execution, Next::Part);
            }
            self.frames.pop();
        }
        Next::Nothing
    }

    /// Lends a part: all that begins with a branch which this search comes to later. What the part
    /// finds depends only on the decisions before, on what sleeps there and on what is below the
    /// branch, so it finds what this search would. It is the first that is expected to have such a
    /// number of executions.
    pub(super) fn lend(&mut self, executions: &RangeInclusive<u64>) -> Option<(Lent, Self)> {
        for at in self.given..self.frames.len() {
            let size = self.sizes.get(at).copied().unwrap_or(0);
            if !executions.contains(&size) {
                continue;
            }
            let Some((before, (chosen, below, lent), after)) = self.frames[at].tree.lend() else {
                continue;
            };
            let mut sleep = self.frames[at].sleep.clone();
            sleep.push(self.frames[at].chosen);
            sleep.extend(before.into_iter().filter(|_| !forgets(Weakness::SleepOfLoan)));
            let mut frames = self.frames[..at].to_vec();
            frames.push(Frame { chosen, sleep, tree: after, since: 0 });
            let part = Self { frames, handed_down: below, given: at + 1, ..Self::default() };
            return Some((lent.expect("just lent"), part));
        }
        None
    }

    /// Takes what a part found over, in place of exploring it.
    pub(super) fn absorb(&mut self, owed: Vec<Insertion>, executions: u64) {
        self.executions += executions - 1;
        self.handed_down = Tree::default();
        for (at, mut sequence) in owed.into_iter().filter(|_| !forgets(Weakness::Owed)) {
            self.insert(at, &mut sequence);
        }
    }

    /// Returns what the larger search has to insert.
    pub(super) fn owed(&mut self) -> Vec<Insertion> {
        let mut owed: Vec<_> = std::mem::take(&mut self.owed).into_iter().collect();
        owed.sort_unstable_by_key(|(_, number)| *number);
        owed.into_iter().map(|(insertion, _)| insertion).collect()
    }

    /// Returns how many steps the larger search has to insert.
    pub(super) fn owes(&self) -> usize {
        self.owes
    }
}
