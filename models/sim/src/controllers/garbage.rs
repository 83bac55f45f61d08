//! Garbage collection: objects that lost their owners are deleted, orphaned objects are left alone,
//! and owners that wait for their dependents wait.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::client::{Client, Found, Place, is_terminating, text};

const FOREGROUND: &str = "foregroundDeletion";
const ORPHAN: &str = "orphan";

/// Everything that there is.
struct All {
    places: Vec<Place>,
    /// By uid.
    objects: BTreeMap<String, (Place, Value)>,
}

pub(super) fn turn(client: &mut Client<'_>) {
    let mut all = All { places: client.places(), objects: BTreeMap::new() };
    for place in &all.places {
        // An owner must not be taken for gone because a list failed.
        let Some(items) = client.list(place, "") else { return };
        let items = items.into_iter();
        all.objects.extend(items.map(|it| (text(&it, "uid").to_owned(), (place.clone(), it))));
    }
    for (place, object) in all.objects.values() {
        if is_terminating(object) && has_finalizer(object, ORPHAN) {
            leave_dependents(client, &all, place, object);
        } else if is_terminating(object) && has_finalizer(object, FOREGROUND) {
            wait_for_dependents(client, &all, place, object);
        }
        if !is_terminating(object) {
            attend(client, &all, place, object);
        }
    }
}

fn has_finalizer(object: &Value, name: &str) -> bool {
    let list = object["metadata"]["finalizers"].as_array().into_iter().flatten();
    list.into_iter().any(|it| it == name)
}

fn owners(object: &Value) -> &[Value] {
    object["metadata"]["ownerReferences"].as_array().map_or(&[], Vec::as_slice)
}

/// The state of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// It is there, and holds its dependents.
    Holds,
    /// It is there, and waits for its dependents to go.
    Waits,
    Absent,
    /// Its state is unknown: its kind is not served, it cannot be in a namespace, or asking failed.
    Unknown,
}

/// The owner that a reference means: one in the same namespace, or in none. The lists are of
/// different times, so an owner that they do not show is asked for.
fn owner(client: &mut Client<'_>, all: &All, of: &Value, reference: &Value) -> Owner {
    let (version, kind) = (&reference["apiVersion"], &reference["kind"]);
    let mut served =
        all.places.iter().filter(|it| *version == it.version() && *kind == it.kind.as_str());
    let namespace = text(of, "namespace");
    let Some(place) = served.find(|it| !it.is_namespaced || !namespace.is_empty()) else {
        return Owner::Unknown;
    };
    let is_it = |owner: &Value| owner["metadata"]["uid"] == reference["uid"];
    let near = if place.is_namespaced { namespace } else { "" };
    let listed = all.objects.get(reference["uid"].as_str().unwrap_or("")).map(|(_, owner)| owner);
    let listed = listed.filter(|it| {
        it["kind"] == *kind
            && text(it, "name") == reference["name"]
            && text(it, "namespace") == near
    });
    let name = reference["name"].as_str().unwrap_or("");
    let found = match listed {
        Some(owner) => Found::Object(owner.clone()),
        // No object has such a name.
        None if name.is_empty() || name.contains(['/', '?', '%']) => Found::Absent,
        None => client.get(&format!("{}/{name}", place.path(near))),
    };
    match found {
        Found::Object(owner) if is_it(&owner) && waits(&owner) => Owner::Waits,
        Found::Object(owner) if is_it(&owner) => Owner::Holds,
        Found::Object(_) | Found::Absent => Owner::Absent,
        Found::Unknown => Owner::Unknown,
    }
}

fn waits(owner: &Value) -> bool {
    is_terminating(owner) && has_finalizer(owner, FOREGROUND)
}

/// Deletes an object that no owner holds any more. References to owners that are gone are dropped
/// while another holds it. Nothing is done while nothing is known of one of them.
fn attend(client: &mut Client<'_>, all: &All, place: &Place, object: &Value) {
    let references = owners(object);
    let states: Vec<_> = references.iter().map(|it| owner(client, all, object, it)).collect();
    if references.is_empty() || states.contains(&Owner::Unknown) {
        return;
    }
    let solid = references.iter().zip(&states).filter(|(_, state)| **state == Owner::Holds);
    let solid: Vec<_> = solid.map(|(reference, _)| reference).collect();
    if !solid.is_empty() {
        if solid.len() < references.len() {
            keep_owners(client, place, object, &solid);
        }
        return;
    }
    let is_awaited = states.contains(&Owner::Waits);
    let has_dependents = dependents(all, object).next().is_some();
    let policy = match (is_awaited && has_dependents, object["metadata"]["finalizers"].as_array()) {
        (true, _) => "Foreground",
        (false, Some(list)) if list.iter().any(|it| it == ORPHAN) => "Orphan",
        (false, Some(list)) if list.iter().any(|it| it == FOREGROUND) => "Foreground",
        _ => "Background",
    };
    client.delete(place, object, policy);
}

fn keep_owners(client: &mut Client<'_>, place: &Place, object: &Value, owners: &[&Value]) {
    let version = &object["metadata"]["resourceVersion"];
    let metadata = json!({"resourceVersion": version, "ownerReferences": owners});
    client.merge(&place.path_of(object), &json!({"metadata": metadata}));
}

fn dependents<'a>(
    all: &'a All,
    of: &'a Value,
) -> impl Iterator<Item = (&'a Place, &'a Value, &'a Value)> {
    all.objects.values().flat_map(move |(place, object)| {
        let references = owners(object).iter();
        let references = references.filter(|it| it["uid"] == of["metadata"]["uid"]);
        references.map(move |reference| (place, object, reference))
    })
}

/// Takes itself out of its dependents, and then lets go.
fn leave_dependents(client: &mut Client<'_>, all: &All, place: &Place, object: &Value) {
    let mut is_alone = true;
    for (place, dependent, reference) in dependents(all, object) {
        is_alone = false;
        let others: Vec<_> = owners(dependent).iter().filter(|it| *it != reference).collect();
        keep_owners(client, place, dependent, &others);
    }
    if is_alone {
        release(client, place, object, ORPHAN);
    }
}

/// Lets go once no dependent is left that blocks it. The others are deleted by their own turn.
fn wait_for_dependents(client: &mut Client<'_>, all: &All, place: &Place, object: &Value) {
    if !dependents(all, object).any(|(_, _, reference)| reference["blockOwnerDeletion"] == true) {
        release(client, place, object, FOREGROUND);
    }
}

fn release(client: &mut Client<'_>, place: &Place, object: &Value, finalizer: &str) {
    let list = object["metadata"]["finalizers"].as_array().into_iter().flatten();
    let left: Vec<_> = list.filter(|it| **it != finalizer).collect();
    let version = &object["metadata"]["resourceVersion"];
    let metadata = json!({"resourceVersion": version, "finalizers": left});
    client.merge(&place.path_of(object), &json!({"metadata": metadata}));
}
