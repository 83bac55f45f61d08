//! Applied scales, what is asked of pods, and kinds on which nothing acts.

use seatrial_sim::apiserver::Request;
use serde_json::{Value, json};

use crate::common::{answer as call, ask as told, empty};

#[test]
fn an_applied_scale_owns_the_replicas_of_its_object() {
    let mut server = empty();
    let path = "/apis/apps/v1/namespaces/default/deployments";
    let pod = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let spec = json!({"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": pod});
    let body = json!({"metadata": {"name": "d"}, "spec": spec});
    let request = Request::new("POST", &format!("{path}?fieldManager=a")).json(&body);
    assert_eq!(call(&mut server, &request).status, 201);
    let mut apply = |query: &str, replicas: Value| {
        let spec = json!({"replicas": replicas});
        // It needs no name.
        let scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": spec});
        let request = Request::new("PATCH", &format!("{path}/d/scale?fieldManager=b{query}"));
        let request = request.content("application/apply-patch+yaml", scale.to_string());
        told(&mut server, &request)
    };
    assert_eq!(apply("", 3.into()).0, 409, "another manager owns the count");
    assert_eq!(apply("&force=true", "x".into()).0, 400);
    let (status, scale) = apply("&force=true", 3.into());
    assert_eq!(
        (status, &scale["kind"], &scale["spec"]["replicas"]),
        (200, &"Scale".into(), &3.into())
    );
    let stored = call(&mut server, &Request::new("GET", &format!("{path}/d")));
    let stored = stored.json().expect("an object");
    assert_eq!(stored["spec"]["replicas"], 3);
    let managers = stored["metadata"]["managedFields"].as_array().expect("a list");
    let own = managers.iter().find(|it| it["manager"] == "b").expect("it applied");
    assert_eq!(own["fieldsV1"], json!({"f:spec": {"f:replicas": {}}}));
    assert_eq!((&own["subresource"], &own["operation"]), (&"scale".into(), &"Apply".into()));
    let others = managers.iter().filter(|it| it["manager"] != "b");
    assert!(others.map(|it| &it["fieldsV1"]["f:spec"]["f:replicas"]).all(Value::is_null));
}

#[test]
fn a_pod_is_bound_once_and_evicted() {
    let mut server = empty();
    let path = "/api/v1/namespaces/default/pods";
    let body =
        json!({"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    assert_eq!(call(&mut server, &Request::new("POST", path).json(&body)).status, 201);
    let mut ask = |method: &str, sub: &str, body: &Value| {
        let request = Request::new(method, &format!("{path}/{sub}")).json(body);
        told(&mut server, &request)
    };
    let binding = json!({"target": {"kind": "Node", "name": "n"}});
    assert_eq!(ask("POST", "a/binding", &json!({})).0, 400);
    let (status, done) = ask("POST", "a/binding", &binding);
    assert_eq!((status, &done["status"]), (201, &"Success".into()));
    assert_eq!(ask("POST", "a/binding", &binding).0, 409);
    let pod = ask("GET", "a", &Value::Null).1;
    assert_eq!(pod["spec"]["nodeName"], "n");
    assert_eq!(pod["status"]["conditions"][0]["type"], "PodScheduled");
    let wrong = json!({"uid": "of another pod"});
    let eviction = |options: &Value| json!({"metadata": {"name": "a"}, "deleteOptions": options});
    let held = eviction(&json!({"preconditions": wrong}));
    assert_eq!(ask("POST", "a/eviction", &held).0, 409);
    assert_eq!(ask("GET", "a/eviction", &Value::Null).0, 405);
    let (status, done) = ask("POST", "a/eviction", &eviction(&json!({})));
    assert_eq!((status, &done["status"]), (201, &"Success".into()));
    assert_eq!(ask("GET", "a", &Value::Null).0, 404);
    assert_eq!(ask("POST", "a/eviction", &eviction(&json!({}))).0, 404);
    let other =
        json!({"metadata": {"name": "b"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    assert_eq!(ask("POST", "", &other).0, 201);
    let own_name = json!({"metadata": {"name": "eviction"}});
    assert_eq!(ask("POST", "eviction/eviction", &own_name).0, 404);
    assert_eq!(ask("GET", "b", &Value::Null).0, 200, "no other pod goes");
}

#[test]
fn a_signing_request_is_approved_apart_from_the_rest() {
    let mut server = empty();
    let path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let approved = json!({"conditions": [{"type": "Approved", "status": "True"}]});
    let spec = json!({"signerName": "example.com/a", "usages": ["client auth"], "request": "YQ=="});
    let body = json!({"metadata": {"name": "a"}, "spec": spec, "status": approved});
    let made = call(&mut server, &Request::new("POST", path).json(&body));
    assert_eq!(made.status, 201);
    let mut change = made.json().expect("an object").clone();
    assert!(change["status"]["conditions"].is_null(), "nobody approves a request by making it");
    change["status"] = approved;
    change["spec"]["signerName"] = "example.com/b".into();
    let request = Request::new("PUT", &format!("{path}/a/approval")).json(&change);
    assert_eq!(call(&mut server, &request).status, 200);
    let stored = call(&mut server, &Request::new("GET", &format!("{path}/a")));
    let stored = stored.json().expect("an object");
    assert_eq!(stored["status"]["conditions"][0]["type"], "Approved");
    assert_eq!(stored["spec"]["signerName"], "example.com/a");
}
