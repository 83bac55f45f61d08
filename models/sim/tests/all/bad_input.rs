//! Whatever comes in, a fitting status goes out, and nothing panics.

use std::time::Duration;

use crate::common::{MAPS, answer, server, traces};
use proptest::prelude::*;
use seatrial_sim::apiserver::{Answer, Request, Response, Server};
use seatrial_sim::conformance::Step;
use serde_json::{Value, json};

fn status(request: &Request) -> u16 {
    answer(&mut server(1), request).status
}

#[test]
fn bodies_that_are_no_objects_are_refused() {
    let post =
        |body: Vec<u8>| status(&Request::new("POST", MAPS).content("application/json", body));
    for body in ["", "{", "[]", "null x", "\"x\"", "1e999", "{\"a\":}", "nul"] {
        assert_eq!(post(body.into()), 400, "{body}");
    }
    assert_eq!(post(vec![b'{', b'"', 0xff, b'"', b':', b'1', b'}']), 400);
    assert_eq!(post(b"[".repeat(1_000_000)), 400);
    assert_eq!(post(br#"{"a":"#.repeat(500_000)), 400);
    assert_eq!(post(vec![b' '; 3 * 1024 * 1024 + 1]), 413);
    let mut large = br#"{"metadata":{"name":"a"},"data":{"a":""#.to_vec();
    large.resize(3 * 1024 * 1024 - 3, b'x');
    large.extend(b"\"}}");
    assert_eq!(post(large), 201);
}

#[test]
fn what_is_not_served_is_not_found() {
    for (method, path, expected) in [
        ("GET", "", 404),
        ("GET", "/", 404),
        ("GET", "/apis/none.example.com", 404),
        ("GET", "/apis/apps/v9", 404),
        ("POST", "/api", 405),
        ("GET", "/apis/none.example.com/v1/things", 404),
        ("GET", "/api/v1/namespaces/default/gizmos", 404),
        ("GET", "/api/v1/namespaces/default/nodes", 404),
        ("GET", "/api/v1/configmaps/a", 404),
        ("GET", "/api/v1/namespaces/default/configmaps/a/status", 404),
        ("GET", "/api/v1/namespaces/default/configmaps/a/b/c", 404),
        ("GET", "/api/v1/namespaces/default/configmaps/%2e%2e%2f", 404),
        ("BREW", MAPS, 405),
        ("PUT", MAPS, 405),
        ("POST", "/api/v1/namespaces/default/configmaps/a", 405),
        ("DELETE", "/api/v1/watch/namespaces/default/configmaps", 405),
        ("DELETE", "/apis/sim.example.com/v1/namespaces/default/widgets/a/status", 405),
    ] {
        assert_eq!(status(&Request::new(method, path)), expected, "{method} {path}");
    }
}

#[test]
fn wrong_types_are_refused_wherever_they_stand() {
    let object = json!({
        "metadata": {
            "name": "a", "labels": {"a": "b"}, "annotations": {"a": "b"}, "finalizers": ["a/b"],
            "generation": 1, "ownerReferences": [{"controller": true}],
        },
        "data": {"a": "b"}, "immutable": false,
    });
    let places = [
        "/metadata",
        "/metadata/name",
        "/metadata/labels",
        "/metadata/labels/a",
        "/metadata/annotations",
        "/metadata/finalizers",
        "/metadata/finalizers/0",
        "/metadata/generation",
        "/metadata/ownerReferences",
        "/metadata/ownerReferences/0",
        "/metadata/ownerReferences/0/controller",
        "/data",
        "/data/a",
        "/immutable",
    ];
    for place in places {
        for wrong in [json!(7.5), json!([[]]), json!({"": [{}]})] {
            let mut object = object.clone();
            *object.pointer_mut(place).expect("the place is there") = wrong.clone();
            let found = status(&Request::new("POST", MAPS).json(&object));
            // Objects may hold anything where objects may stand, and are refused for their content.
            assert!(matches!(found, 400 | 422), "{place} {wrong}: {found}");
        }
    }
}

/// A JSON value that fits nothing in particular.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z0-9./~-]{0,8}".prop_map(Value::from),
        ".{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let key = prop_oneof![
            "(metadata|spec|status|name|labels|finalizers|names|versions|schema|containers)",
            "[a-z]{0,3}",
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// The values of an object, in the order of a walk.
fn replace(value: &mut Value, left: &mut usize, with: &Value) {
    if *left == 0 {
        value.clone_from(with);
    }
    *left = left.wrapping_sub(1);
    match value {
        Value::Object(fields) => fields.values_mut().for_each(|it| replace(it, left, with)),
        Value::Array(items) => items.iter_mut().for_each(|it| replace(it, left, with)),
        _ => {}
    }
}

/// A recorded request with some of it changed.
#[derive(Clone, Debug)]
struct Changed {
    which: usize,
    method: Option<&'static str>,
    plural: Option<&'static str>,
    query: Option<(&'static str, String)>,
    media_type: Option<&'static str>,
    place: usize,
    with: Option<Value>,
    cut: Option<usize>,
}

fn changed() -> impl Strategy<Value = Changed> {
    let methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", ""];
    let plurals = [
        "secrets",
        "pods",
        "services",
        "events",
        "nodes",
        "namespaces",
        "serviceaccounts",
        "persistentvolumeclaims",
        "x",
    ];
    let parameters = [
        "limit",
        "continue",
        "resourceVersion",
        "resourceVersionMatch",
        "labelSelector",
        "fieldSelector",
        "watch",
        "sendInitialEvents",
        "timeoutSeconds",
        "dryRun",
        "fieldManager",
        "force",
        "fieldValidation",
        "propagationPolicy",
    ];
    let types = [
        "application/json-patch+json",
        "application/merge-patch+json",
        "",
        "application/strategic-merge-patch+json",
        "application/apply-patch+yaml",
    ];
    let value = prop_oneof!["[a-zA-Z0-9=!,()<> .-]{0,12}", ".{0,5}", Just("All".to_owned())];
    (
        any::<usize>(),
        prop::option::weighted(0.2, prop::sample::select(methods.to_vec())),
        prop::option::weighted(0.3, prop::sample::select(plurals.to_vec())),
        prop::option::weighted(0.4, (prop::sample::select(parameters.to_vec()), value)),
        prop::option::weighted(0.2, prop::sample::select(types.to_vec())),
        0..20_usize,
        prop::option::weighted(0.6, any_json()),
        prop::option::weighted(0.1, 0..200_usize),
    )
        .prop_map(|(which, method, plural, query, media_type, place, with, cut)| Changed {
            which,
            method,
            plural,
            query,
            media_type,
            place,
            with,
            cut,
        })
}

fn recorded() -> Vec<Value> {
    let files = ["crud", "finalizers", "lease", "list", "patch", "watch"];
    let traces = files.iter().flat_map(|file| traces(file).into_iter().take(8));
    let steps = traces.flat_map(|trace| trace.steps);
    steps
        .filter_map(|step| match step {
            Step::Call { request, .. } | Step::Open { request, .. } => Some(request),
            _ => None,
        })
        .collect()
}

fn build(recorded: &[Value], change: &Changed) -> Request {
    let request = &recorded[change.which % recorded.len()];
    let part = |value: &Value| value.as_str().unwrap_or("").replace("ns-1", "default");
    let mut path = part(&request["path"]);
    if let Some(plural) = change.plural {
        path = path.replace("configmaps", plural).replace("leases", plural);
    }
    let query = request["query"].as_array().into_iter().flatten();
    let mut query: Vec<_> = query.map(|pair| (part(&pair[0]), part(&pair[1]))).collect();
    query.extend(change.query.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    let headers = request["headers"].as_object().into_iter().flatten();
    let mut headers: Vec<_> = headers.map(|(key, value)| (key.clone(), part(value))).collect();
    if let Some(media_type) = change.media_type {
        headers.insert(0, ("content-type".to_owned(), media_type.to_owned()));
    }
    let mut body = request["body"].clone();
    if let Some(with) = &change.with {
        replace(&mut body, &mut change.place.clone(), with);
    }
    let mut body =
        if body.is_null() { Vec::new() } else { part(&body.to_string().into()).into_bytes() };
    if let Some(cut) = change.cut {
        body.truncate(cut);
    }
    let method = change.method.map_or_else(|| part(&request["method"]), str::to_owned);
    Request { method, path, query, headers, body, by: None }
}

/// The properties of every answer.
fn check(response: &Response) -> Result<(), TestCaseError> {
    let known = [200, 201, 202, 400, 403, 404, 405, 406, 409, 410, 413, 415, 422, 500, 504];
    prop_assert!(known.contains(&response.status), "{response:?}");
    if response.status >= 400
        && let Some(body) = response.json()
    {
        prop_assert_eq!(&body["kind"], "Status");
        prop_assert_eq!(&body["code"], response.status);
        prop_assert_eq!(&body["status"], "Failure");
        prop_assert!(body["message"].is_string());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_requests_are_answered(changes in prop::collection::vec(changed(), 1..40)) {
        thread_local! {
            static RECORDED: Vec<Value> = recorded();
            static FRESH: Server = server(1);
        }
        let mut server = FRESH.with(Server::clone);
        let mut watches = Vec::new();
        for change in &changes {
            let request = RECORDED.with(|recorded| build(recorded, change));
            let before = server.revision();
            match server.handle(Duration::from_secs(1), &request) {
                Answer::Response(response) => check(&response)?,
                Answer::Watch { id, head } => {
                    check(&head)?;
                    watches.push(id);
                }
                Answer::Lost => prop_assert!(false, "no fault was injected"),
            }
            prop_assert!(server.revision() >= before);
            prop_assert!(request.method != "GET" || server.revision() == before);
        }
        for id in watches {
            server.events(id);
        }
    }

    #[test]
    fn anything_is_a_body(body in any_json(), plural in 0..16_usize, patch in any::<bool>()) {
        let mut server = server(1);
        let all: Vec<_> = server.resources().cloned().collect();
        let resource = &all[plural % all.len()];
        let root = if resource.group.is_empty() { "/api" } else { "/apis" };
        let space = if resource.is_namespaced { "/namespaces/default" } else { "" };
        let path = format!("{root}/{}{space}/{}", resource.api_version(), resource.plural);
        let mut body = body;
        if let Some(fields) = body.as_object_mut() {
            fields.insert("apiVersion".to_owned(), resource.api_version().into());
            fields.insert("kind".to_owned(), resource.kind.as_str().into());
            fields.entry("metadata").or_insert_with(|| json!({"name": "a"}));
        }
        check(&answer(&mut server, &Request::new("POST", &path).json(&body)))?;
        let path = format!("{path}/a");
        let bytes = body.to_string();
        if patch {
            let request = Request::new("PATCH", &format!("{path}?fieldManager=m"));
            let request = request.content("application/apply-patch+yaml", bytes);
            check(&answer(&mut server, &request))?;
        } else {
            check(&answer(&mut server, &Request::new("PUT", &path).json(&body)))?;
            let request = Request::new("PATCH", &path).content("application/merge-patch+json", bytes);
            check(&answer(&mut server, &request))?;
        }
        check(&answer(&mut server, &Request::new("DELETE", &path)))?;
    }
}
