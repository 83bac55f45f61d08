//! The bugs: one changed rule or one changed wake each.

mod rules;
mod wakes;

use super::DeltaFifo;
use crate::trial::Mutant;

/// Tells whether a mutant is the machine that ships with its wakes edited.
pub(super) fn is_of_waking(mutant: &Mutant<DeltaFifo>) -> bool {
    wakes::of_waking().iter().any(|edited| edited.name == mutant.name)
}

pub(super) fn all() -> Vec<Mutant<DeltaFifo>> {
    let mut all = rules::exhibits();
    all.extend(rules::reported());
    all.extend(rules::of_changes());
    all.extend(rules::of_lists());
    all.extend(rules::of_delivery());
    all.extend(wakes::all());
    all
}
