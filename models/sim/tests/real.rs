//! Rules that only a comparison with a real server has shown: what it answered, ours answers.

use std::time::Duration;

use seatrial_sim::apiserver::{Answer, Request, Response, Server};
use seatrial_sim::conformance::world;
use serde_json::{Value, json};

const CORE: &str = "/api/v1/namespaces/default";
const CUSTOM: &str = "/apis/sim.example.com/v1/namespaces/default";

fn send(server: &mut Server, request: &Request) -> Response {
    match server.handle(Duration::from_secs(1), request) {
        Answer::Response(response) => response,
        other => panic!("no response: {other:?}"),
    }
}

fn post(server: &mut Server, path: &str, body: Value) -> Response {
    send(server, &Request::new("POST", path).json(&body))
}

fn apply(server: &mut Server, path: &str, body: &Value) -> Response {
    let request = Request::new("PATCH", &format!("{path}?fieldManager=m"));
    send(server, &request.content("application/apply-patch+yaml", body.to_string()))
}

fn body(response: &Response) -> &Value {
    response.json().expect("it is JSON")
}

/// The field and the reason of each cause, sorted.
fn causes(response: &Response) -> Vec<(String, String)> {
    let list = body(response)["details"]["causes"].as_array().expect("there are causes");
    let part = |part: &str, it: &Value| it[part].as_str().unwrap_or("").to_owned();
    let mut causes: Vec<_> =
        list.iter().map(|it| (part("field", it), part("reason", it))).collect();
    causes.sort_unstable();
    causes
}

fn named(causes: &[(&str, &str)]) -> Vec<(String, String)> {
    causes.iter().map(|(field, reason)| ((*field).to_owned(), (*reason).to_owned())).collect()
}

fn gadget(spec: Value) -> Value {
    let metadata = json!({"name": "g"});
    json!({"apiVersion": "sim.example.com/v1", "kind": "Gadget", "metadata": metadata, "spec": spec})
}

#[test]
fn a_schema_names_everything_that_breaks_it() {
    let mut server = world(1);
    let path = format!("{CUSTOM}/gadgets");
    for (spec, expected) in [
        (
            json!({"mode": 5}),
            &[("spec.mode", "FieldValueNotSupported"), ("spec.mode", "FieldValueTypeInvalid")][..],
        ),
        (json!({"mode": "on", "note": "far too long"}), &[("spec.note", "FieldValueTooLong")]),
        (json!({"mode": "on", "flags": []}), &[("spec.flags", "FieldValueInvalid")]),
        (
            json!({"mode": "on", "limits": {"a": 1, "b": 1, "c": 1, "d": 1}}),
            &[("spec.limits", "FieldValueTooMany")],
        ),
        (
            json!({"mode": "on", "weight": 0}),
            &[("spec.weight", "FieldValueInvalid"), ("spec.weight", "FieldValueInvalid")],
        ),
        (
            json!({"mode": "on", "replicas": -1}),
            &[(".spec.replicas", "FieldValueInvalid"), ("spec.replicas", "FieldValueInvalid")],
        ),
        (json!([]), &[(".spec.replicas", "FieldValueInvalid"), ("spec", "FieldValueTypeInvalid")]),
    ] {
        let answer = post(&mut server, &path, gadget(spec.clone()));
        assert_eq!((answer.status, causes(&answer)), (422, named(expected)), "{spec}");
    }
}

#[test]
fn an_apply_keeps_nulls_until_they_are_checked_and_reads_fractions_of_nothing_as_whole() {
    let mut server = world(1);
    let path = format!("{CUSTOM}/gadgets/g");
    let answer = apply(&mut server, &path, &gadget(Value::Null));
    assert_eq!(causes(&answer), named(&[("spec", "FieldValueTypeInvalid")]));
    let answer = post(&mut server, &format!("{CUSTOM}/gadgets"), gadget(Value::Null));
    assert_eq!(causes(&answer), named(&[("spec", "FieldValueRequired")]));
    let half = gadget(json!({"mode": "on", "weight": 2.0}));
    assert_eq!(apply(&mut server, &path, &half).status, 422);
    let answer = post(&mut server, &format!("{CUSTOM}/gadgets"), half);
    assert_eq!((answer.status, &body(&answer)["spec"]["weight"]), (201, &json!(2)));
    // What is wrong by now and does not change is not judged again.
    let patch = Request::new("PATCH", &path);
    let patch = patch.content("application/merge-patch+json", r#"{"spec":{"note":"x"}}"#);
    assert_eq!(send(&mut server, &patch).status, 200);
    let wrong =
        json!({"apiVersion": "sim.example.com/v1", "kind": null, "metadata": {"name": "g"}});
    assert_eq!(apply(&mut server, &path, &wrong).status, 400);
}

#[test]
fn a_deletion_answers_with_what_was_deleted_where_the_kind_has_it_so() {
    let mut server = world(1);
    let accounts = format!("{CORE}/serviceaccounts");
    let account = json!({"metadata": {"name": "a"}, "secrets": [{"name": "s", "kind": "Secret"}]});
    let answer = post(&mut server, &accounts, account);
    assert_eq!(body(&answer)["secrets"], json!([{"name": "s"}]));
    let old = body(&answer)["metadata"]["resourceVersion"].clone();
    let other = format!("{accounts}/a?resourceVersion=1");
    assert_eq!(send(&mut server, &Request::new("DELETE", &other)).status, 409);
    let answer = send(&mut server, &Request::new("DELETE", &format!("{accounts}/a")));
    assert_eq!(body(&answer)["kind"], "ServiceAccount");
    assert_ne!(body(&answer)["metadata"]["resourceVersion"], old);
}

#[test]
fn secrets_hold_what_their_type_wants() {
    let mut server = world(1);
    let path = format!("{CORE}/secrets");
    let secret = |kind: &str| json!({"metadata": {"name": "s"}, "type": kind});
    let answer = post(&mut server, &path, secret("kubernetes.io/tls"));
    let required = "FieldValueRequired";
    assert_eq!(causes(&answer), named(&[("data[tls.crt]", required), ("data[tls.key]", required)]));
    assert_eq!(post(&mut server, &path, secret("example.com/x")).status, 201);
    // One without a type is opaque, and types do not change.
    let request = Request::new("PUT", &format!("{path}/s"));
    let answer = send(&mut server, &request.json(&json!({"metadata": {"name": "s"}})));
    assert_eq!(causes(&answer), named(&[("type", "FieldValueInvalid")]));
}

#[test]
fn what_a_kind_has_when_it_is_empty_nobody_owns() {
    let mut server = world(1);
    let path = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    let lease = json!({"metadata": {"name": "l"}, "spec": {"holderIdentity": "x"}});
    let answer = post(&mut server, path, lease);
    let fields = &body(&answer)["metadata"]["managedFields"][0]["fieldsV1"];
    assert_eq!(fields["f:spec"], json!({"f:holderIdentity": {}}));
    let request = Request::new("PUT", &format!("{path}/l"));
    let mut lease = body(&answer).clone();
    lease["metadata"]["managedFields"] = json!([]);
    let answer = send(&mut server, &request.json(&lease));
    assert_eq!(body(&answer)["metadata"].get("managedFields"), None);
}

#[test]
fn what_is_asked_for_in_another_form_must_have_it() {
    let mut server = world(1);
    let list = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let one = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let ask = |server: &mut Server, path: &str, form: &str| {
        let mut request = Request::new("GET", path);
        request.headers.push(("Accept".to_owned(), form.to_owned()));
        send(server, &request)
    };
    let (maps, gadgets) = (format!("{CORE}/configmaps"), format!("{CUSTOM}/gadgets"));
    assert_eq!(ask(&mut server, &maps, one).status, 406);
    assert_eq!(body(&ask(&mut server, &gadgets, list))["items"], Value::Null);
    post(&mut server, &gadgets, gadget(json!({"mode": "on"})));
    assert_eq!(ask(&mut server, &format!("{gadgets}/g"), list).status, 500);
    let scale = send(&mut server, &Request::new("GET", &format!("{gadgets}/g/scale")));
    assert_eq!(body(&scale)["status"], json!({"replicas": 0}));
    let bogus = send(&mut server, &Request::new("GET", &format!("{gadgets}/g/bogus")));
    assert_eq!(body(&bogus)["details"]["kind"], "gadgets");
}
