//! What is asked before a write: webhooks, limits and quotas. The answers are those of a real server.

mod chains;
mod mistakes;
mod quotas;
#[cfg(feature = "tls")]
pub(crate) mod secure;
mod select;
#[cfg(feature = "tower")]
mod within;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use seatrial_sim::apiserver::{
    Answer, Options, Request, Response, Server, WebhookCall, WebhookReply,
};
use serde_json::{Value, json};

pub(crate) const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// The calls of a request, and its answer.
pub(crate) type Told = (Vec<WebhookCall>, Response);

/// Makes a request; the function answers for all webhooks.
pub(crate) fn ask(
    server: &mut Server,
    request: &Request,
    answer: impl Fn(&WebhookCall) -> WebhookReply,
) -> Told {
    let mut calls = Vec::new();
    let answered = server.handle_with(Duration::from_secs(1), request, &mut |call| {
        calls.push(call.clone());
        answer(call)
    });
    match answered {
        Answer::Response(response) => (calls, response),
        other => panic!("no response: {other:?}"),
    }
}

/// Makes a request, all webhooks of which allow everything.
pub(crate) fn call(server: &mut Server, request: &Request) -> Told {
    ask(server, request, |call| reply(call, json!({"allowed": true})))
}

/// A response to a call.
pub(crate) fn reply(call: &WebhookCall, mut response: Value) -> WebhookReply {
    response["uid"] = call.review["request"]["uid"].clone();
    let kind = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"});
    let mut review = kind;
    review["response"] = response;
    WebhookReply::review(&review)
}

/// A response with a patch.
pub(crate) fn patch(call: &WebhookCall, patch: &Value) -> WebhookReply {
    let patch = STANDARD.encode(patch.to_string());
    reply(call, json!({"allowed": true, "patchType": "JSONPatch", "patch": patch}))
}

/// A webhook for config maps, with more fields or others.
pub(crate) fn hook(name: &str, more: Value) -> Value {
    let mut hook = json!({
        "name": name, "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": format!("https://hooks.example.com/{name}")},
        "rules": [{
            "operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["configmaps"],
        }],
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        hook[key] = value.clone();
    }
    hook
}

/// Installs a configuration.
pub(crate) fn install(server: &mut Server, kind: &str, name: &str, hooks: &[Value]) -> Response {
    let plural = format!("{}webhookconfigurations", kind.to_lowercase());
    let path = format!("/apis/admissionregistration.k8s.io/v1/{plural}");
    let body = json!({"metadata": {"name": name}, "webhooks": hooks});
    let (calls, response) = call(server, &Request::new("POST", &path).json(&body));
    assert_eq!(calls, [], "a configuration is sent to no webhook");
    response
}

pub(crate) fn server() -> Server {
    Server::new(&Options::default())
}

/// The creation of a config map.
pub(crate) fn make(name: &str) -> Request {
    Request::new("POST", MAPS).json(&json!({"metadata": {"name": name}}))
}

pub(crate) fn message(response: &Response) -> &str {
    response.json().and_then(|it| it["message"].as_str()).unwrap_or("")
}

/// The last parts of the addresses and the operations of calls.
pub(crate) fn order(calls: &[WebhookCall]) -> Vec<String> {
    let operation =
        |call: &WebhookCall| call.review["request"]["operation"].as_str().map(str::to_owned);
    calls.iter().map(|it| format!("{} {}", it.webhook, operation(it).unwrap_or_default())).collect()
}
