//! A real server, asked over the network.

use std::time::{Duration, Instant};

use seatrial_core::cancel::CancelToken;
use seatrial_core::request::{RequestError, Verb};
use seatrial_core::runtime::System;
use seatrial_sim::apiserver::Request;
use serde_json::Value;

use super::{Http, PATIENCE};

/// Where the tests leave objects behind.
const COLLECTIONS: [&str; 3] = [
    "/api/v1/namespaces/default/configmaps",
    "/apis/apps/v1/namespaces/default/deployments",
    "/apis/coordination.k8s.io/v1/namespaces/default/leases",
];

/// Deletes what earlier tests have left, also what they keep by a finalizer.
pub(super) fn empty(client: &Http) {
    for collection in COLLECTIONS {
        let list = ask(client, &Request::new("GET", collection));
        for object in list["items"].as_array().expect("a list") {
            let name = object["metadata"]["name"].as_str().expect("a name");
            let object = format!("{collection}/{name}");
            let free = Request::new("PATCH", &object);
            let body = r#"{"metadata":{"finalizers":null}}"#;
            ask(client, &free.content("application/merge-patch+json", body));
            ask(client, &Request::new("DELETE", &object));
        }
    }
}

pub(super) fn ask(client: &Http, request: &Request) -> Value {
    answer(client, request).unwrap_or_else(|why| panic!("{request:?}: {why}"))
}

fn answer(client: &Http, request: &Request) -> Result<Value, RequestError> {
    let verb = Verb::from(request.method.as_str());
    let mut call = client.request(verb, "/").request_uri(&request.path);
    for (key, value) in &request.query {
        call = call.param(key, value);
    }
    for (name, value) in &request.headers {
        call = call.header(name, &[value]);
    }
    if !request.body.is_empty() {
        call = call.body(request.body.clone());
    }
    client.send_blocking(&call, &CancelToken::new(&System::new()))?.json()
}

/// The version of the newest state.
pub(super) fn revision(client: &Http) -> u64 {
    let list = ask(client, &Request::new("GET", COLLECTIONS[0]));
    let version = list["metadata"]["resourceVersion"].as_str().expect("a version");
    version.parse().expect("a number")
}

/// Whether it came to hold, and what was said last: an error is another answer that does not fit.
pub(super) fn wait_for(
    client: &Http,
    request: &Request,
    mut holds: impl FnMut(&Value) -> bool,
) -> (bool, Option<Value>) {
    let until = Instant::now() + PATIENCE;
    loop {
        let last = answer(client, request).ok();
        let came = last.as_ref().is_some_and(&mut holds);
        if came || Instant::now() > until {
            return (came, last);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
