use serde_json::{Value, json};

use super::{by, object, owned, widget};
use crate::patch::{Apply, PatchError, Types, apply};

fn applied(live: Option<&Value>, spec: &Value, by: Apply<'_>) -> Result<Value, PatchError> {
    apply(live, &object(spec), &by, &widget())
}

/// Rule 41: items are known by their keys.
#[test]
fn items_of_a_map_list_are_merged_by_key() {
    let port = |name: &str, port: u16| json!({ "name": name, "port": port });
    let one = applied(None, &json!({ "ports": [port("a", 1), port("b", 2)] }), by("m1")).unwrap();
    let wanted = json!({ "ports": [port("c", 3), port("b", 2)] });
    let two = applied(Some(&one), &wanted, by("m2")).unwrap();
    assert_eq!(two["spec"]["ports"], json!([port("a", 1), port("c", 3), port("b", 2)]));
    let item = json!({ ".": {}, "f:name": {}, "f:port": {} });
    assert_eq!(
        owned(&two, "m2")["f:spec"]["f:ports"],
        json!({ r#"k:{"name":"b"}"#: item, r#"k:{"name":"c"}"#: item })
    );
    let error = applied(Some(&two), &json!({ "ports": [port("a", 9)] }), by("m2")).unwrap_err();
    assert!(error.message.ends_with(r#".spec.ports[name="a"].port"#), "{error}");
    let three = applied(Some(&two), &json!({}), by("m2")).unwrap();
    assert_eq!(three["spec"]["ports"], json!([port("a", 1), port("b", 2)]));
}

/// Rule 41: items are known by their value.
#[test]
fn items_of_a_set_are_merged_by_value() {
    let one = applied(None, &json!({ "tags": ["a", "b"] }), by("m1")).unwrap();
    let two = applied(Some(&one), &json!({ "tags": ["c", "b"] }), by("m2")).unwrap();
    assert_eq!(two["spec"]["tags"], json!(["a", "c", "b"]));
    assert_eq!(owned(&two, "m2")["f:spec"]["f:tags"], json!({ r#"v:"b""#: {}, r#"v:"c""#: {} }));
    let three = applied(Some(&two), &json!({ "tags": ["c"] }), by("m2")).unwrap();
    assert_eq!(three["spec"]["tags"], json!(["a", "c", "b"]));
    let four = applied(Some(&three), &json!({}), by("m1")).unwrap();
    assert_eq!(four["spec"]["tags"], json!(["c"]));
}

#[test]
fn atomic_lists_maps_and_undeclared_lists_are_one_value() {
    for (name, old, new) in [
        ("steps", json!(["a"]), json!(["b"])),
        ("shape", json!({ "sides": 3 }), json!({ "round": true })),
        ("undeclared", json!([{ "a": 1 }]), json!([{ "b": 1 }])),
    ] {
        let one = applied(None, &json!({ name: old }), by("m1")).unwrap();
        assert_eq!(owned(&one, "m1"), json!({ "f:spec": { format!("f:{name}"): {} } }));
        let error = applied(Some(&one), &json!({ name: new }), by("m2")).unwrap_err();
        assert!(error.message.ends_with(&format!("\"m1\": .spec.{name}")), "{error}");
        let force = Apply { force: true, ..by("m2") };
        let two = applied(Some(&one), &json!({ name: new }), force).unwrap();
        assert_eq!(two["spec"][name], new, "nothing of the old value stays");
    }
}

#[test]
fn undeclared_maps_are_owned_member_by_member() {
    let one = applied(None, &json!({ "extra": { "a": 1 } }), by("m1")).unwrap();
    let two = applied(Some(&one), &json!({ "extra": { "b": { "c": 2 } } }), by("m2")).unwrap();
    assert_eq!(two["spec"]["extra"], json!({ "a": 1, "b": { "c": 2 } }));
    assert_eq!(
        owned(&two, "m2")["f:spec"]["f:extra"],
        json!({ ".": {}, "f:b": { ".": {}, "f:c": {} } })
    );
}

#[test]
fn the_order_of_what_is_applied_wins() {
    let live = applied(None, &json!({ "tags": ["a", "b", "c", "d"] }), by("m1")).unwrap();
    for (wanted, merged) in [
        (json!(["d", "a"]), json!(["b", "c", "d", "a"])),
        (json!(["x", "c", "y"]), json!(["a", "b", "x", "c", "d", "y"])),
        (json!([]), json!(["a", "b", "c", "d"])),
    ] {
        let new = applied(Some(&live), &json!({ "tags": wanted }), by("m2")).unwrap();
        assert_eq!(new["spec"]["tags"], merged);
    }
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
    crate::patch::track(None, &mut live, &super::update("writer"), &widget());
    let kept = applied(Some(&live), &json!({ "tags": ["b"] }), by("m1")).unwrap();
    assert_eq!(kept["spec"]["tags"], json!(["a", "a", "b"]));
    let one = applied(Some(&live), &json!({ "tags": ["a"] }), Apply { force: true, ..by("m1") });
    assert_eq!(one.unwrap()["spec"]["tags"], json!(["a", "b"]));
}
