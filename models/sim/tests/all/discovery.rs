//! A client finds out what is served.

use std::time::Duration;

use seatrial_sim::apiserver::{Answer, Body, Request, Server};
use serde_json::{Value, json};

use crate::common::{DEFINITIONS, MAPS, answer as call, empty};

fn get(server: &mut Server, path: &str) -> Value {
    let response = call(server, &Request::new("GET", path));
    assert_eq!(response.status, 200, "{path}");
    response.json().cloned().unwrap_or(Value::Null)
}

fn gears(server: &mut Server) {
    let schema = json!({"openAPIV3Schema": {"type": "object"}});
    let definition = json!({
        "metadata": {"name": "gears.example.com"},
        "spec": {
            "group": "example.com", "scope": "Cluster",
            "names": {"plural": "gears", "kind": "Gear", "shortNames": ["gr"]},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": schema,
                "subresources": {"status": {}},
            }],
        },
    });
    assert_eq!(call(server, &Request::new("POST", DEFINITIONS).json(&definition)).status, 201);
}

#[test]
fn groups_and_resources_are_listed_and_new_ones_with_them() {
    let mut server = empty();
    let names = |list: &Value, key: &str| -> Vec<String> {
        let list = list[key].as_array().into_iter().flatten();
        list.map(|it| it["name"].as_str().unwrap_or("").to_owned()).collect()
    };
    assert_eq!(get(&mut server, "/api")["versions"], json!(["v1"]));
    let groups = [
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apps",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "autoscaling",
        "batch",
        "certificates.k8s.io",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "networking.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
    ];
    assert_eq!(names(&get(&mut server, "/apis"), "groups"), groups);
    let core = names(&get(&mut server, "/api/v1"), "resources");
    for name in ["configmaps", "pods", "pods/status", "pods/eviction", "namespaces/finalize"] {
        assert!(core.contains(&name.to_owned()), "{name} is not in {core:?}");
    }
    gears(&mut server);
    assert_eq!(names(&get(&mut server, "/apis"), "groups").len(), groups.len() + 1);
    let group = get(&mut server, "/apis/example.com");
    assert_eq!(group["preferredVersion"]["groupVersion"], "example.com/v1");
    let list = get(&mut server, "/apis/example.com/v1");
    assert_eq!(names(&list, "resources"), ["gears", "gears/status"]);
    let gears = &list["resources"][0];
    assert_eq!((&gears["shortNames"], &gears["namespaced"]), (&json!(["gr"]), &json!(false)));
}

#[test]
fn everything_comes_at_once_for_those_who_can_read_it() {
    let mut server = empty();
    gears(&mut server);
    for (path, groups) in [("/api", 1), ("/apis", 17)] {
        let mut request = Request::new("GET", path);
        let accept =
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
        request.headers.push(("Accept".to_owned(), accept.to_owned()));
        let response = call(&mut server, &request);
        let kind = response.header("Content-Type").unwrap_or("");
        assert!(kind.contains("as=APIGroupDiscoveryList"), "{kind}");
        let body = response.json().expect("it is JSON");
        assert_eq!(body["items"].as_array().map(Vec::len), Some(groups));
        let first = &body["items"][0]["versions"][0]["resources"][0];
        assert!(first["resource"].is_string() && first["verbs"].is_array(), "{first}");
    }
}

#[test]
fn it_is_said_that_the_server_checks_unknown_fields() {
    let mut server = empty();
    gears(&mut server);
    let index = get(&mut server, "/openapi/v3");
    for (folder, path) in [
        ("api/v1", "/api/v1/namespaces/{namespace}/configmaps/{name}"),
        ("apis/events.k8s.io/v1", "/apis/events.k8s.io/v1/namespaces/{namespace}/events/{name}"),
        ("apis/example.com/v1", "/apis/example.com/v1/gears/{name}"),
    ] {
        let url = index["paths"][folder]["serverRelativeURL"].as_str().unwrap_or("").to_owned();
        let document = get(&mut server, &url);
        let parameters = document["paths"][path]["patch"]["parameters"].as_array();
        let mut parameters = parameters.into_iter().flatten();
        assert!(parameters.any(|it| it["name"] == "fieldValidation"), "{document}");
    }
    assert_eq!(call(&mut server, &Request::new("GET", "/openapi/v3/api/v9")).status, 404);
}

#[test]
fn the_newest_stable_version_of_a_group_is_preferred() {
    let mut server = empty();
    let versions = ["v1", "v1alpha1", "v1beta1", "v1beta2", "v2alpha1", "v10", "v2", "odd"];
    let version = |name: &&str| {
        let schema = json!({"openAPIV3Schema": {"type": "object"}});
        json!({"name": name, "served": true, "storage": *name == "v1", "schema": schema})
    };
    let definition = json!({
        "metadata": {"name": "cogs.example.com"},
        "spec": {
            "group": "example.com", "scope": "Cluster",
            "names": {"plural": "cogs", "singular": "cog", "kind": "Cog", "listKind": "CogList"},
            "versions": versions.iter().map(version).collect::<Vec<_>>(),
        },
    });
    assert_eq!(call(&mut server, &Request::new("POST", DEFINITIONS).json(&definition)).status, 201);
    let sorted = ["v10", "v2", "v1", "v1beta2", "v1beta1", "v2alpha1", "v1alpha1", "odd"];
    let group = get(&mut server, "/apis/example.com");
    let names = |list: &Value| -> Vec<String> {
        let list = list.as_array().into_iter().flatten();
        list.map(|it| it["version"].as_str().unwrap_or("").to_owned()).collect()
    };
    assert_eq!(names(&group["versions"]), sorted);
    assert_eq!(group["preferredVersion"]["version"], "v10");
    let mut request = Request::new("GET", "/apis");
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    request.headers.push(("Accept".to_owned(), accept.to_owned()));
    let whole = call(&mut server, &request);
    let items = whole.json().expect("it is JSON")["items"].as_array().expect("a list").clone();
    let group = items.iter().find(|it| it["metadata"]["name"] == "example.com");
    assert_eq!(names(&group.expect("it is there")["versions"]), sorted);
}

#[test]
fn it_is_healthy_and_has_a_version() {
    let mut server = empty();
    for path in ["/healthz", "/livez", "/readyz", "/readyz/ping"] {
        let response = call(&mut server, &Request::new("GET", path));
        assert_eq!((response.status, response.body), (200, Body::Text("ok".to_owned())));
    }
    assert_eq!(get(&mut server, "/version")["minor"], "36");
}

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

fn ask(server: &mut Server, seconds: u64, request: Request) -> Value {
    let now = Duration::from_secs(seconds);
    match server.handle(now, &request) {
        Answer::Response(response) => response.json().cloned().unwrap_or(Value::Null),
        other => panic!("no response: {other:?}"),
    }
}

#[test]
fn a_table_has_a_row_for_each_object_and_the_columns_of_its_kind() {
    let mut server = seatrial_sim::conformance::world(1);
    let get = |target: &str| {
        let mut request = Request::new("GET", target);
        request.headers.push(("Accept".to_owned(), TABLE.to_owned()));
        request
    };
    for name in ["a", "b"] {
        let body = json!({"metadata": {"name": name}, "data": {"x": "1", "y": "2"}});
        ask(&mut server, 10, Request::new("POST", MAPS).json(&body));
    }
    let table = ask(&mut server, 200, get(MAPS));
    assert_eq!(table["kind"], "Table");
    let names: Vec<_> =
        table["columnDefinitions"].as_array().into_iter().flatten().map(|it| &it["name"]).collect();
    assert_eq!(names, ["Name", "Data", "Age"]);
    let cells: Vec<_> =
        table["rows"].as_array().into_iter().flatten().map(|it| &it["cells"]).collect();
    assert_eq!(cells, [&json!(["a", 2, "3m10s"]), &json!(["b", 2, "3m10s"])]);
    assert_eq!(table["rows"][0]["object"]["kind"], "PartialObjectMetadata");
    let page = ask(&mut server, 200, get(&format!("{MAPS}?limit=1&includeObject=Object")));
    assert_eq!(page["rows"][0]["object"]["data"]["x"], "1");
    assert!(
        page["metadata"]["continue"].is_string() && page["metadata"]["remainingItemCount"] == 1
    );
    let one = ask(&mut server, 200, get(&format!("{MAPS}/b")));
    assert_eq!(one["rows"].as_array().map(Vec::len), Some(1));
    assert_eq!(ask(&mut server, 200, get(&format!("{MAPS}/c")))["reason"], "NotFound");
    let Answer::Watch { id, .. } =
        server.handle(Duration::from_secs(200), &get(&format!("{MAPS}?watch=true")))
    else {
        panic!("no watch")
    };
    let events = server.events(id).events;
    assert_eq!(events[0].object["rows"][0]["cells"][0], "a");
    assert_eq!(
        ask(&mut server, 200, get(DEFINITIONS))["columnDefinitions"][1]["name"],
        "Created At"
    );
}

/// A definition with one column.
fn with_column(column: &Value) -> Request {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({
        "metadata": {"name": "wheels.example.com"},
        "spec": {
            "group": "example.com", "scope": "Cluster",
            "names": {"plural": "wheels", "kind": "Wheel"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}, "additionalPrinterColumns": [column],
            }],
        },
    });
    Request::new("POST", DEFINITIONS).json(&definition)
}

#[test]
fn the_columns_of_a_custom_resource_show_what_their_paths_lead_to() {
    let wheel = json!({
        "apiVersion": "example.com/v1", "kind": "Wheel",
        "metadata": {"name": "w", "labels": {"a.io/b": "c"}},
        "spec": {"size": 2.5, "ports": [{"port": 80}], "since": "1970-01-01T00:00:00Z"},
        "state": {"conditions": [
            {"type": "Synced", "status": "False"}, {"type": "Ready", "status": "True"},
        ]},
    });
    for (kind, path, shown) in [
        ("string", r#".state.conditions[?(@.type=="Ready")].status"#, json!("True")),
        ("string", ".metadata.labels.a\\.io/b", json!("c")),
        ("string", ".spec.ports", json!("[{\"port\":80}]")),
        ("string", ".spec.ports[0].port", json!("80")),
        ("integer", ".spec.ports[0].port", json!(80)),
        ("integer", ".spec.size", json!(2)),
        ("number", ".spec.size", json!(2.5)),
        ("date", ".spec.since", json!("10s")),
        ("date", ".spec.size", Value::Null),
        ("boolean", ".spec.size", Value::Null),
        ("string", ".spec.none", Value::Null),
    ] {
        let mut server = empty();
        let column = json!({"name": "C", "type": kind, "jsonPath": path});
        assert_eq!(call(&mut server, &with_column(&column)).status, 201, "{path}");
        let wheels = "/apis/example.com/v1/wheels";
        assert_eq!(call(&mut server, &Request::new("POST", wheels).json(&wheel)).status, 201);
        let mut get = Request::new("GET", wheels);
        get.headers.push(("Accept".to_owned(), TABLE.to_owned()));
        let table = ask(&mut server, 10, get);
        assert_eq!(table["rows"][0]["cells"], json!(["w", shown]), "{kind} {path}");
    }
}

#[test]
fn a_column_that_cannot_be_shown_is_refused_with_its_definition() {
    for (column, field) in [
        (json!({"name": "C", "type": "string", "jsonPath": ".a[0:2]"}), "jsonPath"),
        (json!({"name": "C", "type": "string", "jsonPath": "a"}), "jsonPath"),
        (json!({"name": "C", "type": "string"}), "jsonPath"),
        (json!({"name": "C", "type": "text", "jsonPath": ".a"}), "type"),
        (json!({"name": "C", "jsonPath": ".a"}), "type"),
        (json!({"type": "string", "jsonPath": ".a"}), "name"),
    ] {
        let response = call(&mut empty(), &with_column(&column));
        assert_eq!(response.status, 422, "{column}");
        let cause = &response.json().expect("a status")["details"]["causes"][0];
        let path = format!("spec.versions[0].additionalPrinterColumns[0].{field}");
        assert_eq!(cause["field"], path, "{column}");
    }
}
