//! What a write changes as other versions of its kind show it: managers own fields by the names that these
//! have in their version.

use std::collections::BTreeMap;

use serde_json::Value;

use super::PatchError;
use super::difference::Difference;
use super::managers::Managers;
use super::set::FieldSet;
use super::typed::{fields, with_parents, without};
use super::types::Types;

/// Shows an object in another version of its kind.
pub(crate) trait Versions {
    /// The object in a version, and how that is owned; none if nobody serves the version.
    ///
    /// # Errors
    ///
    /// The object cannot be shown in it.
    fn show(
        &mut self,
        object: &Value,
        api_version: &str,
    ) -> Result<Option<(Value, Types)>, PatchError>;
}

/// Somebody who shows objects in other versions; without, all versions have the same fields.
pub(crate) type Others<'a, 'b> = Option<&'a mut (dyn Versions + 'b)>;

/// A change as each version shows it.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) own: Difference,
    /// None for a version that nobody serves.
    others: BTreeMap<String, Option<Difference>>,
}

impl Changes {
    /// The change between two states for each version in which somebody owns fields.
    pub(crate) fn between(
        all: &Managers,
        (kind, api_version): (&Types, &str),
        (old, new): (&Value, &Value),
        reset: Option<&FieldSet>,
        versions: Others<'_, '_>,
    ) -> Result<Self, PatchError> {
        let own = Difference::between(kind, old, new).outside(reset);
        let mut changes = Self { own, others: BTreeMap::new() };
        let Some(versions) = versions else { return Ok(changes) };
        for owned in all.0.values() {
            let version = &owned.api_version;
            if version == api_version || changes.others.contains_key(version) {
                continue;
            }
            let states = (versions.show(old, version), versions.show(new, version));
            let change = match (states.0?, states.1?) {
                (Some((old, types)), Some((new, _))) => {
                    Some(Difference::between(&types, &old, &new).outside(reset))
                }
                _ => None,
            };
            changes.others.insert(version.clone(), change);
        }
        Ok(changes)
    }

    /// The change as a version shows it; none if nobody serves that.
    pub(crate) fn of(&self, api_version: &str) -> Option<&Difference> {
        self.others.get(api_version).map_or(Some(&self.own), Option::as_ref)
    }
}

/// Takes out of an object what nobody owns any more after one of its managers, who owned `last` in a version,
/// has left it out. Each version is asked about the fields that are owned in it.
pub(crate) fn prune(
    merged: Value,
    all: &Managers,
    (last, last_version, own_version): (&FieldSet, &str, &str),
    versions: &mut dyn Versions,
) -> Result<Value, PatchError> {
    if last.is_empty() {
        return Ok(merged);
    }
    let Some((merged, types)) = versions.show(&merged, last_version)? else { return Ok(merged) };
    let named = |types: &Types, set: &FieldSet| with_parents(types, types.root(), set.steps());
    let had = named(&types, last);
    let mut pruned = without(&types, types.root(), &merged, had.steps());
    let mut owned: BTreeMap<&str, FieldSet> = BTreeMap::new();
    for manager in all.0.values() {
        owned.entry(&manager.api_version).or_default().absorb(manager.fields.clone());
    }
    // First those of the same version, so that what is converted is as whole as can be.
    let mut order: Vec<_> = owned.keys().copied().collect();
    order.sort_by_key(|it| *it != last_version);
    for version in order {
        let Some((whole, types)) = versions.show(&merged, version)? else { continue };
        let Some((bare, _)) = versions.show(&pruned, version)? else { continue };
        let everything = named(&types, &fields(&types, types.root(), &whole));
        let kept = named(&types, &fields(&types, types.root(), &bare));
        let kept = kept.union(&named(&types, &owned[version]));
        let back = without(&types, types.root(), &whole, everything.difference(&kept).steps());
        let Some((back, _)) = versions.show(&back, last_version)? else { continue };
        pruned = back;
    }
    // Fields that the manager never had come back.
    let root = types.root();
    let everything = named(&types, &fields(&types, root, &merged));
    let left = named(&types, &fields(&types, root, &pruned));
    let gone = everything.difference(&left).intersection(&had);
    let pruned = without(&types, root, &merged, gone.steps());
    Ok(versions.show(&pruned, own_version)?.map_or(pruned, |(object, _)| object))
}
