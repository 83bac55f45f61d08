//! Removal of the fields that a manager applied before and no longer wants.

use serde_json::Value;

use super::managers::Managers;
use super::set::FieldSet;
use super::typed::{fields, with_parents, without};
use super::types::Types;

/// Removes the fields that a manager had applied and that nobody owns now.
///
/// `all` has the new fields of the manager already, `last` are its fields before.
pub(crate) fn prune(types: &Types, merged: Value, all: &Managers, last: &FieldSet) -> Value {
    if last.is_empty() {
        return merged;
    }
    let root = types.root();
    let named = |set: &FieldSet| with_parents(types, root, set.steps());
    let had = named(last);
    // Whole parts are removed first. They come back as far as anybody owns something in them, or as
    // far as the manager has never owned them.
    let bare = without(types, root, &merged, had.steps());
    let everything = named(&fields(types, root, &merged));
    let mut owned = FieldSet::default();
    all.0.values().for_each(|it| owned.absorb(it.fields.clone()));
    let kept = named(&fields(types, root, &bare)).union(&named(&owned));
    let owned_only = without(types, root, &merged, everything.difference(&kept).steps());
    let left = named(&fields(types, root, &owned_only));
    without(types, root, &merged, everything.difference(&left).intersection(&had).steps())
}
