//! Lists of a strategic merge patch: merged by value or by a key, in an order that suits both.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::PatchError;
use super::strategic::{DIRECTIVE, Merging, merge_members, unknown_directive};
use super::types::Id;
use crate::short::{MOST, short};

/// A merged list.
pub(crate) struct Merged {
    pub(crate) items: Vec<Value>,
    /// The order of the items that were there, as a second ordering has to see it: the places of
    /// deleted items are taken by new ones.
    pub(crate) before: Vec<Value>,
}

/// Merges the items of a patch into a list.
pub(crate) fn merge_items(
    types: &Merging<'_>,
    items: Id,
    key: Option<&str>,
    original: Vec<Value>,
    patch: Vec<Value>,
) -> Result<Merged, PatchError> {
    let Some(objects) = of_objects(&original, &patch)? else {
        return Ok(Merged { before: original.clone(), items: original });
    };
    if !objects {
        let mut all = original.clone();
        all.extend(patch.iter().cloned());
        let mut seen = std::collections::BTreeSet::new();
        all.retain(|item| seen.insert(item.to_string()));
        let items = order::enforce(all, &patch, &original, None)?;
        return Ok(Merged { items, before: original });
    }
    let key = key.ok_or_else(|| PatchError::internal("cannot merge lists without merge key"))?;
    let whole = original.clone();
    let (live, patch, replaced) = special(original, patch, key)?;
    let all = merge_objects(types, items, key, live.clone(), &patch)?;
    let before = if replaced { whole } else { all.iter().take(whole.len()).cloned().collect() };
    let items = order::enforce(all, &patch, &live, Some(key))?;
    Ok(Merged { items, before })
}

/// Merges objects into those with the same key, and adds the others.
fn merge_objects(
    types: &Merging<'_>,
    items: Id,
    key: &str,
    mut all: Vec<Value>,
    patch: &[Value],
) -> Result<Vec<Value>, PatchError> {
    let mut places = places(&all, key);
    for item in patch {
        let known = key_of(item, key)?;
        match (places.get(&known), item) {
            (Some(place), Value::Object(wanted)) => {
                let Value::Object(old) = std::mem::take(&mut all[*place]) else { continue };
                let merged = merge_members(types, items, old, wanted.clone())?;
                all[*place] = Value::Object(merged);
            }
            _ => {
                places.insert(known, all.len());
                all.push(item.clone());
            }
        }
    }
    Ok(all)
}

/// Whether the items are objects; none if there are none at all.
fn of_objects(original: &[Value], patch: &[Value]) -> Result<Option<bool>, PatchError> {
    let mut all = original.iter().chain(patch);
    let Some(first) = all.next() else { return Ok(None) };
    if first.is_array() || first.is_null() {
        return Err(PatchError::rejected());
    }
    let kind = std::mem::discriminant(first);
    if all.any(|item| std::mem::discriminant(item) != kind) {
        return Err(PatchError::internal("list element types are not identical"));
    }
    Ok(Some(first.is_object()))
}

/// Deletes what items of the patch say, and says what is left of both lists, and whether the old one
/// is replaced.
fn special(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    key: &str,
) -> Result<(Vec<Value>, Vec<Value>, bool), PatchError> {
    let mut plain = Vec::new();
    let mut deleted = std::collections::BTreeSet::new();
    let mut replace = false;
    for item in patch {
        match item.get(DIRECTIVE) {
            None => plain.push(item),
            Some(Value::String(word)) if word == "delete" => {
                deleted.insert(key_of(&item, key)?);
            }
            Some(Value::String(word)) if word == "replace" => replace = true,
            Some(Value::String(word)) if word == "merge" => {
                return Err(PatchError::internal(
                    "merging lists cannot yet be specified in the patch",
                ));
            }
            Some(other) => return Err(unknown_directive(other)),
        }
    }
    if replace {
        // The given items are the whole list, even if two of them have the same key.
        return Ok((plain, Vec::new(), true));
    }
    original.retain(|item| key_of(item, key).map_or(true, |known| !deleted.contains(&known)));
    Ok((original, plain, false))
}

/// The merge key of an item, as text.
fn key_of(item: &Value, key: &str) -> Result<String, PatchError> {
    // Its values may be secrets.
    let missing = || {
        let fields = item.as_object().into_iter().flat_map(Map::keys);
        let fields = fields.take(MOST).map(short).collect::<Vec<_>>().join(" ");
        let why = format!("map: [{fields}] does not contain declared merge key: {key}");
        PatchError::internal(why)
    };
    item.get(key).map(Value::to_string).ok_or_else(missing)
}

/// The index of the first item with each merge key.
fn places(items: &[Value], key: &str) -> BTreeMap<String, usize> {
    let mut places = BTreeMap::new();
    for (place, item) in items.iter().enumerate() {
        if let Some(known) = item.as_object().and_then(|item: &Map<_, _>| item.get(key)) {
            places.entry(known.to_string()).or_insert(place);
        }
    }
    places
}

/// The order of merged lists.
pub(crate) mod order {
    use super::{BTreeMap, DIRECTIVE, PatchError, Value, key_of};

    fn name(item: &Value, key: Option<&str>) -> Result<String, PatchError> {
        key.map_or_else(|| Ok(item.to_string()), |key| key_of(item, key))
    }

    fn ranks(items: &[Value], key: Option<&str>) -> Result<BTreeMap<String, usize>, PatchError> {
        let mut ranks = BTreeMap::new();
        for (rank, item) in items.iter().enumerate() {
            ranks.entry(name(item, key)?).or_insert(rank);
        }
        Ok(ranks)
    }

    /// Refuses a patch whose items are not in the order that it asks for.
    pub(crate) fn check(
        patch: &[Value],
        wanted: &[Value],
        key: Option<&str>,
    ) -> Result<(), PatchError> {
        if patch.is_empty() || wanted.is_empty() {
            return Ok(());
        }
        let directive = |item: &Value| item.get(DIRECTIVE).cloned();
        let mut items =
            patch.iter().filter(|item| directive(item).is_none_or(|word| word != "delete"));
        let mut next = items.next();
        for wanted in wanted {
            while next.is_some_and(|item| directive(item).is_some()) {
                next = items.next();
            }
            let Some(item) = next else { break };
            if name(item, key)? == name(wanted, key)? {
                next = items.next();
            }
        }
        if next.is_some() {
            return Err(PatchError::internal(
                "The order in patch list doesn't match $setElementOrder list",
            ));
        }
        Ok(())
    }

    /// Puts the items that the patch names in its order, and the others among them where they were.
    pub(crate) fn enforce(
        items: Vec<Value>,
        patch: &[Value],
        before: &[Value],
        key: Option<&str>,
    ) -> Result<Vec<Value>, PatchError> {
        let (wanted, live) = (ranks(patch, key)?, ranks(before, key)?);
        let (mut patched, mut others) = (Vec::new(), Vec::new());
        for item in items {
            let name = name(&item, key)?;
            let before = live.get(&name).copied();
            // A new item with a directive for old ones is not merged, and comes last.
            let last = key.is_some() && item.get(DIRECTIVE).is_some_and(|word| word == "delete");
            let (list, rank) = match wanted.get(&name) {
                Some(rank) => (&mut patched, Some(*rank)),
                None => (&mut others, before),
            };
            list.push((rank.filter(|_| !last).unwrap_or(usize::MAX), before, item));
        }
        patched.sort_by_key(|(rank, ..)| *rank);
        others.sort_by_key(|(rank, ..)| *rank);
        let mut all = Vec::with_capacity(patched.len() + others.len());
        let (mut patched, mut others) =
            (patched.into_iter().peekable(), others.into_iter().peekable());
        loop {
            let other_first = match (others.peek(), patched.peek()) {
                (None, None) => return Ok(all),
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (Some((_, other, _)), Some((_, own, _))) => {
                    matches!((other, own), (Some(other), Some(own)) if other < own)
                }
            };
            let next = if other_first { others.next() } else { patched.next() };
            all.extend(next.map(|(.., item)| item));
        }
    }
}
