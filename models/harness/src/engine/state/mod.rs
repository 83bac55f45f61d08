//! Explicit states: every state that machines and their callers can reach, each once.
//!
//! The other engines run threads; this one has none. A caller is a *program in data form*
//! ([`Explored::next`] says which call comes next). A state consists of the machine, the position
//! of each caller, the sleeping callers, and the time. The search is breadth-first, so the first
//! way to a bad state is a shortest one.
//!
//! | part | what it does |
//! |---|---|
//! | [`Model`] | a system as states and steps |
//! | [`search`](search()) | visits every state: safety, deadlock, shortest counterexamples |
//! | [`fair_cycle`] | liveness: finds a way to go on for ever, fairly, and never get there |
//! | [`Explored`] | one machine and the programs of its callers |
//! | [`Callers`] | the model of one that is explored |
//!
//! Two states are the same if no caller can tell them apart from now on: [`Explored`] says in which
//! form a machine is compared, so that numbers of slots and deliveries keep no equal states apart.
//! If [`Rules::symmetric`] is set, callers are told apart by their remaining calls and by the
//! tokens they hold, not by their place: then states that differ by a permutation of callers with
//! equal programs are one.

mod bytes;
mod callers;
mod enumeration;
mod explored;
mod liveness;
mod numbered;
mod parts;
mod programs;
mod route;
mod search;
mod seats;
mod steps;
#[cfg(test)]
mod tests;
mod woken;

pub use bytes::Bytes;
pub use callers::{Act, At, Callers, Jumps, Rules, WakeUps};
pub use enumeration::agrees_with_the_enumeration;
pub use explored::{Explored, Moment};
pub use liveness::{Graph, fair_cycle};
pub use programs::{Place, Programs};
pub use route::Told;
pub use search::{Counterexample, Limits, Space, search, view, wrong_in};
pub use seats::State;
pub use steps::Steps;
pub use woken::Woken;

/// A system as states and the steps between them.
pub trait Model {
    /// A state.
    type State: Clone;
    /// A step from one state to the next.
    type Action: Clone + std::fmt::Debug;

    /// Returns the state that everything begins with.
    fn initial(&self) -> Self::State;

    /// Appends every step that is possible.
    fn steps(&self, state: &Self::State, into: &mut Steps<Self>);

    /// Appends the form in which the state is compared.
    fn view(&self, state: &Self::State, into: &mut Bytes);

    /// Says what is wrong with a state, if something is; `is_end` says that nothing can happen any
    /// more.
    fn wrong(&self, state: &Self::State, is_end: bool) -> Option<Wrong>;

    /// Tells whether a state is one that the model is meant to reach.
    fn reaches(&self, state: &Self::State) -> bool;

    /// Reads a little of a state to bring it into the cache before its steps are wanted. The result
    /// means nothing.
    fn touch(&self, state: &Self::State) -> usize {
        let _ = state;
        0
    }
}

/// An invariant that a state breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wrong {
    /// The invariant that it breaks.
    pub invariant: &'static str,
    /// The explanation.
    pub because: String,
}

impl Wrong {
    /// Says how a state breaks an invariant.
    pub fn new(invariant: &'static str, because: impl Into<String>) -> Self {
        Self { invariant, because: because.into() }
    }
}
