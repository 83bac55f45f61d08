//! Rules that only a comparison with a real server has shown: our server gives the same answers.

use seatrial_sim::apiserver::{Answer, Request, Response, Server};
use seatrial_sim::conformance::world;
use serde_json::{Value, json};

use crate::common::{SECOND, answer as send};

const CORE: &str = "/api/v1/namespaces/default";
const CUSTOM: &str = "/apis/sim.example.com/v1/namespaces/default";

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
    // An invalid value that does not change is not checked again.
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
fn the_first_deletion_counts_even_where_an_apply_has_set_the_grace() {
    let mut server = world(1);
    let path = format!("{CUSTOM}/gadgets/g");
    let mut object = gadget(json!({"mode": "on"}));
    object["metadata"]["finalizers"] = json!(["example.com/a"]);
    object["metadata"]["deletionGracePeriodSeconds"] = 0.into();
    let answer = apply(&mut server, &path, &object);
    assert_eq!(body(&answer)["metadata"]["deletionGracePeriodSeconds"], 0);
    for _ in 0..2 {
        let answer = send(&mut server, &Request::new("DELETE", &path));
        assert_eq!(body(&answer)["metadata"]["generation"], 2);
    }
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
    let bare = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "bare"},
    });
    let path_of_bare = format!("{path}/bare");
    assert_eq!(apply(&mut server, &path_of_bare, &bare).status, 201);
    let mut held = bare.clone();
    held["spec"] = json!({"holderIdentity": "y"});
    let applied = apply(&mut server, &path_of_bare, &held);
    let managers = body(&applied)["metadata"]["managedFields"].as_array().expect("a list");
    let names: Vec<_> = managers.iter().map(|it| it["manager"].clone()).collect();
    assert_eq!(names, [json!("m")], "{managers:?}");
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

/// Tells whether the version of an object stays when the object is written as it is.
fn stays(server: &mut Server, path: &str) -> bool {
    let version = |server: &mut Server| {
        body(&send(server, &Request::new("GET", path)))["metadata"]["resourceVersion"].clone()
    };
    let before = version(server);
    let patch = Request::new("PATCH", path).content("application/merge-patch+json", "{}");
    assert_eq!(send(server, &patch).status, 200);
    version(server) == before
}

#[test]
fn what_is_written_otherwise_than_it_is_read_is_written_once_more() {
    let mut server = world(1);
    let (secrets, gadgets) = (format!("{CORE}/secrets"), format!("{CUSTOM}/gadgets"));
    let secret = json!({"metadata": {"name": "s"}, "data": {"a": null}});
    assert_eq!(body(&post(&mut server, &secrets, secret))["data"], json!({"a": ""}));
    let path = format!("{secrets}/s");
    assert_eq!([stays(&mut server, &path), stays(&mut server, &path)], [false, true]);
    // An apply leaves empty fields, and fields that no schema names, as they are.
    for (name, labels, any) in
        [("l", json!({}), json!({})), ("a", json!({"b": "c"}), json!({"x": 1}))]
    {
        let mut object = gadget(json!({"mode": "on", "any": any}));
        object["metadata"] = json!({"name": name, "labels": labels});
        let path = format!("{gadgets}/{name}");
        let answer = apply(&mut server, &path, &object);
        assert_eq!((answer.status, &body(&answer)["spec"]["any"]), (201, &json!({})), "{name}");
        assert_eq!([stays(&mut server, &path), stays(&mut server, &path)], [false, true], "{name}");
    }
    let path = format!("{gadgets}/a");
    let answer = send(&mut server, &Request::new("GET", &path));
    let fields = &body(&answer)["metadata"]["managedFields"];
    assert_eq!(fields[0]["fieldsV1"]["f:spec"]["f:any"], json!({"f:x": {}}));
    // A uid of nothing is none.
    let mut object = gadget(json!({"mode": "on", "any": {"x": 1}}));
    object["metadata"] = json!({"name": "a", "uid": "", "labels": {"b": "c"}});
    assert_eq!(apply(&mut server, &path, &object).status, 200);
    // A field that is not there is refused where others are named, and the schema judges a port.
    let nested = gadget(json!({"mode": "on", "nested": {"x": 1}}));
    let path = format!("{gadgets}/g");
    assert_eq!(apply(&mut server, &path, &nested).status, 500);
    let port = gadget(json!({"mode": "on", "port": {"x": 1}}));
    let answer = apply(&mut server, &path, &port);
    assert_eq!(causes(&answer), named(&[("spec.port", "FieldValueTypeInvalid")]));
}

#[test]
fn an_object_within_another_keeps_what_every_object_has() {
    let mut server = world(1);
    let inner = json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "i"}, "size": 1});
    let mut sent = inner.clone();
    sent["unknown"] = true.into();
    let answer = post(
        &mut server,
        &format!("{CUSTOM}/gadgets"),
        gadget(json!({"mode": "on", "inner": sent})),
    );
    assert_eq!(body(&answer)["spec"]["inner"], inner);
}

#[test]
fn a_status_has_no_kind_and_a_list_is_no_object() {
    let mut server = world(1);
    let gadgets = format!("{CUSTOM}/gadgets");
    post(&mut server, &gadgets, gadget(json!({"mode": "on", "weight": 2.0})));
    let path = format!("{gadgets}/g");
    let mut merge = |target: &str, patch: &str| {
        let request = Request::new("PATCH", &format!("{path}{target}"));
        send(&mut server, &request.content("application/merge-patch+json", patch)).status
    };
    assert_eq!([merge("/status", r#"{"kind":"X"}"#), merge("", r#"{"kind":"X"}"#)], [200, 422]);
    let held = send(&mut server, &Request::new("GET", &path));
    assert_eq!(body(&held)["metadata"].get("managedFields"), None, "nobody owns it any more");
    let mut merge = |target: &str, patch: &str| {
        let request = Request::new("PATCH", &format!("{path}{target}"));
        send(&mut server, &request.content("application/merge-patch+json", patch)).status
    };
    assert_eq!([merge("", "[]"), merge("?fieldValidation=Ignore", "[]")], [400, 422]);
    // The number 2.0 is the same as 2, so a client that sends it owns nothing new.
    send(&mut server, &Request::new("DELETE", &path));
    post(&mut server, &gadgets, gadget(json!({"mode": "on", "weight": 2.0})));
    let mut object = gadget(json!({"mode": "off", "weight": 2.0}));
    object["metadata"] = body(&send(&mut server, &Request::new("GET", &path)))["metadata"].clone();
    let put = Request::new("PUT", &format!("{path}?fieldManager=m")).json(&object);
    let answer = send(&mut server, &put);
    let fields = body(&answer)["metadata"]["managedFields"].as_array().expect("a list");
    let own = fields.iter().find(|it| it["manager"] == "m").expect("it owns something");
    assert_eq!(own["fieldsV1"]["f:spec"], json!({"f:mode": {}}));
}

#[test]
fn a_watch_that_begins_too_early_says_so_in_any_form() {
    let mut server = world(1);
    let mut request =
        Request::new("GET", &format!("{CORE}/configmaps?watch=true&resourceVersion=1"));
    let list = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    request.headers.push(("Accept".to_owned(), format!("{list},application/json")));
    let Answer::Watch { id, .. } = server.handle(SECOND, &request) else { panic!("no watch") };
    let told = server.events(id);
    assert_eq!((told.events.len(), told.events[0].kind, told.has_ended), (1, "ERROR", true));
}

#[test]
fn an_object_without_a_namespace_loses_the_one_that_it_is_sent_with() {
    let mut server = world(1);
    let path = "/apis/storage.k8s.io/v1/storageclasses";
    let class = |name: &str| {
        let metadata = json!({"name": name, "namespace": "elsewhere"});
        json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": metadata,
            "provisioner": "p"})
    };
    let put = Request::new("PUT", &format!("{path}/a")).json(&class("a"));
    let (made, applied) = (post(&mut server, path, class("a")), format!("{path}/b"));
    let answers = [
        (made, 201),
        (send(&mut server, &put), 200),
        (apply(&mut server, &applied, &class("b")), 201),
        (apply(&mut server, &applied, &class("b")), 200),
    ];
    for (answer, status) in answers {
        assert_eq!(answer.status, status);
        assert_eq!(body(&answer)["metadata"]["namespace"], Value::Null);
    }
    let metadata = json!({"name": "c", "namespace": "elsewhere"});
    let map = post(&mut server, &format!("{CORE}/configmaps"), json!({"metadata": metadata}));
    assert_eq!(map.status, 400);
}
