//! Wake-up trees: the sequences that are still to be executed from one point on.
//!
//! An ordered tree of acts. Every path from the root is a sequence that leads to traces which no
//! execution so far has shown. Branches are explored first to last.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::event::{Act, Initial, Label, Step, weak_initial};
use super::vector::Slot;
use super::weak::{Weakness, forgets};

/// The branches below one act, or at the root.
#[derive(Clone, Default, Debug)]
pub(super) struct Tree {
    branches: Vec<Branch>,
}

#[derive(Clone, Debug)]
struct Branch {
    act: Act,
    /// A part that is lent shares it until it changes.
    below: Arc<Tree>,
    /// Who explores it already, if somebody does.
    lent: Option<Lent>,
}

/// A loan of a branch. It ends when what is below the branch changes: the borrower explores something else.
#[derive(Clone, Default, Debug)]
pub(in super::super) struct Lent(Arc<AtomicBool>);

impl Lent {
    /// Ends the loan.
    pub(in super::super) fn end(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(in super::super) fn has_ended(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(in super::super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A branch that was taken off a tree: its act, what is below, and who explores it already.
pub(super) type Taken = (Act, Tree, Option<Lent>);

/// In a loop: a tree can be as deep as an execution is long, and a stack is small.
impl Drop for Tree {
    fn drop(&mut self) {
        let mut left = std::mem::take(&mut self.branches);
        while let Some(branch) = left.pop() {
            if let Some(mut below) = Arc::into_inner(branch.below) {
                left.append(&mut below.branches);
            }
        }
    }
}

impl Tree {
    pub(super) fn is_empty(&self) -> bool {
        self.branches.is_empty()
    }

    /// Takes the first branch.
    pub(super) fn take_first(&mut self) -> Option<Taken> {
        if self.branches.is_empty() {
            return None;
        }
        let Branch { act, below, lent } = self.branches.remove(0);
        let below = Arc::unwrap_or_clone(below);
        Some((act, below, lent.filter(|lent| !lent.has_ended())))
    }

    /// Lends the first branch that nobody explores: the acts of those before it, and the branch with
    /// what comes after it.
    pub(super) fn lend(&mut self) -> Option<(Vec<Act>, Taken, Self)> {
        let is_free = |branch: &Branch| branch.lent.as_ref().is_none_or(Lent::has_ended);
        let place = self.branches.iter().position(is_free)?;
        let before = self.branches[..place].iter().map(|branch| branch.act).collect();
        let after = Self { branches: self.branches[place + 1..].to_vec() };
        let branch = &mut self.branches[place];
        branch.lent = Some(Lent::default());
        let below = Tree::clone(&branch.below);
        Some((before, (branch.act, below, branch.lent.clone()), after))
    }

    /// Adds a last branch of one act.
    pub(super) fn push(&mut self, act: Act) {
        self.branches.push(Branch { act, below: Arc::default(), lent: None });
    }

    /// Returns the first branch that can come first in a sequence, and takes its act out of that.
    fn enter(&self, sequence: &mut Vec<Step>) -> Option<usize> {
        let fitting = |branch: &Branch| weak_initial(&branch.act, sequence);
        let found = self.branches.iter().enumerate().find_map(|(i, b)| Some((i, fitting(b)?)));
        let (branch, initial) = found?;
        if let Initial::At(place) = initial {
            let taken = sequence.remove(place);
            if !forgets(Weakness::Answers) {
                answers_first(sequence, place, taken.act.slot);
            }
        }
        Some(branch)
    }

    /// Sees to it that an execution of some branch is equivalent to one of the sequence: follows
    /// the first branches that can come first in it, and adds what is left of it where there is
    /// none. A branch that ends is explored to the end of all executions below it, so it covers
    /// whatever is left.
    pub(super) fn insert(&mut self, sequence: &mut Vec<Step>) {
        let (mut at, mut lent) = (self, None);
        while !sequence.is_empty() {
            let Some(branch) = at.enter(sequence) else {
                lent.iter().filter(|_| !forgets(Weakness::EndOfLoan)).for_each(Lent::end);
                return at.append(sequence);
            };
            lent = lent.or_else(|| at.branches[branch].lent.clone());
            at = Arc::make_mut(&mut at.branches[branch].below);
            if at.is_empty() {
                return;
            }
        }
    }

    /// Tells whether to insert a sequence would change nothing.
    pub(super) fn covers(&self, sequence: &mut Vec<Step>) -> bool {
        let mut at = self;
        while !sequence.is_empty() {
            let Some(branch) = at.enter(sequence) else { return false };
            at = &at.branches[branch].below;
            if at.is_empty() {
                return true;
            }
        }
        true
    }

    fn append(&mut self, sequence: &[Step]) {
        let mut at = self;
        for step in sequence {
            at.push(step.act);
            at = Arc::make_mut(&mut at.branches.last_mut().expect("just added").below);
        }
    }
}

/// Moves the answers that follow a step that was just taken out of a sequence to its front. The
/// thread gets them during that step, before any other thread moves, and no other thread notices
/// them.
fn answers_first(sequence: &mut [Step], place: usize, slot: Slot) {
    let follows =
        |step: &&Step| step.act.slot == slot && matches!(step.act.label, Label::Answer(_));
    let answers = sequence[place..].iter().take_while(follows).count();
    sequence[..place + answers].rotate_right(answers);
}

#[cfg(test)]
mod tests {
    use super::super::super::kernel::{ClockUse, Footprint};
    use super::super::vector::VectorClock;
    use super::*;
    use crate::engine::quietly;

    fn locks(slot: Slot, object: u32) -> Act {
        let footprint = Footprint { object: Some(object), writes: true, clock: ClockUse::None };
        Act { slot, label: Label::Step(footprint) }
    }

    fn answers(slot: Slot, answer: u32) -> Act {
        Act { slot, label: Label::Answer(answer) }
    }

    /// Gives acts the clocks that they have when they follow each other.
    fn sequence(acts: &[Act]) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        for act in acts {
            let mut clock = VectorClock::default();
            for before in steps.iter().filter(|before| before.act.disturbs(act)) {
                clock.join(&before.clock);
            }
            let index = clock.advance(act.slot).unwrap();
            steps.push(Step { act: *act, index, clock });
        }
        steps
    }

    fn paths(tree: &Tree) -> Vec<Vec<Act>> {
        let mut all = Vec::new();
        for branch in &tree.branches {
            let below = paths(&branch.below);
            let below = if below.is_empty() { vec![vec![]] } else { below };
            all.extend(below.into_iter().map(|path| [vec![branch.act], path].concat()));
        }
        all
    }

    #[test]
    fn a_tree_may_be_as_deep_as_an_execution_is_long() {
        let step = Step { act: locks(1, 7), index: 1, clock: VectorClock::default() };
        let mut tree = Tree::default();
        tree.append(&vec![step; 100_000]);
        let (_, (_, below, _), after) = tree.lend().expect("it has a branch");
        assert!(after.is_empty() && !below.is_empty());
        let mut copy = tree.clone();
        copy.insert(&mut vec![Step { act: locks(2, 7), ..step }]);
        assert_eq!((tree.branches.len(), copy.branches.len()), (1, 2));
        let (_, below, lent) = tree.take_first().expect("it has a branch");
        assert!(!below.is_empty() && lent.is_some());
        drop((copy, below, tree));
    }

    #[test]
    fn an_act_can_come_first_unless_something_before_it_matters_to_it() {
        let steps = sequence(&[locks(1, 7), locks(2, 8), locks(3, 7)]);
        assert_eq!(weak_initial(&locks(1, 7), &steps), Some(Initial::At(0)));
        assert_eq!(weak_initial(&locks(2, 8), &steps), Some(Initial::At(1)));
        assert_eq!(weak_initial(&locks(3, 7), &steps), None, "thread 1 takes lock 7 before");
        assert_eq!(weak_initial(&locks(4, 9), &steps), Some(Initial::Absent));
        assert_eq!(weak_initial(&locks(4, 8), &steps), None, "thread 2 takes lock 8");
        assert_eq!(weak_initial(&locks(2, 9), &steps), None, "thread 2 does something else");
    }

    #[test]
    fn a_sequence_that_a_branch_covers_is_not_added() {
        let mut tree = Tree::default();
        tree.insert(&mut sequence(&[locks(1, 7), locks(2, 8)]));
        tree.insert(&mut sequence(&[locks(2, 8), locks(1, 7)]));
        tree.insert(&mut sequence(&[locks(1, 7), locks(2, 8), locks(3, 8)]));
        assert_eq!(paths(&tree), [[locks(1, 7), locks(2, 8)]]);
        tree.insert(&mut sequence(&[locks(1, 7), locks(3, 8)]));
        tree.insert(&mut sequence(&[locks(2, 7)]));
        let expected =
            [vec![locks(1, 7), locks(2, 8)], vec![locks(1, 7), locks(3, 8)], vec![locks(2, 7)]];
        assert_eq!(paths(&tree), expected);
    }

    #[test]
    fn a_tree_that_forgets_where_answers_belong_is_found_out() {
        let forgetful = std::thread::spawn(|| {
            Weakness::Answers.choose();
            quietly(|| std::panic::catch_unwind(answers_stay_with_the_step_that_they_are_given_in))
        });
        assert!(forgetful.join().expect("the panic is caught").is_err());
    }

    #[test]
    fn answers_stay_with_the_step_that_they_are_given_in() {
        let mut tree = Tree::default();
        tree.insert(&mut sequence(&[locks(1, 7), answers(1, 0), locks(2, 8)]));
        tree.insert(&mut sequence(&[
            locks(3, 9),
            locks(1, 7),
            answers(1, 1),
            answers(1, 2),
            locks(2, 9),
        ]));
        let first = vec![locks(1, 7), answers(1, 0), locks(2, 8)];
        let second = vec![locks(1, 7), answers(1, 1), answers(1, 2), locks(3, 9), locks(2, 9)];
        assert_eq!(paths(&tree), [first, second]);
    }
}
