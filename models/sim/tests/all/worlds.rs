//! Cases that no trace covers: other kinds, definitions that come and go, memory, clocks.

use std::time::Duration;

use seatrial_sim::apiserver::{Options, Request, Server, WatchId};
use serde_json::{Value, json};

use crate::common::{self, DEFINITIONS as CRDS, MAPS, answer as call, ask, empty as server, watch};

fn send(server: &mut Server, method: &str, target: &str, body: &Value) -> (u16, Value) {
    let request = Request::new(method, target);
    let request = if body.is_null() { request } else { request.json(body) };
    ask(server, &request)
}

fn get(server: &mut Server, target: &str) -> (u16, Value) {
    send(server, "GET", target, &Value::Null)
}

fn patch(server: &mut Server, target: &str, body: &Value) -> (u16, Value) {
    ask(server, &common::merge(target, body))
}

fn map(name: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"a": "b"}})
}

fn kinds(server: &mut Server, id: WatchId) -> Vec<&'static str> {
    server.events(id).events.iter().map(|event| event.kind).collect()
}

/// A policy of admission, or its binding, that changes and refuses nothing here.
fn policy(kind: &str) -> Value {
    if kind.ends_with("Binding") {
        let mut spec = json!({"policyName": "p"});
        if kind.starts_with("Validating") {
            spec["validationActions"] = json!(["Deny"]);
        }
        return json!({"spec": spec});
    }
    let rule = json!({
        "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["secrets"],
    });
    let mut spec = json!({"matchConstraints": {"resourceRules": [rule]}});
    if kind.starts_with("Validating") {
        spec["validations"] = json!([{"expression": "true"}]);
    } else {
        let expression = r#"[JSONPatch{op: "remove", path: "/data/a"}]"#;
        spec["mutations"] =
            json!([{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}]);
        spec["reinvocationPolicy"] = "Never".into();
    }
    json!({"spec": spec})
}

/// A valid object of each kind.
const VALID: &str = include_str!("../../src/conformance/programs/objects.json");

#[test]
fn every_built_in_kind_is_created_listed_and_deleted() {
    let mut server = server();
    let known: Vec<Value> = serde_json::from_str(VALID).expect("objects");
    let resources: Vec<_> = server.resources().cloned().collect();
    let mut seen = Vec::new();
    for resource in resources.iter().filter(|it| it.group != "apiextensions.k8s.io") {
        let root = if resource.group.is_empty() { "/api" } else { "/apis" };
        let space = if resource.is_namespaced { "/namespaces/default" } else { "" };
        let path = format!("{root}/{}{space}/{}", resource.api_version(), resource.plural);
        let mut body = match resource.kind.as_str() {
            "PersistentVolume" => json!({"spec": {
                "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
                "hostPath": {"path": "/x"},
            }}),
            "IngressClass" => json!({"spec": {"controller": "a/b"}}),
            "StorageClass" => json!({"provisioner": "p"}),
            "EndpointSlice" => json!({"addressType": "IPv4"}),
            kind if kind.contains("AdmissionPolicy") => policy(kind),
            kind => {
                let object = known.iter().map(|it| &it["object"]).find(|it| it["kind"] == kind);
                object.cloned().unwrap_or_else(|| json!({}))
            }
        };
        body["metadata"] = json!({"name": "a"});
        if resource.group == "events.k8s.io" {
            let metadata = body["metadata"].clone();
            body = json!({
                "metadata": metadata, "eventTime": "2026-01-01T00:00:00.000000Z", "type": "Normal",
                "reason": "R", "action": "A", "reportingController": "c", "reportingInstance": "i",
            });
        }
        if resource.kind.ends_with("RoleBinding") {
            body["roleRef"] = json!({"kind": "ClusterRole", "name": "a"});
        }
        let (status, object) = send(&mut server, "POST", &path, &body);
        assert_eq!((status, &object["kind"]), (201, &resource.kind.as_str().into()), "{object}");
        let (status, list) = get(&mut server, &path);
        assert_eq!((status, &list["kind"]), (200, &resource.list_kind.as_str().into()));
        let path = format!("{path}/a");
        if resource.has_status {
            let status = json!({"status": {"phase": "Seen"}});
            let (code, object) = patch(&mut server, &format!("{path}/status"), &status);
            let has_phase = !object["status"]["phase"].is_null();
            assert!(code == 200 && (!has_phase || object["status"]["phase"] == "Seen"), "{object}");
        }
        assert_eq!(send(&mut server, "DELETE", &path, &Value::Null).0, 200);
        seen.push(resource.kind.clone());
    }
    assert_eq!(seen.len(), 40, "{seen:?}");
}

#[test]
fn a_namespace_goes_when_it_is_finalized_and_takes_nothing_in_before() {
    let mut server = server();
    let (path, maps) = ("/api/v1/namespaces/n", "/api/v1/namespaces/n/configmaps");
    assert_eq!(send(&mut server, "POST", maps, &map("a")).0, 404);
    let body = json!({"metadata": {"name": "n"}});
    assert_eq!(send(&mut server, "POST", "/api/v1/namespaces", &body).0, 201);
    assert_eq!(send(&mut server, "POST", maps, &map("a")).0, 201);
    let (status, object) = send(&mut server, "DELETE", path, &Value::Null);
    assert_eq!((status, &object["status"]["phase"]), (200, &"Terminating".into()));
    let (status, failure) = send(&mut server, "POST", maps, &map("b"));
    assert_eq!((status, &failure["reason"]), (403, &"Forbidden".into()));
    assert_eq!(failure["details"]["causes"][0]["reason"], "NamespaceTerminating");
    let mut object = object;
    object["spec"]["finalizers"] = json!([]);
    assert_eq!(send(&mut server, "PUT", &format!("{path}/finalize"), &object).0, 200);
    assert_eq!(get(&mut server, path).0, 404);
}

#[test]
fn a_scale_reads_and_writes_the_replicas_of_any_kind() {
    let mut server = server();
    let path = "/apis/apps/v1/namespaces/default/deployments";
    let pod = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "template": pod});
    let body = json!({"metadata": {"name": "d"}, "spec": spec});
    assert_eq!(send(&mut server, "POST", path, &body).0, 201);
    let (object, path) = (format!("{path}/d"), format!("{path}/d/scale"));
    let (status, scale) = get(&mut server, &path);
    assert_eq!((status, &scale["spec"]["replicas"]), (200, &1.into()));
    assert_eq!(scale["status"]["selector"], "a=b");
    let (status, scaled) = patch(&mut server, &path, &json!({"spec": {"replicas": 5}}));
    assert_eq!((status, &scaled["spec"]["replicas"]), (200, &5.into()));
    let stored = get(&mut server, &object).1;
    assert_eq!(
        (&stored["spec"]["replicas"], &stored["metadata"]["generation"]),
        (&5.into(), &2.into())
    );
    // The first scale that was read is stale now.
    assert_eq!(send(&mut server, "PUT", &path, &scale).0, 409);
    assert_eq!(patch(&mut server, &path, &json!({"spec": {"replicas": -1}})).0, 422);
    assert_eq!(patch(&mut server, &path, &json!({"spec": {"replicas": "x"}})).0, 422);
    assert_eq!(get(&mut server, &format!("{MAPS}/a/scale")).0, 404);

    let mut definition = definition();
    definition["spec"]["versions"][0]["subresources"]["scale"] = json!({
        "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
    });
    assert_eq!(send(&mut server, "POST", CRDS, &definition).0, 201);
    let gears = "/apis/example.com/v1/gears";
    assert_eq!(send(&mut server, "POST", gears, &gear(&json!({"mode": "On"}))).0, 201);
    let path = format!("{gears}/g/scale");
    assert_eq!(get(&mut server, &path).1["spec"]["replicas"], 3);
    assert_eq!(patch(&mut server, &path, &json!({"spec": {"replicas": 0}})).0, 200);
    assert_eq!(get(&mut server, &format!("{gears}/g")).1["spec"]["replicas"], 0);
}

fn definition() -> Value {
    let spec = json!({"type": "object", "properties": {
        "replicas": {"type": "integer", "default": 3},
        "mode": {"type": "string", "enum": ["On", "Off"]},
        "parts": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
    }, "required": ["mode"]});
    json!({
        "metadata": {"name": "gears.example.com"},
        "spec": {
            "group": "example.com", "scope": "Cluster",
            "names": {"plural": "gears", "kind": "Gear"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
            }],
        },
    })
}

fn gear(spec: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Gear", "metadata": {"name": "g"}, "spec": spec})
}

#[test]
fn a_definition_serves_its_resource_until_it_is_deleted() {
    let (mut server, gears) = (server(), "/apis/example.com/v1/gears");
    assert_eq!(get(&mut server, gears).0, 404);
    let (status, stored) = send(&mut server, "POST", CRDS, &definition());
    assert_eq!((status, &stored["status"]["conditions"][1]["type"]), (201, &"Established".into()));
    assert_eq!(stored["spec"]["names"]["listKind"], "GearList");
    assert_eq!(get(&mut server, gears).1["kind"], "GearList");

    let wrong = gear(&json!({"mode": "Half", "parts": ["a", "a"], "replicas": "x"}));
    let (status, failure) = send(&mut server, "POST", gears, &wrong);
    let causes = failure["details"]["causes"].as_array().expect("the causes");
    let mut fields: Vec<_> = causes.iter().map(|it| it["field"].as_str().unwrap_or("")).collect();
    fields.sort_unstable();
    assert_eq!((status, fields), (422, vec!["spec.mode", "spec.parts[1]", "spec.replicas"]));
    let (status, failure) = send(&mut server, "POST", gears, &gear(&json!({})));
    assert_eq!((status, &failure["details"]["causes"][0]["field"]), (422, &"spec.mode".into()));

    let (status, object) = send(&mut server, "POST", gears, &gear(&json!({"mode": "On", "x": 1})));
    assert_eq!((status, &object["spec"]), (201, &json!({"mode": "On", "replicas": 3})));
    let id = watch(&mut server, &format!("{gears}?watch=1"));
    assert_eq!(kinds(&mut server, id), ["ADDED"]);
    let path = format!("{CRDS}/gears.example.com");
    assert_eq!(send(&mut server, "DELETE", &path, &Value::Null).0, 200);
    assert_eq!(get(&mut server, gears).0, 404);
    let rest = server.events(id);
    assert_eq!((rest.events[0].kind, rest.has_ended), ("DELETED", true));
}

#[test]
fn a_definition_that_contradicts_itself_is_refused() {
    let mut server = server();
    for (place, wrong) in [
        ("/metadata/name", json!("others.example.com")),
        ("/spec/scope", json!("Galaxy")),
        ("/spec/group", json!("")),
        ("/spec/versions", json!([])),
        ("/spec/versions/0/schema", json!(null)),
        ("/spec/names", json!("gears")),
    ] {
        let mut definition = definition();
        *definition.pointer_mut(place).expect("the place is there") = wrong;
        assert_eq!(send(&mut server, "POST", CRDS, &definition).0, 422, "{place}");
    }
}

#[test]
fn a_compaction_takes_nothing_from_open_watches() {
    let mut server = server();
    let from = server.revision();
    let slow = watch(&mut server, &format!("{MAPS}?watch=1&resourceVersion={from}"));
    for name in ["a", "b", "c"] {
        send(&mut server, "POST", MAPS, &map(name));
    }
    server.compact(server.revision());
    let exact = format!("{MAPS}?resourceVersionMatch=Exact&resourceVersion={}", from + 1);
    assert_eq!(get(&mut server, &exact).0, 410);
    let late = watch(&mut server, &format!("{MAPS}?watch=1&resourceVersion={from}"));
    let told = server.events(late);
    assert_eq!((told.events[0].kind, told.has_ended), ("ERROR", true));
    assert_eq!(told.events[0].object["code"], 410);
    assert_eq!(kinds(&mut server, slow), ["ADDED"; 3]);
}

#[test]
fn old_states_are_compacted_by_time_and_by_number() {
    let options = Options { history: 100, ..Options::default() };
    let mut server = Server::new(&options);
    let first = server.revision();
    send(&mut server, "POST", MAPS, &map("a"));
    let exact = format!("{MAPS}?resourceVersionMatch=Exact&resourceVersion={}", first + 1);
    assert_eq!(get(&mut server, &exact).0, 200);
    for step in 0..200 {
        let body = json!({"metadata": {"name": "a"}, "data": {"a": step.to_string()}});
        assert_eq!(send(&mut server, "PUT", &format!("{MAPS}/a"), &body).0, 200);
    }
    assert_eq!(get(&mut server, &exact).0, 410);

    let newest = format!("{MAPS}?resourceVersionMatch=Exact&resourceVersion={}", server.revision());
    assert_eq!(get(&mut server, &newest).0, 200);
    send(&mut server, "POST", MAPS, &map("b"));
    server.advance(Duration::from_secs(400));
    server.advance(Duration::from_secs(800));
    assert_eq!(get(&mut server, &newest).0, 410);
    assert_eq!(get(&mut server, MAPS).1["items"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_quiet_watch_hears_bookmarks_and_ends_in_time() {
    let mut server = server();
    let target = format!("{MAPS}?watch=1&allowWatchBookmarks=true&timeoutSeconds=100");
    let id = watch(&mut server, &target);
    assert_eq!(kinds(&mut server, id), ["BOOKMARK"]);
    send(
        &mut server,
        "POST",
        "/api/v1/namespaces/default/secrets",
        &json!({"metadata": {"name": "s"}}),
    );
    assert_eq!(kinds(&mut server, id), [""; 0]);
    server.advance(Duration::from_secs(62));
    let events = server.events(id).events;
    assert_eq!((events.len(), events[0].kind), (1, "BOOKMARK"));
    let version = server.revision().to_string();
    assert_eq!(events[0].object["metadata"]["resourceVersion"], version.as_str());
    server.advance(Duration::from_secs(101));
    assert!(server.events(id).has_ended);
    assert!(server.events(id).has_ended);
}

#[test]
fn a_status_of_a_custom_resource_takes_no_metadata_whatever_it_says() {
    let mut server = server();
    let mut definition = definition();
    definition["spec"]["versions"][0]["subresources"] = json!({"status": {}});
    send(&mut server, "POST", CRDS, &definition);
    let (gears, body) = ("/apis/example.com/v1/gears", gear(&json!({"mode": "On"})));
    let (status, made) = send(&mut server, "POST", gears, &body);
    assert_eq!(status, 201, "{made}");
    let uid = "11111111-2222-3333-4444-555555555555";
    let wanted = json!({"metadata": {"uid": uid}, "status": {"teeth": 3}});
    let (status, patched) = patch(&mut server, &format!("{gears}/g/status"), &wanted);
    assert_eq!((status, &patched["metadata"]["uid"]), (200, &made["metadata"]["uid"]), "{patched}");
}

#[test]
fn an_apply_of_what_is_not_there_looks_at_the_uid_before_the_name() {
    let mut server = server();
    let metadata = json!({"name": "other", "uid": "11111111-2222-3333-4444-555555555555"});
    let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
    let request = Request::new("PATCH", &format!("{MAPS}/n?fieldManager=m"));
    let request = request.content("application/apply-patch+yaml", body.to_string());
    assert_eq!(call(&mut server, &request).status, 409);
}

#[test]
fn a_patch_that_says_something_twice_is_refused_if_that_is_asked_for() {
    let mut server = server();
    send(&mut server, "POST", MAPS, &map("a"));
    let mut twice = |validation: &str| {
        let target = format!("{MAPS}/a?fieldValidation={validation}");
        let request = Request::new("PATCH", &target);
        let body = r#"{"data": {"a": "1", "a": "2"}}"#;
        call(&mut server, &request.content("application/merge-patch+json", body.to_owned()))
    };
    assert_eq!(twice("Strict").status, 422);
    let warned = twice("Warn");
    assert_eq!(warned.status, 200);
    assert!(
        warned.header("Warning").is_some_and(|it| it.contains("duplicate field")),
        "{warned:?}"
    );
    assert_eq!(twice("Ignore").header("Warning"), None);
}

#[test]
fn parameters_are_read_as_go_reads_them() {
    let mut server = server();
    for no in ["false", "False", "0"] {
        assert_eq!(get(&mut server, &format!("{MAPS}?watch={no}")).0, 200);
    }
    assert_eq!(get(&mut server, &format!("{MAPS}?resourceVersion=%2B5")).0, 400);
    let both = format!("{MAPS}?labelSelector=!!bad&dryRun=Bad");
    assert_eq!(send(&mut server, "DELETE", &both, &Value::Null).0, 400);
    let (status, body) = get(&mut server, "/apis/coordination.k8s.io/v1/namespaces/default/gears");
    assert_eq!((status, &body["reason"]), (404, &json!("NotFound")));
}
