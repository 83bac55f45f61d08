//! The steps that lead on from a state.

use std::fmt;

use super::Model;
use super::woken::Ways;

/// Steps, and states that are no longer needed: a copy of a state reuses the memory of one of
/// these. Most steps lead to a state that is known, so most copies are given back at once.
pub struct Steps<M: Model + ?Sized> {
    pub(super) taken: Vec<(usize, M::Action, Box<M::State>)>,
    pub(super) spare: Vec<Box<M::State>>,
    /// How many steps led on from other states.
    others: usize,
    /// Room for the search of steps.
    pub(super) ways: Ways,
}

impl<M: Model + ?Sized> Steps<M> {
    /// Makes an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self { taken: Vec::new(), spare: Vec::new(), others: 0, ways: Ways::default() }
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

    /// Appends a step: its actor, its action, and the state that it leads to. Actors are numbered
    /// from zero.
    pub fn push(&mut self, actor: usize, action: M::Action, to: Box<M::State>) {
        self.taken.push((actor, action, to));
    }

    /// Returns how many steps lead on from the state that is looked at.
    #[must_use]
    pub fn len(&self) -> usize {
        self.taken.len() - self.others
    }

    /// Tells whether no step leads on.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the steps: the actor, the action, and the state that each leads to.
    #[must_use]
    pub fn into_vec(self) -> Vec<(usize, M::Action, M::State)> {
        self.taken.into_iter().map(|(actor, action, to)| (actor, action, *to)).collect()
    }

    /// Begins with the steps of another state.
    pub(super) fn begin(&mut self) {
        self.others = self.taken.len();
    }

    /// Forgets the steps of the state that is looked at.
    pub(super) fn clear(&mut self) {
        self.spare.extend(self.taken.drain(self.others..).map(|(_, _, state)| state));
    }
}

impl<M: Model + ?Sized> Default for Steps<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Model + ?Sized> fmt::Debug for Steps<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = self.taken.iter().map(|(actor, action, _)| (actor, action));
        f.debug_list().entries(steps).finish()
    }
}
