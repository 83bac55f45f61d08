use serde_json::{Value, json};

use crate::patch::{PatchError, Types, strategic};

fn pod(containers: &Value) -> Value {
    json!({ "metadata": { "name": "p" }, "spec": { "containers": containers } })
}

fn patched(object: &Value, patch: &Value, kind: &str) -> Result<Value, PatchError> {
    let group = if kind == "Deployment" { "apps" } else { "" };
    let types = Types::built_in(group, "v1", kind).unwrap();
    strategic(object, patch.to_string().as_bytes(), &types)
}

/// Rule 34.
#[test]
fn a_map_can_be_cleared_and_replaced() {
    let object = json!({ "metadata": { "labels": { "a": "1" } }, "data": { "x": "1", "y": "2" } });
    let patch = json!({
        "metadata": { "labels": { "$patch": "delete" } },
        "data": { "$patch": "replace", "z": "3" },
    });
    let expected = json!({ "metadata": { "labels": {} }, "data": { "z": "3" } });
    assert_eq!(patched(&object, &patch, "ConfigMap").unwrap(), expected);
}

/// Rule 34: finalizers are a set, owners are known by their uid.
#[test]
fn finalizers_and_owners_are_merged() {
    let object = json!({ "metadata": {
        "finalizers": ["a/1", "a/2"],
        "ownerReferences": [{ "uid": "u1", "name": "old" }, { "uid": "u2", "name": "two" }],
    } });
    let patch = json!({ "metadata": {
        "finalizers": ["a/3", "a/1"],
        "ownerReferences": [{ "uid": "u1", "name": "new" }, { "uid": "u3", "name": "three" }],
    } });
    let metadata = &patched(&object, &patch, "ConfigMap").unwrap()["metadata"];
    assert_eq!(metadata["finalizers"], json!(["a/3", "a/1", "a/2"]));
    let owners = metadata["ownerReferences"].as_array().unwrap();
    let names = owners.iter().map(|owner| owner["name"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(names, ["new", "three", "two"]);
}

/// Rule 34.
#[test]
fn items_are_deleted_from_a_set() {
    let object = json!({ "metadata": { "finalizers": ["a/1", "a/2"] } });
    let patch = json!({ "metadata": { "$deleteFromPrimitiveList/finalizers": ["a/1", "a/9"] } });
    let expected = json!({ "metadata": { "finalizers": ["a/2"] } });
    assert_eq!(patched(&object, &patch, "ConfigMap").unwrap(), expected);
    let nothing = json!({ "metadata": {} });
    assert_eq!(patched(&nothing, &patch, "ConfigMap").unwrap(), nothing);
}

/// Rule 34: keys that the list does not name are dropped, and it must name all keys of the patch.
#[test]
fn only_retained_keys_stay() {
    let object = json!({ "metadata": { "name": "n" }, "data": { "a": "1" } });
    let patch = json!({ "$retainKeys": ["data"], "data": { "b": "2" } });
    let expected = json!({ "data": { "a": "1", "b": "2" } });
    assert_eq!(patched(&object, &patch, "ConfigMap").unwrap(), expected);
    let unnamed = json!({ "$retainKeys": [], "data": { "b": "2" } });
    assert_eq!(patched(&object, &unnamed, "ConfigMap").unwrap_err().status, 400);
}

#[test]
fn containers_are_merged_by_name_and_their_parts_by_theirs() {
    let object = pod(&json!([
        { "name": "a", "image": "1", "env": [{ "name": "X", "value": "1" }],
          "ports": [{ "containerPort": 80 }], "volumeMounts": [{ "mountPath": "/m", "name": "v" }],
          "command": ["old", "words"] },
        { "name": "b", "image": "1" },
    ]));
    let patch = pod(&json!([
        { "name": "c", "image": "3" },
        { "name": "a", "image": "2", "env": [{ "name": "Y", "value": "2" }, { "name": "X", "$patch": "delete" }],
          "ports": [{ "containerPort": 80, "protocol": "UDP" }],
          "volumeMounts": [{ "mountPath": "/m", "readOnly": true }], "command": ["new"] },
    ]));
    let result = patched(&object, &patch, "Pod").unwrap();
    let expected = json!([
        { "name": "c", "image": "3" },
        { "name": "a", "image": "2", "env": [{ "name": "Y", "value": "2" }],
          "ports": [{ "containerPort": 80, "protocol": "UDP" }],
          "volumeMounts": [{ "mountPath": "/m", "name": "v", "readOnly": true }],
          "command": ["new"] },
        { "name": "b", "image": "1" },
    ]);
    assert_eq!(result["spec"]["containers"], expected);
}

#[test]
fn a_list_without_a_merge_key_is_replaced() {
    let tolerations = |key: &str| json!({ "spec": { "tolerations": [{ "key": key }] } });
    let result = patched(&tolerations("a"), &tolerations("b"), "Pod").unwrap();
    assert_eq!(result, tolerations("b"));
}

#[test]
fn an_order_is_set_for_what_the_patch_names() {
    let object = pod(&json!([{ "name": "a" }, { "name": "b" }, { "name": "c" }]));
    let order = json!([{ "name": "c" }, { "name": "a" }]);
    let patch = json!({ "spec": { "$setElementOrder/containers": order,
        "containers": [{ "name": "a", "image": "2" }] } });
    let result = patched(&object, &patch, "Pod").unwrap();
    let expected = json!([{ "name": "b" }, { "name": "c" }, { "name": "a", "image": "2" }]);
    assert_eq!(result["spec"]["containers"], expected);
    let finalizers = json!({ "metadata": { "finalizers": ["x/1", "x/2"] } });
    let patch = json!({ "metadata": { "$setElementOrder/finalizers": ["x/2", "x/1"] } });
    let result = patched(&finalizers, &patch, "Pod").unwrap();
    assert_eq!(result["metadata"]["finalizers"], json!(["x/2", "x/1"]));
}

#[test]
fn a_list_of_items_can_be_replaced_and_a_missing_one_has_no_directives() {
    let object = pod(&json!([{ "name": "a", "image": "1" }]));
    let patch = pod(&json!([{ "name": "b" }, { "$patch": "replace" }]));
    assert_eq!(patched(&object, &patch, "Pod").unwrap(), pod(&json!([{ "name": "b" }])));
    let patch = pod(&json!([{ "name": "b" }, { "name": "c", "$patch": "delete" }]));
    let result = patched(&json!({ "metadata": { "name": "p" } }), &patch, "Pod").unwrap();
    assert_eq!(result, pod(&json!([{ "name": "b" }])));
}

#[test]
fn an_item_takes_the_place_of_one_that_the_same_patch_deletes() {
    let object = pod(&json!([{ "name": "a" }, { "name": "b" }]));
    let patch = json!({ "spec": { "$setElementOrder/containers": [{ "name": "c" }],
        "containers": [{ "name": "a", "$patch": "delete" }, { "name": "c" }] } });
    let result = patched(&object, &patch, "Pod").unwrap();
    assert_eq!(result, pod(&json!([{ "name": "b" }, { "name": "c" }])));
    let patch = json!({ "spec": {
        "containers": [{ "name": "a", "$patch": "delete" }, { "name": "c" }] } });
    let result = patched(&object, &patch, "Pod").unwrap();
    assert_eq!(result, pod(&json!([{ "name": "c" }, { "name": "b" }])));
}

#[test]
fn a_replaced_list_is_what_the_patch_has() {
    let object = pod(&json!([{ "name": "a", "image": "1" }]));
    let patch = pod(&json!([{ "$patch": "replace" }, { "name": "a" }, { "name": "a" }]));
    let result = patched(&object, &patch, "Pod").unwrap();
    assert_eq!(result, pod(&json!([{ "name": "a" }, { "name": "a" }])));
}

#[test]
fn what_contradicts_itself_is_refused() {
    let object = pod(&json!([{ "name": "a" }]));
    for (patch, status) in [
        (json!({ "metadata": { "$patch": "nonsense" } }), 500),
        (pod(&json!([{ "image": "without a name" }])), 500),
        (pod(&json!(["no object"])), 500),
        (pod(&json!([{ "name": "a", "$patch": "merge" }])), 500),
        (
            json!({ "spec": { "$setElementOrder/containers": [{ "name": "z" }],
            "containers": [{ "name": "a" }] } }),
            500,
        ),
        (
            json!({ "spec": { "$setElementOrder/containers": [{ "name": "a" }],
            "containers": [{ "name": "a" }, { "name": "b", "$patch": "replace" }] } }),
            500,
        ),
        (json!({ "metadata": { "$setElementOrder/finalizers": ["x"], "finalizers": [] } }), 500),
        (json!({ "spec": { "$setElementOrder": [] } }), 400),
        (json!({ "spec": { "$retainKeys": 1 } }), 400),
        (json!({ "spec": { "$deleteFromPrimitiveList": ["x"] } }), 400),
        (json!([]), 400),
    ] {
        let error = patched(&object, &patch, "Pod").unwrap_err();
        assert_eq!(error.status, status, "{patch}: {error}");
    }
}

#[test]
fn a_template_is_merged_as_a_pod_is() {
    let deployment = |containers: Value| json!({ "spec": { "template": pod(&containers) } });
    let object = deployment(json!([{ "name": "a", "image": "1" }, { "name": "b" }]));
    let patch = deployment(json!([{ "name": "a", "image": "2" }]));
    let expected = deployment(json!([{ "name": "a", "image": "2" }, { "name": "b" }]));
    assert_eq!(patched(&object, &patch, "Deployment").unwrap(), expected);
}
