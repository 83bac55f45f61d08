use serde_json::{Value, json};

use super::{LATER, object, owned, update, widget};
use crate::patch::{Update, track};

fn created(spec: &Value, manager: &str) -> Value {
    let mut new = object(spec);
    track(None, &mut new, &update(manager), &widget());
    new["metadata"]["uid"] = json!("u");
    new
}

/// Rule 21: a write that changes nothing leaves the managed fields, times included.
#[test]
fn a_write_of_the_same_changes_nothing() {
    let old = created(&json!({ "size": 1 }), "one");
    let mut new = old.clone();
    track(Some(&old), &mut new, &Update { time: LATER, ..update("two") }, &widget());
    assert_eq!(new, old);
}

/// Rule 27: a write to the object cannot change the status, nor a write to the status the rest.
#[test]
fn what_a_write_cannot_change_is_not_owned() {
    let old = created(&json!({ "size": 1 }), "one");
    let mut new = old.clone();
    new["status"] = json!({ "phase": "up" });
    new["spec"]["size"] = json!(2);
    new["metadata"]["labels"] = json!({ "a": "1" });
    let mut status = new.clone();
    track(Some(&old), &mut new, &update("two"), &widget());
    assert_eq!(
        owned(&new, "two"),
        json!({ "f:metadata": { "f:labels": { ".": {}, "f:a": {} } }, "f:spec": { "f:size": {} } })
    );
    let there = Update { subresource: "status", ..update("two") };
    track(Some(&old), &mut status, &there, &widget());
    assert_eq!(owned(&status, "two"), json!({ "f:status": { ".": {}, "f:phase": {} } }));
    assert_eq!(owned(&status, "one"), owned(&old, "one"));
}

#[test]
fn a_client_may_empty_the_list_or_rewrite_it_but_not_break_it() {
    let old = created(&json!({ "size": 1 }), "one");
    for (list, stays) in [
        (json!([]), false),
        (json!([{}]), false),
        (json!(null), true),
        (json!([{ "manager": "x", "operation": "Apply", "apiVersion": "v1" }]), true),
        (json!("nonsense"), true),
        (
            json!([{ "manager": "x", "operation": "Update", "apiVersion": "v1",
            "fieldsType": "FieldsV1", "fieldsV1": { "nonsense": {} } }]),
            true,
        ),
    ] {
        let mut new = old.clone();
        new["metadata"]["managedFields"] = list.clone();
        track(Some(&old), &mut new, &update("two"), &widget());
        assert_eq!(!owned(&new, "one").is_null(), stays, "{list}");
    }
    let mut renamed = old.clone();
    renamed["metadata"]["managedFields"][0]["manager"] = json!("other");
    track(Some(&old), &mut renamed, &update("two"), &widget());
    assert_eq!(owned(&renamed, "other"), owned(&old, "one"));
    assert_eq!(owned(&renamed, "one"), Value::Null);
}

/// Nobody owns what a server decides; the start of a generated name is the client's.
#[test]
fn the_creator_owns_the_start_of_a_generated_name() {
    let mut new = object(&json!({ "size": 1 }));
    new["metadata"]["generateName"] = json!("w-");
    track(None, &mut new, &update("creator"), &widget());
    let fields =
        json!({ "f:metadata": { "f:generateName": {} }, "f:spec": { ".": {}, "f:size": {} } });
    assert_eq!(owned(&new, "creator"), fields);
}

#[test]
fn more_than_ten_updaters_share_one_entry() {
    let mut object = created(&json!({ "n0": 0 }), "m00");
    for n in 1..15 {
        let mut spec = object["spec"].clone();
        spec[format!("n{n}")] = json!(n);
        let (manager, time) = (format!("m{n:02}"), format!("2026-01-01T00:00:{n:02}Z"));
        let mut new = object.clone();
        new["spec"] = spec;
        let write = Update { time: &time, ..update(&manager) };
        track(Some(&object), &mut new, &write, &widget());
        object = new;
    }
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    assert_eq!(entries.len(), 10);
    let older = owned(&object, "ancient-changes");
    let all = older["f:spec"].as_object().unwrap();
    for n in 0..6 {
        assert!(all.contains_key(&format!("f:n{n}")), "n{n} has no owner: {older}");
    }
    assert!(!owned(&object, "m14").is_null());
}
