//! Code that the controllers which make pods share.

use serde_json::{Value, json};

use super::client::{Client, Place, is_terminating, text};
use crate::apiserver::Labels;

pub(super) fn place() -> Place {
    Place::new("/api/v1", "pods", "Pod")
}

/// The reference by which a controller owns what it makes.
pub(super) fn controlled_by(owner: &Value) -> Value {
    json!({
        "apiVersion": owner["apiVersion"], "kind": owner["kind"],
        "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
        "controller": true, "blockOwnerDeletion": true,
    })
}

pub(super) fn is_controlled_by(object: &Value, owner: &Value) -> bool {
    let references = object["metadata"]["ownerReferences"].as_array().into_iter().flatten();
    let mut controllers = references.filter(|it| it["controller"] == true);
    controllers.any(|it| it["uid"] == owner["metadata"]["uid"])
}

/// The objects of a kind that an owner controls; none if they cannot be listed.
pub(super) fn owned(client: &mut Client<'_>, place: &Place, owner: &Value) -> Option<Vec<Value>> {
    let all = client.list(place, text(owner, "namespace"))?;
    Some(all.into_iter().filter(|it| is_controlled_by(it, owner)).collect())
}

/// The objects that an owner controls. An object without a controller that it selects and can use
/// becomes its own; an object that it no longer selects is released. None if they cannot be listed.
pub(super) fn claim(
    client: &mut Client<'_>,
    place: &Place,
    owner: &Value,
    is_of_use: impl Fn(&Value) -> bool,
) -> Option<Vec<Value>> {
    let mut all = client.list(place, text(owner, "namespace"))?;
    // A selector that cannot be read was refused; it selects nothing.
    let selector = Labels::of(&owner["spec"]["selector"]).unwrap_or_default();
    for object in &mut all {
        let is_ours = is_controlled_by(object, owner);
        let is_selected = !selector.is_empty() && selector.matches(object);
        if is_terminating(owner) || is_terminating(object) || is_ours == is_selected {
            continue;
        }
        let references = object["metadata"]["ownerReferences"].as_array().into_iter().flatten();
        let others = references.filter(|it| it["uid"] != owner["metadata"]["uid"]).cloned();
        let mut owners: Vec<_> = others.collect();
        if is_selected {
            if owners.iter().any(|it| it["controller"] == true) || !is_of_use(object) {
                continue;
            }
            owners.push(controlled_by(owner));
        }
        let uid = &object["metadata"]["uid"];
        let patch = json!({"metadata": {"uid": uid, "ownerReferences": owners}});
        if let Some(claimed) = client.merge(&place.path_of(object), &patch) {
            *object = claimed;
        }
    }
    all.retain(|it| is_controlled_by(it, owner));
    Some(all)
}

/// A pod from the template of its owner.
pub(super) fn from_template(owner: &Value) -> Value {
    let template = &owner["spec"]["template"];
    let mut metadata = json!({"ownerReferences": [controlled_by(owner)]});
    for field in ["labels", "annotations", "finalizers"] {
        if !template["metadata"][field].is_null() {
            metadata[field] = template["metadata"][field].clone();
        }
    }
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]})
}

pub(super) fn phase(pod: &Value) -> &str {
    pod["status"]["phase"].as_str().unwrap_or("")
}

pub(super) fn has_ended(pod: &Value) -> bool {
    matches!(phase(pod), "Succeeded" | "Failed")
}

pub(super) fn is_active(pod: &Value) -> bool {
    !has_ended(pod) && !is_terminating(pod)
}

pub(super) fn is_ready(pod: &Value) -> bool {
    holds(pod, "Ready")
}

/// Tells whether a condition of an object holds.
pub(super) fn holds(object: &Value, condition: &str) -> bool {
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|it| it["type"] == condition && it["status"] == "True")
}

/// A condition, with the time at which it last changed, and its reason if there is one.
pub(super) fn condition(
    client: &Client<'_>,
    object: &Value,
    kind: &str,
    holds: bool,
    reason: &str,
) -> Value {
    let word = if holds { "True" } else { "False" };
    let mut old = object["status"]["conditions"].as_array().into_iter().flatten();
    let since = old.find(|it| it["type"] == kind && it["status"] == word);
    let since = since.and_then(|it| it["lastTransitionTime"].as_str().map(str::to_owned));
    let since = since.unwrap_or_else(|| client.stamp());
    let mut condition = json!({"type": kind, "status": word, "lastTransitionTime": since});
    if !reason.is_empty() {
        condition["reason"] = reason.into();
    }
    condition
}

/// How many are wanted; one if nothing is said.
pub(super) fn wanted(owner: &Value) -> usize {
    owner["spec"]["replicas"].as_u64().map_or(1, |it| usize::try_from(it).unwrap_or(usize::MAX))
}

/// A short name for a template: the same one for the same template.
pub(super) fn hash(template: &Value) -> String {
    // FNV-1a, and letters that spell no word.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in template.to_string().bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let letters = b"bcdfghjklmnpqrstvwxz2456789";
    let letter = |place: u32| letters[(hash >> (place * 5)) as usize % letters.len()];
    (0..10).map(|place| char::from(letter(place))).collect()
}
