use serde_json::{Value, json};

use super::{by, object, update, widget};
use crate::patch::{apply, json as patch, merge, strategic, track};

fn deep(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| {
        Value::Object(serde_json::Map::from_iter([("a".to_owned(), inner)]))
    })
}

/// Dropping such a value by recursion would overflow the stack.
fn forget(value: Value) {
    let mut left = vec![value];
    while let Some(mut value) = left.pop() {
        if let Some(members) = value.as_object_mut() {
            left.extend(std::mem::take(members).into_iter().map(|(_, member)| member));
        }
    }
}

#[test]
fn copies_are_bounded_in_bytes() {
    let object = json!({ "a": "x".repeat(1000), "b": [] });
    let copies = |count: usize| vec![json!({ "op": "copy", "from": "/a", "path": "/b/-" }); count];
    let few = patch(&object, json!(copies(1000)).to_string().as_bytes()).unwrap();
    assert_eq!(few["b"].as_array().unwrap().len(), 1000);
    let many = patch(&object, json!(copies(4000)).to_string().as_bytes()).unwrap_err();
    assert_eq!(many.status, 422);
    // Each copy of the whole doubles it.
    let bomb = vec![json!({ "op": "copy", "from": "/b", "path": "/b/-" }); 60];
    let seed = json!({ "b": ["0123456789"] });
    assert_eq!(patch(&seed, json!(bomb).to_string().as_bytes()).unwrap_err().status, 422);
}

#[test]
fn operations_are_bounded_in_number() {
    let operations = vec![json!({ "op": "test", "path": "/a", "value": 1 }); 10_001];
    let error = patch(&json!({ "a": 1 }), json!(operations).to_string().as_bytes()).unwrap_err();
    assert_eq!((error.status, error.reason), (413, Some("RequestEntityTooLarge")));
    assert!(error.message.contains("10000, got 10001"), "{error}");
}

#[test]
fn moves_are_bounded_in_what_they_move() {
    let big = json!({ "a": vec![1; 2000] });
    let there_and_back = [
        json!({ "op": "move", "from": "/a", "path": "/b" }),
        json!({ "op": "move", "from": "/b", "path": "/a" }),
    ];
    let many = there_and_back.into_iter().cycle().take(10_000).collect::<Vec<_>>();
    assert_eq!(patch(&big, json!(many).to_string().as_bytes()).unwrap_err().status, 422);
}

#[test]
fn nesting_is_bounded_whatever_made_it() {
    // By the text, by operations that nest one another, and in the object itself.
    let text = format!(
        "[{{\"op\":\"add\",\"path\":\"/x\",\"value\":{}1{}}}]",
        "[".repeat(5000),
        "]".repeat(5000)
    );
    assert_eq!(patch(&json!({}), text.as_bytes()).unwrap_err().status, 400);
    let text = format!("{{\"a\":{}1{}}}", "{\"a\":".repeat(5000), "}".repeat(5000));
    assert_eq!(merge(&json!({}), text.as_bytes()).unwrap_err().status, 400);
    assert_eq!(strategic(&json!({}), text.as_bytes(), &widget()).unwrap_err().status, 400);
    let nest = (0..200)
        .map(|level| json!({ "op": "add", "path": format!("/a{}", "/a".repeat(level)), "value": {} }))
        .collect::<Vec<_>>();
    assert_eq!(patch(&json!({}), json!(nest).to_string().as_bytes()).unwrap_err().status, 422);
    let moves = (0..300).flat_map(|level| {
        [
            json!({ "op": "add", "path": format!("/n{}", level + 1), "value": {} }),
            json!({ "op": "move", "from": format!("/n{level}"), "path": format!("/n{}/x", level + 1) }),
        ]
    });
    let moves = moves.collect::<Vec<_>>();
    assert_eq!(
        patch(&json!({ "n0": {} }), json!(moves).to_string().as_bytes()).unwrap_err().status,
        422
    );
}

#[test]
fn an_object_that_is_too_deep_is_refused_and_tracked_no_more() {
    let live = deep(10_000);
    assert_eq!(patch(&live, b"[]").unwrap_err().status, 422);
    assert_eq!(merge(&live, b"{}").unwrap_err().status, 400);
    assert_eq!(strategic(&live, b"{}", &widget()).unwrap_err().status, 400);
    let small = object(&json!({}));
    assert_eq!(apply(Some(&live), &small, &by("m"), &widget()).unwrap_err().status, 400);
    assert_eq!(apply(Some(&small), &live, &by("m"), &widget()).unwrap_err().status, 400);
    let mut new = object(&json!({}));
    new["spec"] = deep(10_000);
    track(None, &mut new, &update("m"), &widget());
    assert_eq!(new["metadata"].get("managedFields"), None);
    forget(new);
    forget(live);
}

#[test]
fn long_lists_are_merged_in_about_linear_time() {
    let tags = (0..20_000).map(|n| format!("t{n}")).collect::<Vec<_>>();
    let began = std::time::Instant::now();
    let one = apply(None, &object(&json!({ "tags": tags })), &by("m1"), &widget()).unwrap();
    let again = apply(Some(&one), &object(&json!({ "tags": tags })), &by("m2"), &widget()).unwrap();
    assert_eq!(again["spec"]["tags"].as_array().unwrap().len(), tags.len());
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}
