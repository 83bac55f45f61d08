//! Made-up values, patches and specs.

use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn map(members: impl IntoIterator<Item = (String, Value)>) -> Value {
    Value::Object(members.into_iter().collect::<Map<_, _>>())
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::from),
        (0..3_i64).prop_map(Value::from),
        "[ab]".prop_map(Value::from),
    ]
}

fn name() -> impl Strategy<Value = String> {
    "[abc~/]".prop_map(String::from)
}

/// Any value of few names and no nulls.
pub(super) fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            btree_map(name(), inner, 0..4).prop_map(map),
        ]
    })
}

pub(super) fn document() -> impl Strategy<Value = Value> {
    btree_map(name(), value(), 0..4).prop_map(map)
}

/// A merge patch: a value in which members may be null, but none within a list.
pub(super) fn merge_patch() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(Value::Null), value()];
    let inner = leaf.prop_recursive(3, 24, 4, |inner| btree_map(name(), inner, 0..4).prop_map(map));
    btree_map(name(), inner, 0..4).prop_map(map)
}

/// Operations that mostly point to somewhere.
pub(super) fn operations() -> impl Strategy<Value = Value> {
    let pointer = || vec("/[abc01-]|/~[012]", 0..4).prop_map(|parts| parts.concat());
    let op = prop_oneof!["add|remove|replace|test|move|copy", "[a-z]?"];
    let operation = (op, pointer(), pointer(), option::of(value()));
    let operation = operation.prop_map(|(op, path, from, value)| {
        let mut operation = json!({ "op": op, "path": path, "from": from });
        if let Some(value) = value {
            operation["value"] = value;
        }
        operation
    });
    vec(operation, 0..8).prop_map(Value::Array)
}

/// The specs that a manager of widgets may want.
pub(super) fn spec() -> impl Strategy<Value = Value> {
    let port = (0..3_u8).prop_map(|port| json!(port));
    let ports = btree_map("[abc]", option::of(port), 0..3).prop_map(|ports| {
        let ports = ports.into_iter().map(|(name, port)| match port {
            Some(port) => json!({ "name": name, "port": port }),
            None => json!({ "name": name }),
        });
        Value::Array(ports.collect())
    });
    let tags = btree_set("[abc]", 0..3).prop_map(|tags| json!(tags));
    let shape = (0..3_u8).prop_map(|sides| json!({ "sides": sides }));
    let field = |name: &'static str, value: BoxedStrategy<Value>| {
        option::of(value.prop_map(move |value| (name.to_owned(), value)))
    };
    (
        field("size", (0..3_u8).prop_map(|size| json!(size)).boxed()),
        field("color", "[rg]".prop_map(Value::from).boxed()),
        field("ports", ports.boxed()),
        field("tags", tags.boxed()),
        field("shape", shape.boxed()),
        field("extra", document().boxed()),
        field("steps", vec("[ab]", 0..3).prop_map(|steps| json!(steps)).boxed()),
    )
        .prop_map(|(a, b, c, d, e, f, g)| map([a, b, c, d, e, f, g].into_iter().flatten()))
}

/// A strategic patch of a pod, with directives that may or may not make sense.
pub(super) fn strategic_patch() -> impl Strategy<Value = Value> {
    let word = || prop_oneof!["delete|replace|merge|[a-z]"];
    let item = (option::of("[abc]"), option::of(word()), option::of(scalar()));
    let item = item.prop_map(|(name, word, image)| {
        let mut item = json!({});
        for (key, value) in [("name", name), ("$patch", word)] {
            if let Some(value) = value {
                item[key] = json!(value);
            }
        }
        if let Some(image) = image {
            item["image"] = image;
        }
        item
    });
    let items = vec(prop_oneof![8 => item, 1 => scalar()], 0..4).prop_map(Value::Array);
    let key = "containers|finalizers|\\$setElementOrder/containers|\\$retainKeys|\\$patch|\
               \\$deleteFromPrimitiveList/finalizers|\\$setElementOrder|labels";
    let leaf = prop_oneof![2 => items, 1 => value(), 1 => word().prop_map(Value::from)];
    let part = || btree_map(key, leaf.clone(), 0..4).prop_map(map);
    (part(), part()).prop_map(|(spec, metadata)| json!({ "spec": spec, "metadata": metadata }))
}
