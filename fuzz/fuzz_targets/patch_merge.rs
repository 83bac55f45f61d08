//! Merge patches of any bytes: a line with an object, and then the patch.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_sim::patch;
use serde_json::{Value, from_slice, json, to_vec};

/// Tells whether a list in the value contains an object or a list, from which null could be
/// removed.
fn has_objects_in_lists(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| item.is_object() || item.is_array()),
        Value::Object(members) => members.values().any(has_objects_in_lists),
        _ => false,
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(2, |byte| *byte == b'\n');
    let object = from_slice(parts.next().unwrap_or_default()).unwrap_or_else(|_| json!({}));
    let wanted = parts.next().unwrap_or_default();
    match patch::merge(&object, wanted) {
        Ok(new) => {
            let text = to_vec(&new).expect("it can be written");
            assert_eq!(from_slice::<Value>(&text).expect("it is not too deep to be read"), new);
            let read = from_slice::<Value>(wanted).expect("it was read before");
            if !has_objects_in_lists(&read) {
                assert_eq!(patch::merge(&new, wanted).expect("the same again"), new);
            }
        }
        Err(error) => assert_eq!(error.status, 400, "{error}"),
    }
});
