use serde_json::{Value, json};

use super::{LATER, by, object, owned, update, widget};
use crate::patch::{Apply, PatchError, Types, apply, track, unchanged};

fn applied(live: Option<&Value>, spec: &Value, by: Apply<'_>) -> Result<Value, PatchError> {
    apply(live, &object(spec), &by, &widget())
}

/// Rule 41: the same apply again is the same object, whenever.
#[test]
fn the_same_apply_again_changes_nothing() {
    let wanted = json!({ "size": 1, "tags": ["a"], "ports": [{ "name": "p", "port": 1 }] });
    let one = applied(None, &wanted, by("m1")).unwrap();
    let again = applied(Some(&one), &wanted, Apply { time: LATER, ..by("m1") }).unwrap();
    assert_eq!(again, one);
    let more = applied(Some(&one), &json!({ "size": 2 }), Apply { time: LATER, ..by("m1") });
    assert_eq!(more.unwrap()["metadata"]["managedFields"][0]["time"], LATER);
}

/// Rule 36.
#[test]
fn managed_fields_cannot_be_applied() {
    let mut wanted = object(&json!({}));
    wanted["metadata"]["managedFields"] = json!([]);
    let error = apply(None, &wanted, &by("m1"), &widget()).unwrap_err();
    assert_eq!((error.status, &*error.message), (400, "metadata.managedFields must be nil"));
}

#[test]
fn unknown_fields_are_refused_but_below_what_keeps_them() {
    let mut wanted = object(&json!({}));
    wanted["other"] = json!(1);
    let error = apply(None, &wanted, &by("m1"), &widget()).unwrap_err();
    assert!(error.message.ends_with(".other: field not declared in schema"), "{error}");
    // The schema names the fields of `closed`, but `spec` keeps what it does not know.
    let closed = json!({ "closed": { "other": 1 } });
    assert_eq!(applied(None, &closed, by("m1")).unwrap()["spec"], closed);
}

#[test]
fn what_does_not_fit_the_kind_is_refused() {
    for (spec, says) in [
        (json!({ "size": "x" }), ".spec.size: expected numeric (int or float), got string"),
        (json!({ "closed": { "only": 1 } }), ".spec.closed.only: expected string"),
        (json!({ "ports": [{ "port": 1 }] }), ".spec.ports: element 0: associative list with keys"),
        (json!({ "tags": ["a", "a"] }), ".spec.tags: duplicate entries for key [=\"a\"]"),
        (json!({ "tags": {} }), ".spec.tags: expected list"),
    ] {
        let error = applied(None, &spec, by("m1")).unwrap_err();
        assert_eq!((error.status, error.reason), (500, None), "{spec}");
        let starts = "failed to create typed patch object (/w; sim/v1, Kind=Widget): ";
        assert!(error.message.starts_with(starts), "{error}");
        assert!(error.message.contains(says), "{spec}: {error}");
    }
    let other = Apply { api_version: "sim/v2", ..by("m1") };
    let error = applied(None, &json!({}), other).unwrap_err();
    assert_eq!(error.status, 400);
    assert!(error.message.contains("sim/v1, expected: sim/v2"), "{error}");
}

#[test]
fn kubectl_goes_on_from_what_it_applied_in_its_older_way() {
    let kinds = Types::built_in("", "v1", "ConfigMap").unwrap();
    let config = |data: Value| json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "c" }, "data": data });
    let mut live = config(json!({ "a": "1", "b": "1" }));
    let key = "kubectl.kubernetes.io/last-applied-configuration";
    let last = config(json!({ "a": "1" })).to_string();
    live["metadata"]["annotations"] = json!({ key: last });
    let old = update("kubectl-client-side-apply");
    track(None, &mut live, &crate::patch::Update { api_version: "v1", ..old }, &kinds);
    let request = Apply { api_version: "v1", ..by("kubectl") };
    let new = apply(Some(&live), &config(json!({ "a": "2" })), &request, &kinds).unwrap();
    assert_eq!(new["data"], json!({ "a": "2", "b": "1" }));
    let now = new["metadata"]["annotations"][key].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(now).unwrap(), config(json!({ "a": "2" })));
    let error = apply(Some(&live), &config(json!({ "b": "2" })), &request, &kinds).unwrap_err();
    assert!(error.message.ends_with(": .data.b"), "{error}");
}

#[test]
fn only_times_that_differ_are_no_change() {
    let one = applied(None, &json!({ "size": 1 }), by("m1")).unwrap();
    let later = applied(None, &json!({ "size": 1 }), Apply { time: LATER, ..by("m1") }).unwrap();
    let other = applied(None, &json!({ "size": 1 }), by("m2")).unwrap();
    assert!(one != later && unchanged(&one, &later));
    assert!(!unchanged(&one, &other));
}

#[test]
fn a_key_that_is_left_out_has_its_default() {
    let types = Types::built_in("", "v1", "Service").unwrap();
    let service = |ports: Value| {
        json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "s" },
            "spec": { "ports": ports } })
    };
    let request = Apply { api_version: "v1", ..by("m1") };
    let one = apply(None, &service(json!([{ "port": 80 }])), &request, &types).unwrap();
    let fields = owned(&one, "m1")["f:spec"]["f:ports"].clone();
    assert_eq!(fields, json!({ r#"k:{"port":80,"protocol":"TCP"}"#: { ".": {}, "f:port": {} } }));
    let both = json!([{ "port": 80, "protocol": "UDP" }, { "port": 80, "protocol": "TCP" }]);
    let two = apply(Some(&one), &service(both), &request, &types).unwrap();
    assert_eq!(two["spec"]["ports"].as_array().unwrap().len(), 2);
}

#[test]
fn items_that_are_there_twice_stay_until_one_is_applied() {
    let mut live = object(&json!({ "tags": ["a", "a", "b"] }));
    track(None, &mut live, &update("writer"), &widget());
    let kept = applied(Some(&live), &json!({ "tags": ["b"] }), by("m1")).unwrap();
    assert_eq!(kept["spec"]["tags"], json!(["a", "a", "b"]));
    let one = applied(Some(&live), &json!({ "tags": ["a"] }), Apply { force: true, ..by("m1") });
    assert_eq!(one.unwrap()["spec"]["tags"], json!(["a", "b"]));
}

/// Those who apply come first, then it goes by time and name, and what is of the status comes after the rest.
#[test]
fn managed_fields_are_stored_in_one_order() {
    let one = applied(None, &json!({ "size": 1 }), by("m1")).unwrap();
    let mut status = object(&json!({}));
    status["status"] = json!({ "phase": "up" });
    let there = Apply { subresource: "status", ..by("m1") };
    let two = apply(Some(&one), &status, &there, &widget()).unwrap();
    let later = Apply { time: LATER, ..by("b") };
    let mut new = applied(Some(&two), &json!({ "color": "red" }), later).unwrap();
    let old = new.clone();
    new["spec"]["extra"] = json!(1);
    track(Some(&old), &mut new, &update("a"), &widget());
    let entries = new["metadata"]["managedFields"].as_array().unwrap();
    let names = entries.iter().map(|it| json!([it["manager"], it["subresource"]]));
    let order = json!([["m1", null], ["m1", "status"], ["b", null], ["a", null]]);
    assert_eq!(Value::from_iter(names), order);
}
