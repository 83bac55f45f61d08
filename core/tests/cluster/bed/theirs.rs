//! A real server, asked over the network.

use seatrial_core::cancel::CancelToken;
use seatrial_core::request::{Verb, WatchEvent};
use seatrial_core::runtime::{Ambient as _, Runtime as _, System};
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
    let reply = client.send_blocking(&call, &CancelToken::new(&System::new()));
    reply.and_then(|it| it.json()).unwrap_or_else(|why| panic!("{request:?}: {why}"))
}

/// The version of the newest state.
pub(super) fn revision(client: &Http) -> u64 {
    let list = ask(client, &Request::new("GET", COLLECTIONS[0]));
    let version = list["metadata"]["resourceVersion"].as_str().expect("a version");
    version.parse().expect("a number")
}

/// Whether it came to hold of an object, and what it was last. A watch begins with what is there.
pub(super) fn wait_for(
    client: &Http,
    request: &Request,
    mut holds: impl FnMut(&Value) -> bool,
) -> (bool, Option<Value>) {
    let system = System::new();
    let token = CancelToken::with_deadline(&system, system.now() + PATIENCE);
    let (collection, name) = request.path.rsplit_once('/').expect("it names an object");
    let watch = client.request(Verb::Get, "/").request_uri(collection).param("watch", "true");
    let watch = watch.param("fieldSelector", &format!("metadata.name={name}"));
    system.block_on(async {
        let mut watch = client.watch(&watch, &token).await.expect("a watch begins");
        let mut last = None;
        while let Some(event) = watch.next::<Value>().await {
            if let WatchEvent::Added(object) | WatchEvent::Modified(object) = event {
                if holds(&object) {
                    return (true, Some(object));
                }
                last = Some(object);
            }
        }
        (false, last)
    })
}
