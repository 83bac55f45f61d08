//! Explicit states: every state that machines and their callers can reach, each once.
//!
//! The other engines run threads; this one has none. A caller is a *program in data form*
//! ([`World::next`] says which call comes next), and a state is the machine, where each caller
//! stands, who sleeps, and what time it is. The search is breadth-first, so the first way to a bad
//! state is a shortest one.
//!
//! | part | what it does |
//! |---|---|
//! | [`Model`] | a system as states and steps |
//! | [`search`](search()) | visits every state: safety, deadlock, shortest counterexample |
//! | [`fair_cycle`] | liveness: finds a way to go on for ever, fairly, and never get there |
//! | [`Callers`] | the model of one machine and its callers |
//!
//! Two states are the same if nobody can tell them apart from now on: [`World`] says in which form
//! a machine is compared, so that numbers of slots and deliveries keep no equal states apart.
//! Callers are told apart by what they still have to do and by what they hold, not by their place,
//! if [`Callers::symmetric`] is set: then states that differ by a permutation of callers with equal
//! programs are one.

mod callers;
mod liveness;
mod search;
#[cfg(test)]
pub(crate) mod tests;

pub use callers::{Act, Callers, Jumps, State, World};
pub use liveness::{Graph, fair_cycle};
pub use search::{Counterexample, Limits, Space, search};

use std::hash::Hash;

/// A system as states and the steps between them.
pub trait Model {
    /// What a state is.
    type State: Clone;
    /// The form in which states are compared.
    type Key: Eq + Hash;
    /// What leads from one state to the next.
    type Action: Clone + std::fmt::Debug;

    /// Returns the state that everything begins with.
    fn initial(&self) -> Self::State;

    /// Appends every step that is possible: who takes it, what it is, where it leads. Actors are
    /// numbered from zero.
    fn steps(&self, state: &Self::State, into: &mut Vec<(usize, Self::Action, Self::State)>);

    /// Returns the form in which the state is compared.
    fn key(&self, state: &Self::State) -> Self::Key;

    /// Says what is wrong with a state, if something is.
    fn wrong(&self, state: &Self::State) -> Option<String>;

    /// Says what is wrong if nothing can happen any more; `None` if this is a proper end.
    fn wrong_at_end(&self, state: &Self::State) -> Option<String>;
}
