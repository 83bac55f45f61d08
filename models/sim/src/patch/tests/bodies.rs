//! Bodies that are no patches.

use serde_json::json;

use crate::patch::{json as patch, merge};

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
        let error = patch(&object, body.as_bytes()).unwrap_err();
        assert_eq!((error.status, error.reason), (400, Some("BadRequest")), "{body}");
        assert!(error.message.contains(says), "{body}: {}", error.message);
    }
    assert_eq!(patch(&object, b"[]").unwrap(), object);
    assert_eq!(patch(&object, b"null").unwrap(), object);
}

#[test]
fn a_body_must_be_an_object() {
    for body in ["[]", "1", "null", "{", "\"a\"", ""] {
        let error = merge(&json!({ "a": 1 }), body.as_bytes()).unwrap_err();
        assert_eq!((error.status, error.reason), (400, Some("BadRequest")), "{body}");
    }
}
