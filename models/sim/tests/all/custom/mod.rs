//! Custom resources, held against what a real server of v1.36.2 answered (`facts.json`).

mod ending;
mod versions;

use std::time::Duration;

use seatrial_sim::apiserver::{Answer, Body, Options, Request, Server};
use serde_json::{Value, json};

const NOW: Duration = Duration::from_secs(1_700_000_000);
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

pub(super) fn ask(
    server: &mut Server,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> (u16, Value) {
    let request = Request::new(method, path);
    let request = body.map_or(request.clone(), |body| request.json(body));
    let Answer::Response(response) = server.handle(NOW, &request) else { panic!("a watch") };
    let Body::Json(body) = &response.body else { return (response.status, Value::Null) };
    (response.status, Value::clone(body))
}

/// A definition with one version, or with those that are given.
pub(super) fn definition(name: &str, versions: &Value) -> Value {
    let mut kind = name.to_owned();
    kind[..1].make_ascii_uppercase();
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{name}.t.example")},
        "spec": {"group": "t.example", "scope": "Namespaced", "versions": versions,
            "names": {"plural": name, "kind": kind, "singular": name}}})
}

fn one(schema: &Value) -> Value {
    json!([{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema}}])
}

fn causes(body: &Value) -> Vec<[String; 3]> {
    let all = body["details"]["causes"].as_array().into_iter().flatten();
    let part = |cause: &Value, key: &str| cause[key].as_str().unwrap_or("").to_owned();
    let mut all: Vec<_> =
        all.map(|it| ["field", "reason", "message"].map(|key| part(it, key))).collect();
    all.sort();
    all
}

fn expected(fact: &Value) -> (u64, Vec<[String; 3]>) {
    let causes =
        serde_json::from_value(fact["causes"].clone()).expect("causes are three texts each");
    (fact["status"].as_u64().expect("a status"), causes)
}

fn facts() -> Value {
    serde_json::from_str(include_str!("facts.json")).expect("it is JSON")
}

#[test]
fn definitions_are_refused_as_by_the_real_server() {
    let mut wrong = Vec::new();
    let mut server = Server::new(&Options::default());
    let facts = facts();
    let all = facts["refused"].as_array().expect("a list");
    for fact in all {
        let mut versions = one(&fact["schema"]);
        versions[0].as_object_mut().expect("a version").remove("subresources");
        let body = definition("ws", &versions);
        let (status, answer) =
            ask(&mut server, "POST", &format!("{DEFINITIONS}?dryRun=All"), Some(&body));
        let found = (u64::from(status), causes(&answer));
        if found != expected(fact) {
            wrong.push(format!(
                "{}\n  ours {found:?}\n  real {:?}",
                fact["schema"],
                expected(fact)
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), all.len(), wrong.join("\n"));
}

#[test]
fn objects_are_judged_as_by_the_real_server() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for kind in facts()["judged"].as_array().expect("a list") {
        let name = kind["name"].as_str().expect("a name");
        let mut server = Server::new(&Options::default());
        let body = definition(name, &one(&kind["schema"]));
        assert_eq!(ask(&mut server, "POST", DEFINITIONS, Some(&body)).0, 201);
        let path = format!("/apis/t.example/v1/namespaces/default/{name}");
        for (index, steps) in kind["objects"].as_array().into_iter().flatten().enumerate() {
            for (turn, step) in steps.as_array().into_iter().flatten().enumerate() {
                let mut object = step["body"].clone();
                object["apiVersion"] = "t.example/v1".into();
                object["kind"] = body["spec"]["names"]["kind"].clone();
                object["metadata"] = json!({"name": format!("o{index}")});
                let one = format!("{path}/o{index}");
                let (status, answer) = if turn == 0 {
                    ask(&mut server, "POST", &path, Some(&object))
                } else {
                    let (_, old) = ask(&mut server, "GET", &one, None);
                    object["metadata"]["resourceVersion"] =
                        old["metadata"]["resourceVersion"].clone();
                    let part = if step["body"]["status"].is_object() { "/status" } else { "" };
                    ask(&mut server, "PUT", &format!("{one}{part}"), Some(&object))
                };
                count += 1;
                let found = (u64::from(status), causes(&answer));
                if found != expected(step) {
                    let (body, real) = (&step["body"], expected(step));
                    wrong.push(format!("{name} {body}\n  ours {found:?}\n  real {real:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}\n{}", wrong.len(), wrong.join("\n"));
}
