//! The bugs: one changed rule or one changed wake each.

mod rules;
mod wakes;

use super::DeltaFifo;
use crate::trial::Mutant;

pub(super) fn all() -> Vec<Mutant<DeltaFifo>> {
    let mut all = rules::exhibits();
    all.extend(rules::reported());
    all.extend(rules::of_changes());
    all.extend(rules::of_lists());
    all.extend(rules::of_delivery());
    all.extend(wakes::all());
    all
}
