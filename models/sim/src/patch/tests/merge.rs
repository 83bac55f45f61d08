use serde_json::{Value, json};

use crate::patch::merge;

fn merged(object: &Value, patch: &Value) -> Value {
    merge(object, patch.to_string().as_bytes()).unwrap()
}

#[test]
fn members_are_merged_and_null_removes() {
    let object = json!({ "a": 1, "b": { "c": 2, "d": 3 }, "e": [1, 2] });
    let patch = json!({ "a": null, "b": { "c": null, "x": 5 }, "e": [3], "gone": null });
    assert_eq!(merged(&object, &patch), json!({ "b": { "d": 3, "x": 5 }, "e": [3] }));
}

/// Rule 31: a whole map goes with `null`.
#[test]
fn a_map_is_removed_by_null() {
    assert_eq!(merged(&json!({ "data": { "a": "1" } }), &json!({ "data": null })), json!({}));
}

#[test]
fn a_new_object_has_no_nulls() {
    let patch = json!({ "a": { "b": null, "c": { "d": null } } });
    assert_eq!(merged(&json!({}), &patch), json!({ "a": { "c": {} } }));
    assert_eq!(merged(&json!({ "a": 1 }), &patch), json!({ "a": { "c": {} } }));
}

#[test]
fn a_list_keeps_its_nulls_but_not_those_of_its_objects() {
    let patch = json!({ "a": [null, { "b": null }] });
    assert_eq!(merged(&json!({}), &patch), json!({ "a": [null, {}] }));
    assert_eq!(merged(&json!({ "a": [1] }), &patch), json!({ "a": [null, {}] }));
    // Unless the list takes the place of an object.
    assert_eq!(merged(&json!({ "a": {} }), &patch), patch);
}

#[test]
fn a_body_must_be_an_object() {
    for body in ["[]", "1", "null", "{", "\"a\"", ""] {
        let error = merge(&json!({ "a": 1 }), body.as_bytes()).unwrap_err();
        assert_eq!((error.status, error.reason), (400, Some("BadRequest")), "{body}");
    }
}
