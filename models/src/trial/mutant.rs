//! Seeded bugs: a harness is worth what it convicts.

use super::component::{Component, MachineOf};

/// What becomes of a mutant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MutantKind {
    /// A mistake that somebody made or could make; it must be convicted.
    Seeded,
    /// A defect that is still in the reference, built faithfully; it must be convicted, beside our
    /// rule that holds.
    Exhibit,
    /// It differs in no observable way, for this reason; it must not be convicted.
    Equivalent(&'static str),
}

/// A broken variant of a component's machine.
pub struct Mutant<C: Component> {
    /// Its name: the mistake, in snake case.
    pub name: &'static str,
    /// Where the mistake comes from.
    pub origin: &'static str,
    /// The invariants that it breaks, by name.
    pub breaks: &'static [&'static str],
    /// What is expected of it.
    pub kind: MutantKind,
    /// Makes the broken machine.
    pub make: fn() -> MachineOf<C>,
}

impl<C: Component> Clone for Mutant<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Component> Copy for Mutant<C> {}

impl<C: Component> std::fmt::Debug for Mutant<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mutant").field("name", &self.name).finish_non_exhaustive()
    }
}
