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

#[test]
fn what_is_mounted_is_merged_by_its_path() {
    let object =
        pod(&json!([{ "name": "a", "volumeMounts": [{ "mountPath": "/m", "name": "v" }] }]));
    let mounts =
        json!([{ "mountPath": "/m", "readOnly": true }, { "mountPath": "/n", "name": "v" }]);
    let patch = pod(&json!([{ "name": "a", "volumeMounts": mounts }]));
    let result = patched(&object, &patch, "Pod").unwrap();
    let merged = json!([{ "mountPath": "/m", "name": "v", "readOnly": true }, { "mountPath": "/n", "name": "v" }]);
    assert_eq!(result["spec"]["containers"][0]["volumeMounts"], merged);
}
