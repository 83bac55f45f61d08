//! Two typed values as one: the applied value on top of the present one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::typed::{Shape, shape, steps};
use super::types::{Id, ListKind, Types};

/// The present value with the applied value on top. Nothing that is present is lost, apart from
/// values that are owned as a whole.
pub(crate) fn combine(
    types: &Types,
    id: Id,
    live: Option<&Value>,
    applied: Option<&Value>,
) -> Option<Value> {
    let form = applied.or(live)?;
    match shape(types, id, form) {
        Shape::Map => {
            let (left, right) =
                (live.and_then(Value::as_object), applied.and_then(Value::as_object));
            combine_members(types, id, left, right).unwrap_or_else(|| Some(form.clone()))
        }
        Shape::List { items, how } => {
            let (left, right) = (list(live), list(applied));
            if left.is_empty() && right.is_empty() {
                return Some(form.clone());
            }
            let all = Lists::of(types, items, how, left, right).combine();
            (!all.is_empty()).then_some(Value::Array(all))
        }
        Shape::Leaf => Some(form.clone()),
    }
}

/// The members of both; the outer option is none if neither has any.
fn combine_members(
    types: &Types,
    id: Id,
    live: Option<&Map<String, Value>>,
    applied: Option<&Map<String, Value>>,
) -> Option<Option<Value>> {
    let names = live.into_iter().chain(applied).flat_map(Map::keys).collect::<BTreeSet<_>>();
    if names.is_empty() {
        return None;
    }
    let mut all = Map::new();
    for name in names {
        let old = live.and_then(|members| members.get(name));
        let new = applied.and_then(|members| members.get(name));
        if let Some(member) = combine(types, types.member(id, name), old, new) {
            all.insert(name.clone(), member);
        }
    }
    Some((!all.is_empty()).then_some(Value::Object(all)))
}

fn list(side: Option<&Value>) -> &[Value] {
    side.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Two lists whose items have steps.
struct Lists<'a> {
    types: &'a Types,
    items: Id,
    live: Vec<(String, &'a Value)>,
    applied: Vec<(String, &'a Value)>,
    /// By step, the only present item with that step; none if there are several.
    only: BTreeMap<String, Option<&'a Value>>,
    wanted: BTreeSet<String>,
}

impl<'a> Lists<'a> {
    fn of(
        types: &'a Types,
        items: Id,
        how: &ListKind,
        live: &'a [Value],
        applied: &'a [Value],
    ) -> Self {
        let live = steps(types, items, how, live);
        let applied = steps(types, items, how, applied);
        let mut only = BTreeMap::new();
        for (step, item) in &live {
            only.entry(step.clone()).and_modify(|seen| *seen = None).or_insert(Some(*item));
        }
        let wanted = applied.iter().map(|(step, _)| step.clone()).collect();
        Self { types, items, live, applied, only, wanted }
    }

    fn both(&self, at: usize) -> Option<Value> {
        let (step, item) = &self.applied[at];
        let old = self.only.get(step).copied().flatten();
        combine(self.types, self.items, old, Some(item))
    }

    /// All items: the applied ones in their order, and the others at their places among the items
    /// that both lists have.
    fn combine(&self) -> Vec<Value> {
        let mut shared = self.applied.iter().map(|(step, _)| step);
        let mut next_shared = || shared.find(|step| self.only.contains_key(*step));
        let mut next = next_shared();
        let mut done = BTreeSet::new();
        let mut all = Vec::new();
        let (mut left, mut right) = (0, 0);
        while left < self.live.len() || right < self.applied.len() {
            if let Some((step, item)) = self.live.get(left) {
                let wanted = self.wanted.contains(step);
                let here = self.applied.get(right).is_some_and(|(applied, _)| applied == step);
                if !wanted {
                    all.extend(combine(self.types, self.items, Some(item), None));
                    left += 1;
                    continue;
                }
                let later = next.is_some_and(|next| next != step) && right < self.applied.len();
                if here || later || done.contains(step) || right == self.applied.len() {
                    left += 1;
                }
                if !here && later {
                    continue;
                }
            }
            if let Some((step, _)) = self.applied.get(right) {
                all.extend(self.both(right));
                done.insert(step);
                right += 1;
                if next == Some(step) {
                    next = next_shared();
                }
            }
        }
        all
    }
}
