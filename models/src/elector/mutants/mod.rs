//! Electors with one mistake each: what the checks are worth.
//!
//! A mutant is a value: a name, an origin, and constructors. Some are wrappers that change what the
//! machine that ships is told, what it orders, or whom it wakes (`wrapped.rs`); mistakes inside the
//! rules are lines of the rules written down again (`rewritten.rs`).

mod mutated;
mod rewritten;
mod wrapped;

use seatrial_core::elector::{Config, Election};
use seatrial_core::machine::Boxed;

use super::Elector;
use crate::trial::{self, MachineOf, MutantKind};

/// Makes a broken elector of a set-up.
pub type Make = fn(Config) -> Boxed<Election>;

/// An elector with a mistake.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// Its name: the mistake, in snake case.
    pub name: &'static str,
    /// Where the mistake comes from.
    pub origin: &'static str,
    /// The rules that it breaks.
    pub rules: &'static [&'static str],
    /// The promises that it breaks in a cluster; none if other checks than the page's convict it.
    pub breaks: &'static [&'static str],
    /// What is expected of it.
    pub kind: MutantKind,
    /// Makes the broken elector.
    pub make: Make,
    /// Makes the same in the place of the page's machines.
    pub(super) part: fn() -> MachineOf<Elector>,
}

/// Lists every mutant.
#[must_use]
pub fn all() -> Vec<Mutant> {
    [wrapped::WRAPPED, rewritten::REWRITTEN].concat()
}

/// Lists the mutants that break promises in a cluster.
pub(super) fn of_the_page() -> Vec<trial::Mutant<Elector>> {
    let shown = |mutant: &Mutant| !mutant.breaks.is_empty();
    let of_the_page = |mutant: Mutant| trial::Mutant {
        name: mutant.name,
        origin: mutant.origin,
        breaks: mutant.breaks,
        kind: mutant.kind,
        make: mutant.part,
    };
    all().into_iter().filter(shown).map(of_the_page).collect()
}
