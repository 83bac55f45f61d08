//! How a write moves fields between managers.

use std::sync::LazyLock;

use super::managers::{Identity, Managers, Owned};
use super::set::{self, FieldSet, Steps};
use super::types::{Id, Kind, Types};
use super::versions::Changes;

/// Fields that another manager owns and that an apply would change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) with: Identity,
    pub(crate) fields: FieldSet,
}

/// The fields of other managers that a write changes.
pub(crate) fn conflicts(managers: &Managers, of: &Identity, changes: &Changes) -> Vec<Conflict> {
    let others = managers.0.iter().filter(|(identity, _)| *identity != of);
    others
        .map(|(identity, owned)| Conflict {
            with: identity.clone(),
            fields: changes.of(&owned.api_version).map_or_else(FieldSet::default, |change| {
                owned
                    .fields
                    .intersection(&change.modified)
                    .union(&owned.fields.intersection(&change.added))
            }),
        })
        .filter(|conflict| !conflict.fields.is_empty())
        .collect()
}

/// Takes from others what a write changes or removes.
pub(crate) fn take(managers: &mut Managers, of: Option<&Identity>, changes: &Changes) {
    for (_, owned) in managers.0.iter_mut().filter(|it| Some(it.0) != of) {
        match changes.of(&owned.api_version) {
            Some(change) => [&change.modified, &change.added, &change.removed]
                .iter()
                .filter(|taken| !taken.is_empty())
                .for_each(|taken| owned.fields.subtract(taken)),
            // A version that nobody serves any more is forgotten.
            None => owned.fields = FieldSet::default(),
        }
    }
    managers.0.retain(|identity, owned| Some(identity) == of || !owned.fields.is_empty());
}

/// The fields that nobody owns.
static NOBODYS: LazyLock<FieldSet> = LazyLock::new(|| {
    FieldSet::of(&[
        &["apiVersion"],
        &["kind"],
        &["metadata"],
        &["metadata", "name"],
        &["metadata", "namespace"],
        &["metadata", "creationTimestamp"],
        &["metadata", "selfLink"],
        &["metadata", "uid"],
        &["metadata", "clusterName"],
        &["metadata", "generation"],
        &["metadata", "managedFields"],
        &["metadata", "resourceVersion"],
    ])
});

/// The fields of a set that can have an owner.
pub(crate) fn ownable(mut fields: FieldSet) -> FieldSet {
    fields.subtract(&NOBODYS);
    fields
}

/// Sets the fields that a manager owns, apart from those that nobody owns. A manager without fields
/// is forgotten.
pub(crate) fn give(managers: &mut Managers, to: Identity, mut owned: Owned) {
    owned.fields = ownable(owned.fields);
    if owned.fields.is_empty() {
        managers.remove(&to);
    } else {
        managers.put(to, owned);
    }
}

/// Adapts sets to types that changed since: an owner of fields of what is now one value owns it. If other
/// versions have other fields, only the sets of one are adapted.
pub(crate) fn adapt(types: &Types, managers: &mut Managers, only: Option<&str>) {
    for owned in managers.0.values_mut().filter(|it| only.is_none_or(|of| it.api_version == of)) {
        // The types rarely change, so most sets are looked at and left as they are.
        if !fits(types, types.root(), owned.fields.steps()) {
            owned.fields = adapted(types, types.root(), owned.fields.steps());
        }
    }
}

/// Tells whether nothing in a set is below what is one value.
fn fits(types: &Types, id: Id, steps: &Steps) -> bool {
    set::below_each(steps).filter(|(_, below)| set::goes_on(below)).all(|(step, below)| {
        let kind = below_step(types, id, step);
        !is_atomic(types.kind(kind)) && fits(types, kind, below)
    })
}

fn below_step(types: &Types, id: Id, step: &str) -> Id {
    match (types.kind(id), step.strip_prefix("f:")) {
        (Kind::Map { .. }, Some(name)) => types.member(id, name),
        (Kind::List { items, .. }, None) => *items,
        _ => super::built_in::ANY,
    }
}

fn adapted(types: &Types, id: Id, steps: &Steps) -> FieldSet {
    FieldSet::from_parts(set::below_each(steps).map(|(step, below)| {
        let kind = below_step(types, id, step);
        let is_one = set::goes_on(below) && is_atomic(types.kind(kind));
        let inside = if is_one { FieldSet::default() } else { adapted(types, kind, below) };
        (step.clone(), is_one || set::is_member(below), inside)
    }))
}

fn is_atomic(kind: &Kind) -> bool {
    use super::types::ListKind;
    matches!(kind, Kind::Map { atomic: true, .. } | Kind::List { how: ListKind::Atomic, .. })
}
