//! Helpers that the tests share.

use std::io::Read as _;
use std::time::Duration;

use seatrial_sim::apiserver::{Answer, Options, Request, Response, Server, WatchId};
use seatrial_sim::conformance::{TRACES, Trace};
use serde_json::Value;

pub(crate) use seatrial_sim::conformance::world as server;

pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const MAPS: &str = "/api/v1/namespaces/default/configmaps";
pub(crate) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

pub(crate) fn traces(file: &str) -> Vec<Trace> {
    let (_, bytes) = TRACES.iter().find(|(name, _)| *name == file).expect("the file is carried");
    let mut text = String::new();
    flate2::read::GzDecoder::new(*bytes).read_to_string(&mut text).expect("it is gzip");
    text.lines().map(|line| Trace::parse(line).expect("the line is a trace")).collect()
}

pub(crate) fn empty() -> Server {
    Server::new(&Options::default())
}

/// The response, or the head of a watch.
pub(crate) fn answer(server: &mut Server, request: &Request) -> Response {
    match server.handle(SECOND, request) {
        Answer::Response(response) | Answer::Watch { head: response, .. } => response,
        Answer::Lost => panic!("no fault was injected"),
    }
}

/// The status and the body of an answer.
pub(crate) fn ask(server: &mut Server, request: &Request) -> (u16, Value) {
    let response = answer(server, request);
    (response.status, response.json().cloned().unwrap_or_default())
}

pub(crate) fn watch(server: &mut Server, target: &str) -> WatchId {
    match server.handle(SECOND, &Request::new("GET", target)) {
        Answer::Watch { id, .. } => id,
        other => panic!("no watch was opened: {other:?}"),
    }
}

pub(crate) fn merge(path: &str, patch: &Value) -> Request {
    let request = Request::new("PATCH", path);
    request.content("application/merge-patch+json", patch.to_string())
}

/// The fields that a refusal names, with the reason for each.
pub(crate) fn causes(body: &Value) -> Vec<(&str, &str)> {
    let part = |cause: &'_ Value, name: &str| cause[name].as_str().map_or(0, str::len);
    let causes = body["details"]["causes"].as_array().into_iter().flatten();
    assert!(causes.clone().all(|it| part(it, "field") > 0), "{body}");
    causes
        .map(|it| (it["field"].as_str().unwrap_or(""), it["reason"].as_str().unwrap_or("")))
        .collect()
}
