use serde_json::{Value, json};

use super::{by, object, update};
use crate::patch::built_in::built_in;
use crate::patch::set::FieldSet;
use crate::patch::types::{Kind, ListKind};
use crate::patch::{Types, apply, track};

const KINDS: [(&str, &str); 15] = [
    ("", "ConfigMap"),
    ("", "Secret"),
    ("", "Pod"),
    ("", "Service"),
    ("", "Event"),
    ("", "Node"),
    ("", "Namespace"),
    ("", "ServiceAccount"),
    ("", "PersistentVolumeClaim"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("apps", "StatefulSet"),
    ("batch", "Job"),
    ("coordination.k8s.io", "Lease"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
];

#[test]
fn every_built_in_kind_is_there_with_its_metadata() {
    for (group, kind) in KINDS {
        let types = Types::built_in(group, "v1", kind).unwrap_or_else(|| panic!("{kind}"));
        let metadata = types.member(types.root(), "metadata");
        let list = |name: &str| match types.kind(types.member(metadata, name)) {
            Kind::List { how, .. } => how.clone(),
            other => panic!("{kind} {name}: {other:?}"),
        };
        assert_eq!(list("finalizers"), ListKind::Set, "{kind}");
        assert_eq!(list("ownerReferences"), ListKind::Map(vec!["uid".to_owned()]), "{kind}");
    }
    assert!(Types::built_in("apps", "v1", "Pod").is_none());
    assert!(Types::built_in("", "v2", "Pod").is_none());
    assert!(Types::built_in("", "v1", "PodSpec").is_none(), "a part is no kind");
}

/// Every name that the text uses is defined in it, and the keys of lists are fields of their items.
#[test]
fn the_text_of_the_built_in_kinds_is_whole() {
    let text = include_str!("../built_in.txt");
    for line in text.lines().filter(|line| line.starts_with(' ')) {
        let kind = line.split_whitespace().nth(1).unwrap();
        let name = kind.trim_matches(['[', ']', '{', '}']);
        let known = ["s", "n", "b", "u", "*"].contains(&name);
        assert!(known || built_in().names.contains_key(name), "{line}");
    }
    let mut lists = 0;
    for kind in &built_in().kinds {
        let Kind::Map { fields, .. } = kind else { continue };
        for (name, field) in fields {
            let Kind::List { items, how } = &built_in().kinds[field.kind] else { continue };
            let mut keys = match how {
                ListKind::Map(keys) => keys.clone(),
                _ => Vec::new(),
            };
            keys.extend(field.strategy.merge.clone().flatten());
            lists += keys.len();
            let Kind::Map { fields, .. } = &built_in().kinds[*items] else {
                assert!(keys.is_empty(), "{name}");
                continue;
            };
            for key in keys {
                assert!(fields.contains_key(&key), "{name} has no {key}");
            }
        }
    }
    assert!(lists > 50, "{lists}");
}

#[test]
fn a_schema_without_anything_still_has_metadata() {
    for schema in [json!({}), json!(null), json!({ "type": "object" }), json!([1])] {
        let types = Types::from_schema(&schema);
        let mut new = object(&json!({ "a": 1 }));
        new["metadata"]["finalizers"] = json!(["a/b"]);
        track(None, &mut new, &update("m"), &types);
        let fields = &new["metadata"]["managedFields"][0]["fieldsV1"]["f:metadata"];
        assert_eq!(fields["f:finalizers"], json!({ ".": {}, r#"v:"a/b""#: {} }), "{schema}");
    }
}

#[test]
fn a_map_that_became_one_value_is_owned_as_one() {
    let schema = |kind: &str| {
        json!({ "type": "object", "properties": { "spec": { "type": "object", "properties": {
            "m": { "type": "object", "additionalProperties": { "type": "string" },
                "x-kubernetes-map-type": kind } } } } })
    };
    let granular = Types::from_schema(&schema("granular"));
    let atomic = Types::from_schema(&schema("atomic"));
    let one = apply(None, &object(&json!({ "m": { "a": "1" } })), &by("m1"), &granular).unwrap();
    let wanted = object(&json!({ "m": { "b": "1" } }));
    let error = apply(Some(&one), &wanted, &by("m2"), &atomic).unwrap_err();
    assert!(error.message.ends_with("\"m1\": .spec.m"), "{error}");
}

#[test]
fn the_wire_form_of_a_set_is_read_as_it_is_written() {
    let wire = json!({
        "f:a": {},
        "f:b": { ".": {}, "f:c": {} },
        "f:d": { r#"k:{"a":1,"b":"x"}"#: { ".": {} }, r#"v:"t""#: {}, "i:3": {} },
    });
    let set = FieldSet::from_wire(&wire).unwrap();
    let expected = json!({
        "f:a": {},
        "f:b": { ".": {}, "f:c": {} },
        "f:d": { r#"k:{"a":1,"b":"x"}"#: {}, r#"v:"t""#: {}, "i:3": {} },
    });
    assert_eq!(set.into_wire(), expected);
    let spaced = json!({ r#"k:{ "b" : "x", "a": 1 }"#: {} });
    assert_eq!(
        FieldSet::from_wire(&spaced).unwrap().into_wire(),
        json!({ r#"k:{"a":1,"b":"x"}"#: {} })
    );
    for broken in [json!([]), json!({ "x:a": {} }), json!({ "k:{}": {} }), json!({ "f:a": 1 })] {
        assert_eq!(FieldSet::from_wire(&broken), None, "{broken}");
    }
    assert_eq!(
        FieldSet::from_wire(&Value::Object(serde_json::Map::new())),
        Some(FieldSet::default())
    );
}
