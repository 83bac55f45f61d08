//! Managers that apply to one object and overwrite it; each line is one write.
//!
//! The first character is the manager. The second is the kind of write: `a` to apply, `f` to force,
//! `s` to apply to the status, `u` to overwrite. The rest is JSON.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_sim::patch::{self, Apply, Types, Update};
use serde_json::{Value, from_slice, json};

fn types() -> Types {
    let items = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    let by_name = json!({ "type": "array", "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"], "items": items });
    let set = json!({ "type": "array", "x-kubernetes-list-type": "set" });
    let spec = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true,
        "properties": { "m": by_name, "s": set, "n": { "type": "integer" } } });
    Types::from_schema(&json!({ "type": "object", "properties": { "spec": spec, "status": {} } }))
        .with_status()
}

fn step(types: &Types, live: Option<&Value>, line: &[u8]) -> Option<Value> {
    let (manager, how) = (line.first()?, line.get(1)?);
    let manager = char::from(*manager).to_string();
    let mut wanted = from_slice::<Value>(line.get(2..)?).ok()?;
    let (api_version, time) = ("v1", "2026-01-01T00:00:00Z");
    wanted.as_object_mut()?.insert("apiVersion".to_owned(), json!(api_version));
    let subresource = if *how == b's' { "status" } else { "" };
    if *how == b'u' {
        let update = Update { manager: &manager, api_version, time, subresource };
        wanted.as_object_mut()?.entry("metadata").or_insert_with(|| json!({}));
        wanted["metadata"].as_object_mut()?.insert("uid".to_owned(), json!("u"));
        patch::track(live, &mut wanted, &update, types);
        let mut same = wanted.clone();
        patch::track(Some(&wanted), &mut same, &update, types);
        assert_eq!(same, wanted, "a write of the same changed something");
        return Some(wanted);
    }
    let force = *how != b'a';
    let request = Apply { manager: &manager, force, api_version, time, subresource };
    match patch::apply(live, &wanted, &request, types) {
        Ok(new) => {
            // A list that loses its last item is gone; if the same apply brings it empty, it comes back
            // with the next one. From then on nothing changes.
            let once_more = |live: &Value| {
                patch::apply(Some(live), &wanted, &request, types).expect("the same again")
            };
            let again = once_more(&new);
            // An object that nobody owns counts as made before the first apply.
            if again["metadata"]["managedFields"].is_array() {
                assert_eq!(once_more(&again), again);
            }
            Some(new)
        }
        Err(error) => {
            assert!([400, 409, 500].contains(&error.status), "{error}");
            assert!(!force || error.status != 409, "a forced apply conflicts: {error}");
            None
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let types = types();
    let mut live = None;
    for line in bytes.split(|byte| *byte == b'\n').take(16) {
        live = step(&types, live.as_ref(), line).or(live);
    }
});
