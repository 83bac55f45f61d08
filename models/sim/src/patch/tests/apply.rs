use serde_json::{Value, json};

use super::{LATER, TIME, by, object, owned, update, widget};
use crate::patch::{Apply, PatchError, Types, apply, track, unchanged};

fn applied(live: Option<&Value>, spec: &Value, by: Apply<'_>) -> Result<Value, PatchError> {
    apply(live, &object(spec), &by, &widget())
}

/// Rule 37: if nothing is there, the object is the applied one.
#[test]
fn an_apply_creates() {
    let new = applied(None, &json!({ "size": 1 }), by("m1")).unwrap();
    assert_eq!(new["spec"], json!({ "size": 1 }));
    assert_eq!(
        new["metadata"]["managedFields"],
        json!([{ "manager": "m1", "operation": "Apply", "apiVersion": "sim/v1", "time": TIME,
            "fieldsType": "FieldsV1", "fieldsV1": { "f:spec": { "f:size": {} } } }])
    );
}

/// Rule 38: one cause a field, and a message by manager.
#[test]
fn fields_of_others_with_other_values_conflict() {
    let one = applied(None, &json!({ "size": 1 }), by("m1")).unwrap();
    let error = applied(Some(&one), &json!({ "size": 2 }), by("m2")).unwrap_err();
    assert_eq!((error.status, error.reason), (409, Some("Conflict")));
    assert_eq!(error.message, r#"Apply failed with 1 conflict: conflict with "m1": .spec.size"#);
    assert_eq!(
        error.details,
        Some(json!({ "causes": [{ "reason": "FieldManagerConflict", "field": ".spec.size",
            "message": "conflict with \"m1\"" }] }))
    );
}

/// Rule 38: managers are sorted, and those of updates say in which version.
#[test]
fn conflicts_with_many_are_grouped_by_manager() {
    let mut live = object(&json!({ "size": 1, "color": "red", "extra": { "k": 1 } }));
    track(None, &mut live, &update("writer"), &widget());
    live["metadata"]["uid"] = json!("u");
    let live = applied(Some(&live), &json!({ "size": 1, "color": "red" }), by("m2")).unwrap();
    let wanted = json!({ "size": 2, "color": "blue", "extra": { "k": 2 } });
    let error = applied(Some(&live), &wanted, by("m1")).unwrap_err();
    assert_eq!(
        error.message,
        "Apply failed with 5 conflicts: conflicts with \"m2\":\n- .spec.color\n- .spec.size\n\
         conflicts with \"writer\" using sim/v1:\n- .spec.color\n- .spec.size\n- .spec.extra.k"
    );
}

/// Rule 38: the value that is there already is shared.
#[test]
fn the_same_value_is_shared() {
    let one = applied(None, &json!({ "size": 1 }), by("m1")).unwrap();
    let two = applied(Some(&one), &json!({ "size": 1 }), by("m2")).unwrap();
    assert_eq!(owned(&two, "m1"), owned(&two, "m2"));
    let error = applied(Some(&two), &json!({ "size": 2 }), by("m1")).unwrap_err();
    assert!(error.message.contains("\"m2\""), "{error}");
}

/// Rule 39: a forced apply takes the fields.
#[test]
fn force_takes_ownership() {
    let one = applied(None, &json!({ "size": 1, "color": "red" }), by("m1")).unwrap();
    let force = Apply { force: true, ..by("m2") };
    let two = applied(Some(&one), &json!({ "size": 2 }), force).unwrap();
    assert_eq!(two["spec"], json!({ "size": 2, "color": "red" }));
    assert_eq!(owned(&two, "m1"), json!({ "f:spec": { "f:color": {} } }));
    assert_eq!(owned(&two, "m2"), json!({ "f:spec": { "f:size": {} } }));
}

/// Rule 39: fields that are left out are removed, unless others own them.
#[test]
fn fields_left_out_are_removed_unless_others_own_them() {
    let both = json!({ "size": 1, "color": "red" });
    let one = applied(None, &both, by("m1")).unwrap();
    let two = applied(Some(&one), &json!({ "color": "red" }), by("m2")).unwrap();
    let three = applied(Some(&two), &json!({}), by("m1")).unwrap();
    assert_eq!(three["spec"], json!({ "color": "red" }));
    let four = applied(Some(&three), &json!({}), by("m2")).unwrap();
    assert_eq!(four["spec"], json!({}), "the map itself is still applied");
}

#[test]
fn what_an_updater_set_stays_when_it_was_never_applied() {
    let one = applied(None, &json!({ "size": 1 }), by("m1")).unwrap();
    let mut two = one.clone();
    two["metadata"]["uid"] = json!("u");
    two["spec"]["color"] = json!("red");
    track(Some(&one), &mut two, &update("writer"), &widget());
    let three = apply(Some(&two), &object(&json!({})), &by("m1"), &widget()).unwrap();
    assert_eq!(three["spec"], json!({ "color": "red" }));
}

#[test]
fn what_nobody_owns_stays() {
    let one = applied(None, &json!({ "size": 1 }), by("m1")).unwrap();
    let mut two = one.clone();
    two["spec"]["color"] = json!("red");
    let three = applied(Some(&two), &json!({}), by("m1")).unwrap();
    assert_eq!(three["spec"], json!({ "color": "red" }));
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

#[test]
fn a_status_is_applied_by_a_manager_of_its_own() {
    let one = applied(None, &json!({ "size": 1 }), by("m1")).unwrap();
    let mut wanted = object(&json!({ "size": 9 }));
    wanted["status"] = json!({ "phase": "up" });
    let status = Apply { subresource: "status", ..by("m1") };
    let two = apply(Some(&one), &wanted, &status, &widget()).unwrap();
    let entries = two["metadata"]["managedFields"].as_array().unwrap();
    assert_eq!(entries.len(), 2);
    assert_eq!(entries[1]["subresource"], "status");
    assert_eq!(entries[1]["fieldsV1"], json!({ "f:status": { "f:phase": {} } }));
    // The object's own manager keeps what a write to the status cannot change.
    assert_eq!(entries[0]["fieldsV1"], json!({ "f:spec": { "f:size": {} } }));
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
fn who_was_there_before_anybody_applied_owns_what_was_there() {
    let mut live = object(&json!({ "size": 1 }));
    live["metadata"]["uid"] = json!("u");
    let error = applied(Some(&live), &json!({ "size": 2 }), by("m1")).unwrap_err();
    assert!(error.message.contains("\"before-first-apply\" using sim/v1"), "{error}");
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
