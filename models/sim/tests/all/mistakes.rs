//! The traces notice every mistake that a server can be told to make.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::common::{server, traces};
use seatrial_sim::apiserver::{Answer, MISTAKES, Request};
use seatrial_sim::conformance::{RULES, program, replay};
use serde_json::{Value, json};

#[test]
fn every_mistake_is_noticed() {
    let fresh = server(1);
    let mut files = BTreeMap::new();
    let mut unnoticed = Vec::new();
    for (rules, mistake) in
        MISTAKES.iter().flat_map(|(rules, all)| all.iter().map(move |it| (rules, it)))
    {
        if mistake.traces == "requests" {
            if answers(Some(mistake.name), &rare()) == answers(None, &rare()) {
                unnoticed.push(mistake.name);
            }
            continue;
        }
        let traces = files.entry(mistake.traces).or_insert_with(|| match mistake.traces {
            "made-up" => (0..60).map(|seed| program(seed, 30).expect("a program")).collect(),
            file => traces(file),
        });
        let wrong = fresh.clone().with_mistake(*mistake);
        let departs = |(count, trace)| {
            let first = replay(trace, wrong.clone()).departures.into_iter().next()?;
            Some((count + 1, first.step, first.rules))
        };
        match traces.iter().enumerate().find_map(departs) {
            Some((count, step, found)) => {
                println!(
                    "{rules}, {}: noticed by trace {count} of {}, step {step}, by the rules of {found}",
                    mistake.name, mistake.traces
                );
            }
            None => unnoticed.push(mistake.name),
        }
    }
    assert_eq!(unnoticed, [""; 0]);
}

/// Requests that programs seldom make: an empty write after one that is read back differently, a
/// status with a kind, and a deletion that returns the deleted object.
fn rare() -> Vec<Request> {
    let (core, gadgets) =
        ("/api/v1/namespaces/default", "/apis/sim.example.com/v1/namespaces/default/gadgets");
    let post = |path: String, body: Value| Request::new("POST", &path).json(&body);
    let merge = |path: String, body: Value| {
        let request = Request::new("PATCH", &path);
        request.content("application/merge-patch+json", body.to_string())
    };
    let metadata = json!({"name": "n"});
    let gadget = json!({
        "apiVersion": "sim.example.com/v1", "kind": "Gadget", "metadata": metadata,
        "spec": {"mode": "on", "weight": 2.0},
    });
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "n": {"type": "integer"}, "name": {"type": "string", "pattern": "^[a-z]+$"}},
        "x-kubernetes-validations": [{"rule": "self.n < 9"}, {"rule": "self.n >= oldSelf.n"}]}}});
    let version = json!({"name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": schema}});
    let ruled = |spec: Value| {
        json!({"apiVersion": "r.example/v1", "kind": "Ruled",
        "metadata": metadata, "spec": spec})
    };
    let all = "/apis/r.example/v1/namespaces/default/ruled";
    let rules = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    vec![
        post(
            rules.to_owned(),
            json!({"apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition", "metadata": {"name": "ruled.r.example"},
            "spec": {"group": "r.example", "scope": "Namespaced", "versions": [version],
                "names": {"plural": "ruled", "kind": "Ruled"}}}),
        ),
        post(all.to_owned(), ruled(json!({"n": 9}))),
        post(all.to_owned(), ruled(json!({"n": 1, "name": "A"}))),
        post(all.to_owned(), ruled(json!({"n": 2}))),
        merge(format!("{all}/n"), json!({"spec": {"n": 1}})),
        post(format!("{core}/secrets"), json!({"metadata": metadata, "data": {"a": null}})),
        merge(format!("{core}/secrets/n"), json!({})),
        post(gadgets.to_owned(), gadget),
        merge(format!("{gadgets}/n/status"), json!({"kind": "Other"})),
        // The weight is wrong by now, and stays.
        merge(format!("{gadgets}/n"), json!({"spec": {"note": "x"}})),
        post(format!("{core}/serviceaccounts"), json!({"metadata": metadata})),
        Request::new("DELETE", &format!("{core}/serviceaccounts/n")),
    ]
}

/// The answers of a correct server, or of one with a mistake, to the same requests.
fn answers(mistake: Option<&str>, requests: &[Request]) -> Vec<(u16, Option<Value>)> {
    let mut server = server(1);
    if let Some(name) = mistake {
        let mut all = MISTAKES.iter().flat_map(|(_, all)| all.iter());
        server = server.with_mistake(*all.find(|it| it.name == name).expect("it is listed"));
    }
    let answer = |request| match server.handle(Duration::from_secs(1), request) {
        Answer::Response(response) => (response.status, response.json().cloned()),
        other => panic!("no response: {other:?}"),
    };
    requests.iter().map(answer).collect()
}

#[test]
fn a_mistake_changes_no_answer_that_it_is_not_about() {
    let (maps, leases) = (
        "/api/v1/namespaces/default/configmaps",
        "/apis/coordination.k8s.io/v1/namespaces/default/leases",
    );
    let post = |path: &str, body: &str| {
        Request::new("POST", path).content("application/json", body.to_owned())
    };
    let bare = r#"{"metadata":{"name":"l"}}"#;
    let step = r#"[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]"#;
    let patch = Request::new("PATCH", &format!("{leases}/l"));
    let requests = [
        post(leases, bare),
        patch.content("application/json-patch+json", step.to_owned()),
        post(leases, r#"{"metadata":{"name":"m"},"spec":"none"}"#),
        // Duplicate fields show only in the text.
        post(&format!("{maps}?fieldValidation=Strict"), r#"{"data":{},"data":{}}"#),
        post(maps, r#"{"metadata":{"name":"c"},"data":{"not a key":"x"}}"#),
        Request::new("PUT", &format!("{maps}/c")).content("application/json", "{".to_owned()),
    ];
    let right = answers(None, &requests);
    assert_eq!(right.iter().map(|it| it.0).collect::<Vec<_>>(), [201, 200, 400, 400, 422, 400]);
    for name in [
        "takes_any_namespace",
        "makes_no_names_up",
        "takes_new_versions",
        "takes_numbers_for_texts",
        "takes_any_text_for_a_version",
        "changes_the_immutable",
        "takes_any_time",
        "tests_nothing",
        "keeps_no_finalizers",
    ] {
        assert_eq!(answers(Some(name), &requests), right, "{name}");
    }
}

#[test]
fn every_group_of_rules_has_mistakes_each_with_a_name_of_its_own() {
    let groups: Vec<_> = MISTAKES.iter().map(|(rules, _)| *rules).collect();
    assert_eq!(groups, RULES);
    let mut names: Vec<_> =
        MISTAKES.iter().flat_map(|(_, all)| all.iter().map(|it| it.name)).collect();
    assert_eq!(names.len(), 84, "as docs/apiserver.md says");
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 84);
    for (rules, all) in MISTAKES {
        assert!(all.len() >= 3, "{rules}: {}", all.len());
    }
}
