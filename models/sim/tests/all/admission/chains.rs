//! Chains of webhooks: their order, what they are told, and what becomes of their answers.

use super::{MAPS, ask, call, hook, install, make, message, order, patch, reply, server};
use seatrial_sim::apiserver::{Request, Server, WebhookCall, WebhookReply};
use serde_json::{Value, json};

fn merge(path: &str, body: &Value) -> Request {
    Request::new("PATCH", path).content("application/merge-patch+json", body.to_string())
}

#[test]
fn a_webhook_is_told_who_wants_what_and_the_two_states() {
    let mut server = server();
    assert_eq!(install(&mut server, "Validating", "v", &[hook("a.b.c", json!({}))]).status, 201);
    let create = Request::new("POST", &format!("{MAPS}?fieldManager=me"))
        .json(&json!({"metadata": {"generateName": "g-"}}));
    let (calls, response) = call(&mut server, &create);
    assert_eq!(response.status, 201);
    let made = response.json().expect("an object").clone();
    let name = made["metadata"]["name"].as_str().expect("a name");
    let request = &calls[0].review["request"];
    assert_eq!(
        calls[0].to.url(calls[0].timeout),
        "https://hooks.example.com:443/a.b.c?timeout=10s"
    );
    let map = json!({"group": "", "version": "v1", "kind": "ConfigMap"});
    let maps = json!({"group": "", "version": "v1", "resource": "configmaps"});
    for (field, wanted) in [
        ("kind", map.clone()),
        ("requestKind", map),
        ("resource", maps.clone()),
        ("requestResource", maps),
        ("name", name.into()),
        ("namespace", "default".into()),
        ("operation", "CREATE".into()),
        ("oldObject", Value::Null),
        ("dryRun", false.into()),
        (
            "options",
            json!({"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "me"}),
        ),
    ] {
        assert_eq!(request[field], wanted, "{field}");
    }
    let mut shown = made.clone();
    shown["metadata"].as_object_mut().expect("metadata").remove("resourceVersion");
    assert_eq!(request["object"], shown, "the object is complete, and has no version yet");
    assert_eq!(request.get("subResource"), None);

    let path = format!("{MAPS}/{name}");
    let (calls, response) = call(&mut server, &merge(&path, &json!({"data": {"a": "b"}})));
    let request = &calls[0].review["request"];
    assert_eq!((response.status, &request["operation"]), (200, &"UPDATE".into()));
    assert_eq!(request["oldObject"], made);
    assert_eq!(request["object"]["data"], json!({"a": "b"}));
    assert_eq!(
        request["object"]["metadata"]["resourceVersion"],
        made["metadata"]["resourceVersion"]
    );
    assert_eq!(request["options"]["kind"], "UpdateOptions");

    let (calls, _) = call(&mut server, &Request::new("DELETE", &format!("{path}?dryRun=All")));
    assert_eq!(calls[0].review["request"]["dryRun"], true);
    let (calls, _) =
        call(&mut server, &Request::new("DELETE", &format!("{path}?propagationPolicy=Background")));
    let request = &calls[0].review["request"];
    assert_eq!((&request["object"], &request["operation"]), (&Value::Null, &"DELETE".into()));
    assert_eq!(request["oldObject"]["data"], json!({"a": "b"}));
    assert_eq!(request["options"]["propagationPolicy"], "Background");
    assert_eq!(call(&mut server, &Request::new("GET", &path)).1.status, 404);
}

#[test]
fn a_refusal_is_told_in_the_words_of_the_webhook() {
    let mut server = server();
    install(&mut server, "Validating", "v", &[hook("v.x.io", json!({}))]);
    let by = "admission webhook \"v.x.io\" denied the request";
    for (status, code, reason, text) in [
        (Value::Null, 400, Value::Null, format!("{by} without explanation")),
        (json!({"message": "no no"}), 400, Value::Null, format!("{by}: no no")),
        (json!({"reason": "Because"}), 400, "Because".into(), format!("{by}: Because")),
        (
            json!({"message": "m", "code": 422, "reason": "Invalid"}),
            422,
            "Invalid".into(),
            format!("{by}: m"),
        ),
        (json!({"message": "m", "code": 70_000}), 400, Value::Null, format!("{by}: m")),
    ] {
        let (_, response) = ask(&mut server, &make("a"), |it| {
            reply(it, json!({"allowed": false, "status": status, "warnings": ["look out"]}))
        });
        let body = response.json().expect("a status");
        assert_eq!((response.status, &body["reason"]), (code, &reason), "{status}");
        assert_eq!(message(&response), text);
        assert_eq!(response.header("Warning"), Some("299 - \"look out\""));
    }
    let (_, response) = ask(&mut server, &make("a"), |it| {
        reply(it, json!({"allowed": true, "warnings": ["w1", "w2"]}))
    });
    let warnings = response.headers.iter().filter(|(name, _)| *name == "Warning");
    assert_eq!(
        warnings.map(|(_, it)| it.as_str()).collect::<Vec<_>>(),
        ["299 - \"w1\"", "299 - \"w2\""]
    );
}

/// What a webhook replies.
type Replies = Box<dyn Fn(&WebhookCall) -> WebhookReply>;
/// A reply to be made to a call, and the text that the server makes of it.
type Bad = (fn(&WebhookCall) -> WebhookReply, &'static str);

#[test]
fn a_call_that_fails_refuses_unless_it_may_be_ignored() {
    let url = "Post \"https://hooks.example.com:443/v.x.io?timeout=10s\"";
    let of = |status: u16, body: &str| WebhookReply::Answered { status, body: body.into() };
    let refused = |_: &WebhookCall| {
        WebhookReply::Failed("dial tcp 1.2.3.4:1: connect: connection refused".to_owned())
    };
    let failed =
        format!("failed to call webhook: {url}: dial tcp 1.2.3.4:1: connect: connection refused");
    let late = format!("failed to call webhook: {url}: context deadline exceeded");
    let all: Vec<(Replies, String)> = vec![
        (Box::new(refused), failed),
        (Box::new(|_| WebhookReply::late()), late),
        (Box::new(move |_| of(500, "boom")), "failed to call webhook: an error on the server (\"unknown\") has prevented the request from succeeding".to_owned()),
        (Box::new(move |_| of(404, "nope")), "failed to call webhook: the server could not find the requested resource".to_owned()),
        (Box::new(move |_| of(500, r#"{"kind":"Status","message":"st"}"#)), "failed to call webhook: st".to_owned()),
        (Box::new(move |_| of(200, "{}")), "received invalid webhook response: webhook response was absent".to_owned()),
    ];
    for (answer, text) in &all {
        for policy in ["Fail", "Ignore"] {
            let mut server = server();
            install(
                &mut server,
                "Validating",
                "v",
                &[hook("v.x.io", json!({"failurePolicy": policy}))],
            );
            let (_, response) = ask(&mut server, &make("a"), |it| answer(it));
            if policy == "Ignore" {
                assert_eq!(response.status, 201, "{text}");
                continue;
            }
            let text = format!("failed calling webhook \"v.x.io\": {text}");
            assert_eq!(response.status, 500);
            assert_eq!(message(&response), format!("Internal error occurred: {text}"));
            let body = response.json().expect("a status");
            assert_eq!(body["reason"], "InternalError");
            assert_eq!(body["details"], json!({"causes": [{"message": text}]}));
        }
    }
}

#[test]
fn an_answer_that_is_none_is_a_failure() {
    let invalid: [Bad; 3] = [
        (|it| patch(it, &json!([])), "validating webhook may not return response.patch"),
        (
            |it| {
                let WebhookReply::Answered { status, body } = reply(it, json!({"allowed": true}))
                else {
                    unreachable!("it is one")
                };
                let body =
                    String::from_utf8(body).expect("text").replace("admission.k8s.io/v1", "x/v2");
                WebhookReply::Answered { status, body: body.into() }
            },
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got x/v2, Kind=AdmissionReview",
        ),
        (
            |_| {
                let response = json!({"uid": "zzz", "allowed": true});
                WebhookReply::review(&json!({
                    "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response,
                }))
            },
            "expected response.uid=",
        ),
    ];
    let mut server = server();
    install(&mut server, "Validating", "v", &[hook("v.x.io", json!({}))]);
    for (answer, text) in invalid {
        let (_, response) = ask(&mut server, &make("a"), answer);
        assert!(
            message(&response).contains(&format!("received invalid webhook response: {text}")),
            "{response:?}"
        );
    }
    // Nobody calls webhooks in a server that is asked without them.
    let alone = server.handle(std::time::Duration::from_secs(1), &make("a"));
    assert!(format!("{alone:?}").contains("nobody here calls webhooks"), "{alone:?}");
}

#[test]
fn mutating_webhooks_are_asked_by_the_names_of_their_configurations_and_again_if_needed() {
    let mut server = server();
    let again = json!({"reinvocationPolicy": "IfNeeded"});
    install(&mut server, "Mutating", "b", &[hook("m.one.io", again.clone())]);
    install(
        &mut server,
        "Mutating",
        "a",
        &[hook("m.two.io", again), hook("m.three.io", json!({}))],
    );
    install(&mut server, "Validating", "v", &[hook("v.x.io", json!({}))]);
    let answer = |call: &WebhookCall| match call.webhook.as_str() {
        "m.one.io" => {
            patch(call, &json!([{"op": "add", "path": "/metadata/labels", "value": {"m1": "x"}}]))
        }
        "m.two.io" => patch(
            call,
            &json!([{"op": "add", "path": "/metadata/annotations", "value": {"m2": "x"}}]),
        ),
        _ => reply(call, json!({"allowed": true})),
    };
    let (calls, response) = ask(&mut server, &make("mm"), answer);
    let names: Vec<_> = calls.iter().map(|it| it.webhook.as_str()).collect();
    assert_eq!(names, ["m.two.io", "m.three.io", "m.one.io", "m.two.io", "v.x.io"]);
    let object = response.json().expect("an object");
    assert_eq!(object["metadata"]["labels"], json!({"m1": "x"}));
    assert_eq!(object["metadata"]["annotations"], json!({"m2": "x"}));
    assert!(
        object["metadata"].get("managedFields").is_none(),
        "nobody owns what webhooks add: {object}"
    );
    let first = &calls[0].review["request"]["object"];
    assert_eq!(
        *first,
        json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "mm", "namespace": "default"}})
    );
    let last = &calls[4].review["request"]["object"]["metadata"];
    assert_eq!((&last["labels"], &last["uid"]), (&json!({"m1": "x"}), &object["metadata"]["uid"]));
    let uids: std::collections::BTreeSet<_> =
        calls.iter().map(|it| it.review["request"]["uid"].to_string()).collect();
    assert_eq!(uids.len(), calls.len(), "each review has a uid of its own");
}

#[test]
fn patches_are_applied_completed_and_checked() {
    let cases = [
        (json!([{"op": "add", "path": "/data", "value": {"a": "b"}}]), 201, ""),
        (json!([{"op": "add", "path": "/nofield", "value": 1}]), 201, ""),
        (json!([]), 201, ""),
        (
            json!([{"op": "replace", "path": "/metadata/namespace", "value": "other"}]),
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            json!([{"op": "add", "path": "/data", "value": {"bad key": "v"}}]),
            422,
            "ConfigMap \"c\" is invalid: data[bad key]",
        ),
        (
            json!([{"op": "replace", "path": "/nope/x", "value": 1}]),
            500,
            "Internal error occurred: ",
        ),
        (
            json!([{"op": "add", "path": "/data", "value": 5}]),
            500,
            "Internal error occurred: json: cannot unmarshal number",
        ),
        (
            json!([{"op": "replace", "path": "/kind", "value": "Pod"}]),
            500,
            "converting (v1.Pod) to (core.ConfigMap)",
        ),
        (
            json!({"no": "list"}),
            500,
            "Internal error occurred: failed calling webhook \"m.x.io\": received undecodable patch",
        ),
        (
            json!([{"op": "add", "path": "/data", "value": vec![0; 600_000]}]),
            500,
            "Internal error occurred: failed calling webhook \"m.x.io\": received undecodable patch in webhook response: its values would take more memory",
        ),
    ];
    for (change, status, text) in cases {
        let mut server = server();
        install(&mut server, "Mutating", "m", &[hook("m.x.io", json!({}))]);
        let (_, response) = ask(&mut server, &make("c"), |it| patch(it, &change));
        assert_eq!(response.status, status, "{change}: {}", message(&response));
        assert!(message(&response).starts_with(text), "{change}: {}", message(&response));
        let stored = call(&mut server, &Request::new("GET", &format!("{MAPS}/c"))).1;
        assert_eq!(stored.status == 200, status == 201, "a refused object is not stored");
        assert!(stored.json().is_some_and(|it| it.get("nofield").is_none()), "unknown fields go");
    }
    let mut server = server();
    call(&mut server, &make("d"));
    install(&mut server, "Mutating", "m", &[hook("m.x.io", json!({}))]);
    let add = json!([{"op": "add", "path": "/data", "value": {"a": "b"}}]);
    let delete = Request::new("DELETE", &format!("{MAPS}/d"));
    let (_, response) = ask(&mut server, &delete, |it| patch(it, &add));
    assert!(message(&response).contains("attempted to modify the object"), "{response:?}");
}

#[test]
fn what_is_refused_before_or_after_calls_no_more_webhooks_than_on_a_real_server() {
    let mut server = server();
    call(&mut server, &make("there"));
    install(&mut server, "Mutating", "m", &[hook("m.x.io", json!({}))]);
    install(&mut server, "Validating", "v", &[hook("v.x.io", json!({}))]);
    let put = Request::new("PUT", &format!("{MAPS}/there"));
    let stale = put.json(&json!({"metadata": {"name": "there", "resourceVersion": "1"}}));
    let (calls, response) = call(&mut server, &stale);
    assert_eq!((response.status, order(&calls)), (409, vec!["m.x.io UPDATE".to_owned()]));
    let other = Request::new("DELETE", &format!("{MAPS}/there"))
        .json(&json!({"preconditions": {"uid": "x"}}));
    let (calls, response) = call(&mut server, &other);
    assert_eq!((response.status, calls.len()), (409, 0));
    let (calls, response) = call(&mut server, &make("Bad Name"));
    assert_eq!((response.status, order(&calls)), (422, vec!["m.x.io CREATE".to_owned()]));
    let nowhere = Request::new("POST", &MAPS.replace("default", "nowhere"))
        .json(&json!({"metadata": {"name": "a"}}));
    let (calls, response) = call(&mut server, &nowhere);
    assert_eq!((response.status, calls.len()), (404, 0));
    let (calls, response) = call(&mut server, &make("there"));
    assert_eq!((response.status, calls.len()), (409, 2), "whether it exists is known last");
    let side = json!({"sideEffects": "Unknown"});
    let refused = install(&mut server, "Validating", "w", &[hook("w.x.io", side)]);
    assert_eq!(refused.status, 422);
}

#[test]
fn all_objects_of_a_collection_are_judged_in_few_tries() {
    let mut server = server();
    for index in 0..20 {
        call(&mut server, &make(&format!("c{index}")));
    }
    install(&mut server, "Mutating", "m", &[hook("m.x.io", json!({}))]);
    install(&mut server, "Validating", "v", &[hook("v.x.io", json!({}))]);
    let all = Request::new("DELETE", MAPS);
    let mut attempt = seatrial_sim::apiserver::Attempt::default();
    let mut tries = 0;
    let now = std::time::Duration::from_secs(1);
    let mut sizes = Vec::new();
    while let seatrial_sim::apiserver::Step::Waits(calls) = server.attempt(now, &all, &mut attempt)
    {
        tries += 1;
        sizes.push(calls.len());
        for call in calls {
            assert_eq!(call.review["request"].get("name"), None, "a collection has no name");
            let reply = reply(&call, json!({"allowed": true}));
            attempt.reply(call, reply);
        }
    }
    assert_eq!((tries, sizes), (2, vec![20, 20]));
    let left = call(&mut server, &Request::new("GET", MAPS)).1;
    assert_eq!(left.json().expect("a list")["items"], json!([]));
}

/// Another client writes while a webhook is asked.
#[test]
fn a_webhook_is_asked_again_if_the_object_has_changed_meanwhile() {
    use seatrial_sim::apiserver::{Answer, Attempt, Step};
    let mut server: Server = server();
    call(&mut server, &make("a"));
    install(&mut server, "Validating", "v", &[hook("v.x.io", json!({}))]);
    let path = format!("{MAPS}/a");
    let (mine, other) = (
        merge(&path, &json!({"data": {"mine": "1"}})),
        merge(&path, &json!({"data": {"other": "1"}})),
    );
    let now = std::time::Duration::from_secs(1);
    let mut attempt = Attempt::default();
    let Step::Waits(first) = server.attempt(now, &mine, &mut attempt) else { panic!("it waits") };
    assert_eq!(call(&mut server, &other).1.status, 200);
    for call in first {
        let reply = reply(&call, json!({"allowed": true}));
        attempt.reply(call, reply);
    }
    let Step::Waits(second) = server.attempt(now, &mine, &mut attempt) else {
        panic!("it waits again")
    };
    assert_eq!(second[0].review["request"]["oldObject"]["data"], json!({"other": "1"}));
    for call in second {
        let reply = reply(&call, json!({"allowed": true}));
        attempt.reply(call, reply);
    }
    let Step::Answered(Answer::Response(response)) = server.attempt(now, &mine, &mut attempt)
    else {
        panic!("it is answered")
    };
    assert_eq!(response.json().expect("an object")["data"], json!({"mine": "1", "other": "1"}));
}
