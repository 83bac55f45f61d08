use serde_json::{Value, json};

use crate::patch::{PatchError, json as apply};

fn patched(object: &Value, operations: &Value) -> Result<Value, PatchError> {
    apply(object, operations.to_string().as_bytes())
}

fn refused(object: &Value, operations: &Value) {
    let error = patched(object, operations).unwrap_err();
    assert_eq!((error.status, error.reason), (422, Some("Invalid")), "{operations}");
    assert_eq!(error.details, Some(json!({})), "a refused operation has no details");
}

#[test]
fn the_operations_do_what_they_say() {
    let object = json!({ "a": [1, 2], "b": { "c~d/e": 3 } });
    let operations = json!([
        { "op": "test", "path": "/b/c~0d~1e", "value": 3 },
        { "op": "add", "path": "/a/0", "value": 0 },
        { "op": "add", "path": "/a/-", "value": 9 },
        { "op": "remove", "path": "/a/1" },
        { "op": "replace", "path": "/a/0", "value": [5] },
        { "op": "copy", "from": "/a/0", "path": "/x" },
        { "op": "move", "from": "/b/c~0d~1e", "path": "/b/f" },
    ]);
    let expected = json!({ "a": [[5], 2, 9], "b": { "f": 3 }, "x": [5] });
    assert_eq!(patched(&object, &operations).unwrap(), expected);
}

#[test]
fn all_operations_apply_or_none() {
    let object = json!({ "a": 1 });
    refused(
        &object,
        &json!([
            { "op": "add", "path": "/b", "value": 1 },
            { "op": "test", "path": "/a", "value": 2 },
        ]),
    );
}

/// Rule 29.
#[test]
fn what_is_not_there_cannot_be_removed_moved_or_gone_into() {
    let object = json!({ "spec": { "a": 1, "list": [1] } });
    refused(&object, &json!([{ "op": "remove", "path": "/spec/b" }]));
    refused(&object, &json!([{ "op": "remove", "path": "/spec/list/1" }]));
    refused(&object, &json!([{ "op": "move", "from": "/spec/b", "path": "/spec/c" }]));
    refused(&object, &json!([{ "op": "add", "path": "/no/such", "value": 1 }]));
    refused(&object, &json!([{ "op": "add", "path": "/spec/list/3", "value": 1 }]));
    refused(&object, &json!([{ "op": "add", "path": "/spec/a/b", "value": 1 }]));
    refused(&object, &json!([{ "op": "replace", "path": "/no/such", "value": 1 }]));
    refused(&object, &json!([{ "op": "test", "path": "/no/such", "value": null }]));
    refused(&object, &json!([{ "op": "nonsense", "path": "/spec" }]));
    refused(&object, &json!([{ "path": "/spec" }, null]));
    refused(&object, &json!([{ "op": "add", "value": 1 }]));
}

/// Rule 29: where the server is more generous than the RFC.
#[test]
fn a_missing_member_is_null_to_copy_and_test_and_may_be_replaced() {
    let object = json!({ "spec": {} });
    let copied = patched(&object, &json!([{ "op": "copy", "from": "/spec/a", "path": "/spec/b" }]));
    assert_eq!(copied.unwrap(), json!({ "spec": { "b": null } }));
    let test = json!([{ "op": "test", "path": "/spec/a", "value": null }]);
    assert_eq!(patched(&object, &test).unwrap(), object);
    let replaced = patched(&object, &json!([{ "op": "replace", "path": "/spec/a", "value": 1 }]));
    assert_eq!(replaced.unwrap(), json!({ "spec": { "a": 1 } }));
}

#[test]
fn an_index_may_count_from_the_end() {
    let object = json!({ "a": [1, 2] });
    let operations = json!([
        { "op": "replace", "path": "/a/-1", "value": 3 },
        { "op": "add", "path": "/a/-1", "value": 4 },
        { "op": "test", "path": "/a/-3", "value": 1 },
    ]);
    assert_eq!(patched(&object, &operations).unwrap(), json!({ "a": [1, 3, 4] }));
    refused(&object, &json!([{ "op": "remove", "path": "/a/-3" }]));
}

#[test]
fn the_whole_document_can_be_tested_and_replaced_but_not_removed() {
    let object = json!({ "a": 1 });
    let replaced = json!([
        { "op": "test", "path": "", "value": { "a": 1 } },
        { "op": "replace", "path": "", "value": { "b": 2 } },
    ]);
    assert_eq!(patched(&object, &replaced).unwrap(), json!({ "b": 2 }));
    refused(&object, &json!([{ "op": "remove", "path": "" }]));
    refused(&object, &json!([{ "op": "replace", "path": "", "value": 1 }]));
    refused(&object, &json!([{ "op": "copy", "from": "", "path": "/b" }]));
}

/// Rule 29: a body that is not a list is a bad request, and no operations change nothing.
#[test]
fn a_body_must_be_a_list_of_operations() {
    let object = json!({ "a": 1 });
    for (body, says) in [
        (r#"{"op":"add"}"#, "cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
        ("[1]", "cannot unmarshal number into Go value"),
        (r#"[{"op":1}]"#, "cannot unmarshal number into Go struct field jsonPatchOp.op"),
        (r#"[{"op":"#, "error decoding patch"),
        ("\u{0}", "error decoding patch"),
    ] {
        let error = apply(&object, body.as_bytes()).unwrap_err();
        assert_eq!((error.status, error.reason), (400, Some("BadRequest")), "{body}");
        assert!(error.message.contains(says), "{body}: {}", error.message);
    }
    assert_eq!(apply(&object, b"[]").unwrap(), object);
    assert_eq!(apply(&object, b"null").unwrap(), object);
}
