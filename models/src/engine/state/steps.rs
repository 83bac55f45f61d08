//! The steps that lead on from a state.

use super::Model;
use super::woken::Ways;

/// Steps, and states that nobody needs any more: a copy of a state is made in the memory of one of
/// those. Most steps lead to a state that is known, so most copies are given back at once.
pub struct Steps<M: Model + ?Sized> {
    taken: Vec<(usize, M::Action, Box<M::State>)>,
    spare: Vec<Box<M::State>>,
    /// Room for whoever finds the steps.
    pub(super) ways: Ways,
}

impl<M: Model + ?Sized> Steps<M> {
    /// Makes an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self { taken: Vec::new(), spare: Vec::new(), ways: Ways::default() }
    }

    /// Copies a state.
    #[must_use]
    pub fn copy(&mut self, state: &M::State) -> Box<M::State> {
        match self.spare.pop() {
            None => Box::new(state.clone()),
            Some(mut copy) => {
                (*copy).clone_from(state);
                copy
            }
        }
    }

    /// Appends a step: who takes it, what it is, where it leads. Actors are numbered from zero.
    pub fn push(&mut self, actor: usize, action: M::Action, to: Box<M::State>) {
        self.taken.push((actor, action, to));
    }

    /// Tells whether there is no step.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// Visits the steps.
    pub fn iter(&self) -> impl Iterator<Item = &(usize, M::Action, Box<M::State>)> {
        self.taken.iter()
    }

    /// Returns the steps: who takes each, what it is, where it leads.
    #[must_use]
    pub fn into_vec(self) -> Vec<(usize, M::Action, M::State)> {
        self.taken.into_iter().map(|(actor, action, to)| (actor, action, *to)).collect()
    }

    /// Takes a state back that is not needed any more.
    pub(super) fn give_back(&mut self, state: Box<M::State>) {
        self.spare.push(state);
    }

    /// Forgets all steps.
    pub(super) fn clear(&mut self) {
        self.spare.extend(self.taken.drain(..).map(|(_, _, state)| state));
    }

    /// Hands every step to `keep`, which returns a state that is not needed any more.
    pub(super) fn settle(&mut self, mut keep: impl FnMut(usize, M::Action, Box<M::State>) -> Option<Box<M::State>>) {
        let Self { taken, spare, .. } = self;
        spare.extend(taken.drain(..).filter_map(|(actor, action, to)| keep(actor, action, to)));
    }
}

impl<M: Model + ?Sized> Default for Steps<M> {
    fn default() -> Self {
        Self::new()
    }
}
