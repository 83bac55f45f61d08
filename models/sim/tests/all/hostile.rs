//! Bodies that are meant to break the server: it answers each of them, in few words, and goes on.

use crate::common::{MAPS, answer, server};
use proptest::prelude::*;
use seatrial_sim::apiserver::{Request, Server};
use serde_json::{Value, json};

const WIDGETS: &str = "/apis/sim.example.com/v1/namespaces/default/widgets";
const GADGETS: &str = "/apis/sim.example.com/v1/namespaces/default/gadgets";
const SECRETS: &str = "/api/v1/namespaces/default/secrets";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const FORMATS: [&str; 4] =
    ["json-patch+json", "merge-patch+json", "strategic-merge-patch+json", "apply-patch+yaml"];

fn patch(path: &str, format: &str, body: &Value) -> Request {
    let request = Request::new("PATCH", &format!("{path}/a?fieldManager=m"));
    request.content(&format!("application/{format}"), body.to_string())
}

/// A server with an object `a` of some kinds.
fn filled() -> Server {
    let mut server = server(1);
    let metadata = json!({"name": "a", "labels": {"app": "x"}, "finalizers": ["a/b"]});
    let template = json!({"metadata": {"labels": {"app": "x"}},
        "spec": {"containers": [{"name": "c", "image": "i", "env": [{"name": "E", "value": "v"}]}]}});
    let parts = json!([{"name": "p", "labels": {"l": "m"}}]);
    for (path, kind, version, mut body) in [
        (
            WIDGETS,
            "Widget",
            "sim.example.com/v1",
            json!({"spec": {"tags": ["t"], "ports": [{"name": "p", "port": 1}], "x": [1, [2]]}}),
        ),
        (GADGETS, "Gadget", "sim.example.com/v1", json!({"spec": {"mode": "on", "parts": parts}})),
        (SECRETS, "Secret", "v1", json!({"stringData": {"password": "hunter2"}})),
        (MAPS, "ConfigMap", "v1", json!({"data": {"a": "b"}})),
        (
            DEPLOYMENTS,
            "Deployment",
            "apps/v1",
            json!({"spec": {"selector": {"matchLabels": {"app": "x"}}, "template": template}}),
        ),
    ] {
        body["metadata"] = metadata.clone();
        (body["kind"], body["apiVersion"]) = (kind.into(), version.into());
        let made = answer(&mut server, &Request::new("POST", path).json(&body));
        assert_eq!(made.status, 201, "{made:?}");
    }
    server
}

#[test]
fn an_object_that_a_patch_replaces_by_no_object_is_refused() {
    let mut server = filled();
    for path in [WIDGETS, SECRETS, MAPS, DEPLOYMENTS] {
        for whole in
            [json!([]), json!([{"kind": "x"}]), json!({}), json!("x"), json!(7), Value::Null]
        {
            for sub in ["", "/status", "/scale"] {
                let body = json!([{"op": "replace", "path": "", "value": whole}]).to_string();
                let request = Request::new("PATCH", &format!("{path}/a{sub}"));
                let request = request.content("application/json-patch+json", body);
                let found = answer(&mut server, &request);
                assert!(matches!(found.status, 400 | 404 | 422), "{path}{sub} {whole}: {found:?}");
            }
        }
    }
}

#[test]
fn a_mistake_that_is_made_often_is_told_a_hundred_times() {
    let mut server = filled();
    let keys = |count: usize| (0..count).map(|n| format!("k{n}")).collect::<Vec<_>>();
    let fields = |value: &Value| keys(1_000).into_iter().map(|key| (key, value.clone())).collect();
    let unknown: Value = Value::Object(fields(&json!(1)));
    let strict = Request::new("POST", &format!("{MAPS}?fieldValidation=Strict"));
    let mut map = json!({"metadata": {"name": "b"}});
    map.as_object_mut().expect("an object").extend(unknown.as_object().expect("one").clone());
    let found = answer(&mut server, &strict.json(&map));
    let message = found.json().expect("a status")["message"].as_str().expect("a text").to_owned();
    assert_eq!((found.status, message.matches("unknown field").count()), (400, 100));
    for metadata in [
        json!({"name": "b", "labels": Value::Object(fields(&json!("no such!")))}),
        json!({"name": "b", "finalizers": keys(1_000)}),
        json!({"name": "b", "ownerReferences": keys(1_000).iter().map(|key| json!({"name": key})).collect::<Vec<_>>()}),
    ] {
        let found =
            answer(&mut server, &Request::new("POST", MAPS).json(&json!({"metadata": metadata})));
        let causes = found.json().expect("a status")["details"]["causes"].as_array().map(Vec::len);
        assert_eq!((found.status, causes), (422, Some(100)), "{metadata}");
    }
    let names: Vec<_> = keys(1_000).iter().map(|key| json!({"name": key, "port": "x"})).collect();
    let body = json!({"apiVersion": "sim.example.com/v1", "kind": "Widget",
        "metadata": {"name": "b"}, "spec": {"ports": names}});
    let found = answer(&mut server, &patch(WIDGETS, "apply-patch+yaml", &body));
    assert!(found.status >= 400);
}

#[test]
fn a_long_mistake_is_told_in_few_words() {
    let mut server = filled();
    let long = "x".repeat(1_000_000);
    for metadata in [
        json!({"name": long}),
        json!({"name": "b", "labels": {&long: &long}}),
        json!({"name": "b", "finalizers": [&long]}),
        json!({"name": "b", "ownerReferences": [{"controller": true, "name": &long}, {"controller": true}]}),
    ] {
        let object = json!({"metadata": metadata, &long: 1});
        let found = answer(&mut server, &Request::new("POST", MAPS).json(&object));
        assert_eq!(found.status, 422);
        assert!(found.body.bytes().len() < 100_000);
        assert!(found.headers.iter().map(|(_, text)| text.len()).sum::<usize>() < 10_000);
    }
}

#[test]
fn no_error_tells_a_secret() {
    let mut server = filled();
    let secret = json!("hunter2");
    let mut requests = vec![
        Request::new("POST", SECRETS).content("application/json", "{\"data\": \"hunter2\", "),
        Request::new("POST", SECRETS).content("application/json", "hunter2"),
        Request::new("POST", SECRETS).json(&secret),
        Request::new("PUT", &format!("{SECRETS}/a"))
            .json(&json!({"kind": "hunter2x"[..6], "x": secret})),
    ];
    for wrong in [
        json!({"metadata": {"name": "a"}, "stringData": secret}),
        json!({"metadata": {"name": "a"}, "stringData": {"a": {"b": secret}}}),
        json!({"metadata": {"name": "a"}, "data": {"a": "hunter2!"}}),
        json!({"metadata": {"name": "a"}, "immutable": secret}),
    ] {
        requests.push(Request::new("POST", SECRETS).json(&wrong));
        for format in FORMATS {
            let mut wrong = wrong.clone();
            (wrong["apiVersion"], wrong["kind"]) = ("v1".into(), "Secret".into());
            requests.push(patch(SECRETS, format, &wrong));
        }
    }
    for path in ["/data", "/immutable", ""] {
        requests.push(patch(
            SECRETS,
            FORMATS[0],
            &json!([{"op": "replace", "path": path, "value": secret}]),
        ));
        requests.push(patch(
            SECRETS,
            FORMATS[0],
            &json!([{"op": "add", "path": "/data", "value": {"a": ["hunter2"]}}]),
        ));
    }
    for request in requests {
        let found = answer(&mut server, &request);
        let text = String::from_utf8_lossy(&found.body.bytes()).into_owned();
        assert!(found.status >= 400, "{request:?}: {text}");
        assert!(!text.contains("hunter2") && !text.contains("68756e74"), "{request:?}: {text}");
    }
}

/// Names that mean something to some part of the server.
const NAMES: [&str; 40] = [
    "metadata",
    "spec",
    "status",
    "data",
    "kind",
    "apiVersion",
    "name",
    "labels",
    "annotations",
    "finalizers",
    "ownerReferences",
    "managedFields",
    "fieldsV1",
    "manager",
    "operation",
    "resourceVersion",
    "uid",
    "template",
    "selector",
    "matchLabels",
    "containers",
    "env",
    "tags",
    "ports",
    "parts",
    "port",
    "x",
    "0",
    "1",
    "-1",
    "-",
    "",
    "$patch",
    "$retainKeys",
    "$setElementOrder/containers",
    "$deleteFromPrimitiveList/finalizers",
    "replicas",
    "deletionTimestamp",
    "app",
    "key",
];

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec!["", "a", "c", "p", "replace", "delete", "merge", "Apply", "v1"])
            .prop_map(Value::from),
        "\\PC{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = prop::sample::select(NAMES.to_vec()).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn operations() -> impl Strategy<Value = Value> {
    let path =
        prop::collection::vec(prop::sample::select(NAMES.to_vec()), 0..5).prop_map(|parts| {
            parts.iter().map(|part| format!("/{}", part.replace('/', "~1"))).collect::<String>()
        });
    let op = prop::sample::select(vec!["add", "remove", "replace", "move", "copy", "test", "x"]);
    let one = (op, path.clone(), path, values()).prop_map(
        |(op, path, from, value)| json!({"op": op, "path": path, "from": from, "value": value}),
    );
    prop::collection::vec(one, 1..4).prop_map(Value::from)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hostile_bodies_are_answered(
        steps in prop::collection::vec((0..5_usize, 0..6_usize, 0..4_usize, operations(), values()), 1..16),
    ) {
        thread_local! {
            static FILLED: Server = filled();
        }
        let mut server = FILLED.with(Server::clone);
        for (which, verb, sub, operations, value) in steps {
            let (path, kind, version) = [
                (WIDGETS, "Widget", "sim.example.com/v1"),
                (GADGETS, "Gadget", "sim.example.com/v1"),
                (SECRETS, "Secret", "v1"),
                (MAPS, "ConfigMap", "v1"),
                (DEPLOYMENTS, "Deployment", "apps/v1"),
            ][which];
            let named = |mut value: Value| {
                if let Some(fields) = value.as_object_mut() {
                    (fields.insert("kind".to_owned(), kind.into()));
                    fields.insert("apiVersion".to_owned(), version.into());
                    let metadata = fields.entry("metadata").or_insert_with(|| json!({}));
                    if let Some(metadata) = metadata.as_object_mut() {
                        metadata.insert("name".to_owned(), "a".into());
                    }
                }
                value
            };
            let sub = ["", "", "/status", "/scale"][sub];
            let target = format!("{path}/a{sub}?fieldManager=m&force=true");
            let plain = format!("{path}/a{sub}?fieldManager=m");
            let content = |at: &str, kind: &str, body: &Value| {
                Request::new("PATCH", at).content(&format!("application/{kind}"), body.to_string())
            };
            let request = match verb {
                0 => Request::new("POST", path).json(&named(value)),
                1 => Request::new("PUT", &plain).json(&named(value)),
                2 => content(&plain, FORMATS[0], &operations),
                3 => content(&plain, FORMATS[1], &value),
                4 => content(&plain, FORMATS[2], &value),
                _ => content(&target, FORMATS[3], &named(value)),
            };
            let found = answer(&mut server, &request);
            let known = [200, 201, 400, 404, 405, 409, 413, 415, 422, 500];
            prop_assert!(known.contains(&found.status), "{found:?}");
            prop_assert!(found.body.bytes().len() < 1_000_000);
        }
    }
}
