//! Laws that hold of every object and patch.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::made_up::{document, merge_patch, operations, spec, strategic_patch, value};
use super::{LATER, by, object, update, widget};
use crate::patch::difference::Difference;
use crate::patch::managers::Managers;
use crate::patch::set::FieldSet;
use crate::patch::typed::{fields, with_parents};
use crate::patch::{Apply, Types, apply, json as patch, merge, strategic, track, unchanged};

/// The operations that make one document another.
fn operations_between(from: &Value, to: &Value, path: &str, all: &mut Vec<Value>) {
    let (Some(old), Some(new)) = (from.as_object(), to.as_object()) else {
        if from != to {
            all.push(json!({ "op": "replace", "path": path, "value": to }));
        }
        return;
    };
    let below = |name: &str| format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        all.push(json!({ "op": "remove", "path": below(name) }));
    }
    for (name, value) in new {
        match old.get(name) {
            Some(before) => operations_between(before, value, &below(name), all),
            None => all.push(json!({ "op": "add", "path": below(name), "value": value })),
        }
    }
}

fn owned_by_all(object: &Value) -> FieldSet {
    let all = Managers::of(object).unwrap();
    all.0.iter().fold(FieldSet::default(), |sum, (_, owned)| sum.union(&owned.fields))
}

/// A path is of a container if it leads to an object or a list that is not owned as a whole.
fn leaves(object: &Value) -> FieldSet {
    let kind = widget();
    let mut object = object.clone();
    crate::patch::managers::remove(&mut object);
    let all = fields(&kind, kind.root(), &object);
    let parents = containers(&all);
    all.difference(&parents)
}

/// The value at a path of member names.
fn at<'a>(object: &'a Value, path: &[&str]) -> Option<&'a Value> {
    let pointer = path.iter().map(|step| step.trim_start_matches("f:"));
    let pointer = pointer.map(|name| name.replace('~', "~0").replace('/', "~1"));
    object.pointer(&pointer.fold(String::new(), |sum, name| format!("{sum}/{name}")))
}

fn containers(set: &FieldSet) -> FieldSet {
    let paths = set.paths(usize::MAX);
    let mut found = FieldSet::default();
    for path in &paths {
        for length in 1..path.len() {
            let parent = path[..length].iter().map(|step| (*step).to_owned()).collect::<Vec<_>>();
            found.insert(&parent);
        }
    }
    found
}

fn written(old: Option<&Value>, spec: &Value, manager: &str) -> Value {
    let mut new = old.map_or_else(|| object(spec), Value::clone);
    new["spec"] = spec.clone();
    track(old, &mut new, &update(manager), &widget());
    new["metadata"]["uid"] = json!("u");
    new
}

fn with_force(manager: &str) -> Apply<'_> {
    Apply { force: true, ..by(manager) }
}

fn forced(live: Option<&Value>, spec: &Value, manager: &str) -> Value {
    apply(live, &object(spec), &with_force(manager), &widget()).unwrap()
}

proptest! {
    #[test]
    fn operations_between_two_documents_lead_from_one_to_the_other(a in document(), b in document()) {
        let mut all = Vec::new();
        operations_between(&a, &b, "", &mut all);
        prop_assert_eq!(patch(&a, json!(all).to_string().as_bytes()).unwrap(), b);
    }

    #[test]
    fn a_merge_patch_twice_is_a_merge_patch_once(object in document(), wanted in merge_patch()) {
        let wanted = wanted.to_string();
        let once = merge(&object, wanted.as_bytes()).unwrap();
        prop_assert_eq!(&merge(&once, wanted.as_bytes()).unwrap(), &once);
    }

    #[test]
    fn a_merge_patch_leaves_what_it_does_not_name(object in document(), wanted in merge_patch()) {
        let merged = merge(&object, wanted.to_string().as_bytes()).unwrap();
        for (name, value) in object.as_object().unwrap() {
            if wanted.get(name).is_none() {
                prop_assert_eq!(&merged[name], value);
            }
        }
    }

    #[test]
    fn the_same_apply_again_is_the_same_object(
        first in spec(), second in spec(), wanted in spec()
    ) {
        let live = forced(Some(&written(None, &first, "writer")), &second, "m1");
        let once = forced(Some(&live), &wanted, "m2");
        let later = Apply { time: LATER, ..with_force("m2") };
        let again = apply(Some(&once), &object(&wanted), &later, &widget()).unwrap();
        prop_assert_eq!(&again, &once);
        prop_assert!(unchanged(&once, &again));
    }

    #[test]
    fn what_is_applied_is_there_and_owned(first in spec(), wanted in spec()) {
        let new = forced(Some(&written(None, &first, "writer")), &wanted, "m1");
        let kind = widget();
        let asked = fields(&kind, kind.root(), &json!({ "spec": wanted }));
        prop_assert!(asked.difference(&owned_by_all(&new)).is_empty());
        let change = Difference::between(&kind, &json!({ "spec": wanted }), &json!({ "spec": new["spec"] }));
        prop_assert!(change.modified.is_empty(), "{:?}", change.modified);
        // An empty list does not count as a value next to items of others.
        let lost = leaves(&json!({ "spec": wanted })).intersection(&change.removed);
        prop_assert!(lost.is_empty(), "{:?} are not there", lost);
    }

    #[test]
    fn applying_nothing_removes_what_only_its_manager_owns(first in spec(), second in spec()) {
        let kind = widget();
        let one = forced(None, &first, "m1");
        let two = forced(Some(&one), &second, "m2");
        let nothing = json!({ "apiVersion": "sim/v1", "kind": "Widget", "metadata": { "name": "w" } });
        let three = apply(Some(&two), &nothing, &by("m2"), &kind).unwrap();
        let left = Managers::of(&three).unwrap();
        prop_assert!(left.0.iter().all(|(identity, _)| identity.manager != "m2"));
        let owned = owned_by_all(&three);
        let mut bare = three.clone();
        crate::patch::managers::remove(&mut bare);
        let present = fields(&kind, kind.root(), &bare);
        let present = with_parents(&kind, kind.root(), present.steps());
        // A parent of nothing but an empty list has no field, and is there all the same.
        let lost = owned.difference(&present).paths(usize::MAX).iter().any(|path| at(&bare, path).is_none());
        prop_assert!(!lost, "m1 lost {:?} of {}", owned.difference(&present), bare);
        let names = FieldSet::of(&[&["apiVersion"], &["kind"], &["metadata", "name"]]);
        let rest = leaves(&three).difference(&owned).difference(&names);
        let empty = |path: &Vec<&str>| {
            at(&bare, path).is_some_and(|value| *value == json!({}) || *value == json!([]))
        };
        prop_assert!(rest.paths(usize::MAX).iter().all(empty), "{:?} of {} stay", rest.paths(usize::MAX), bare);
    }

    #[test]
    fn a_field_keeps_its_owners_until_it_is_written(
        first in spec(), applied in spec(), next in spec()
    ) {
        let kind = widget();
        let old = forced(Some(&written(None, &first, "one")), &applied, "m1");
        let new = written(Some(&old), &next, "two");
        let change = Difference::between(&kind, &json!({ "spec": old["spec"] }), &json!({ "spec": next }));
        let before = Managers::of(&old).unwrap();
        let after = Managers::of(&new).unwrap();
        for (identity, owned) in &before.0 {
            let kept = owned.fields.difference(&change.changed()).difference(&change.removed);
            let now = after.get(identity).map(|owned| owned.fields.clone()).unwrap_or_default();
            prop_assert!(kept.difference(&now).is_empty(), "{:?} lost {:?}", identity, kept.difference(&now));
        }
        prop_assert!(change.changed().difference(&owned_by_all(&new)).is_empty());
        prop_assert!(change.removed.intersection(&owned_by_all(&new)).is_empty());
    }

    #[test]
    fn a_difference_is_none_of_the_same_and_tells_all_of_others(a in spec(), b in spec()) {
        let kind = widget();
        let (a, b) = (object(&a), object(&b));
        prop_assert_eq!(Difference::between(&kind, &a, &a), Difference::default());
        let there = Difference::between(&kind, &a, &b);
        let back = Difference::between(&kind, &b, &a);
        prop_assert_eq!(&there.added, &back.removed);
        prop_assert_eq!(&there.modified, &back.modified);
    }

    #[test]
    fn the_wire_form_of_a_set_keeps_it(a in spec(), b in document()) {
        let kind = widget();
        let set = fields(&kind, kind.root(), &object(&json!({ "extra": b, "a": a })));
        prop_assert_eq!(FieldSet::from_wire(&set.clone().into_wire()).unwrap(), set);
    }

    #[test]
    fn sets_are_sets(a in spec(), b in spec()) {
        let kind = widget();
        let of = |spec: &Value| fields(&kind, kind.root(), &object(spec));
        let (a, b) = (of(&a), of(&b));
        let both = a.union(&b);
        prop_assert_eq!(&both, &b.union(&a));
        prop_assert_eq!(&a.difference(&b).union(&a.intersection(&b)), &a);
        prop_assert!(a.difference(&both).is_empty() && a.clone().outside(&both).is_empty());
        prop_assert_eq!(a.count() + b.count(), both.count() + a.intersection(&b).count());
    }

    #[test]
    fn no_operations_are_too_strange(object in document(), wanted in operations()) {
        let result = patch(&object, wanted.to_string().as_bytes());
        prop_assert!(result.is_ok_and(|new| new.is_object() || new.is_array())
            || patch(&object, wanted.to_string().as_bytes()).unwrap_err().status == 422);
    }

    #[test]
    fn no_strategic_patch_is_too_strange(first in strategic_patch(), second in strategic_patch()) {
        let kind = Types::built_in("", "v1", "Pod").unwrap();
        let result = strategic(&first, second.to_string().as_bytes(), &kind);
        prop_assert!(result.map_or_else(|error| [400, 422, 500].contains(&error.status), |new| new.is_object()));
    }

    #[test]
    fn no_bytes_are_too_strange(object in document(), bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let kind = Types::built_in("apps", "v1", "Deployment").unwrap();
        for result in [patch(&object, &bytes), merge(&object, &bytes), strategic(&object, &bytes, &kind)] {
            prop_assert!(result.is_ok() || (400..500).contains(&result.unwrap_err().status));
        }
    }

    #[test]
    fn no_object_is_too_strange_to_be_applied_or_tracked(
        live in prop_oneof![document(), value()], wanted in value(), managed in value()
    ) {
        let kind = widget();
        let mut strange = object(&wanted);
        strange["metadata"]["extra"] = managed.clone();
        let whole = Apply { api_version: "", ..with_force("m") };
        for (old, new) in [(&live, &wanted), (&live, &strange), (&strange, &live)] {
            let outcome = apply(Some(old), new, &whole, &kind);
            prop_assert!(outcome.is_ok() || outcome.is_err_and(|error| [400, 500].contains(&error.status)));
            let mut tracked = new.clone();
            if let Some(members) = tracked.as_object_mut() {
                members.insert("metadata".to_owned(), json!({ "managedFields": managed }));
            }
            track(Some(old), &mut tracked, &update("m"), &kind);
        }
    }
}
