//! Any bytes, as a client might send them over one connection: every request in them gets a valid
//! answer, and the stored objects stay readable.

#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use seatrial_sim::apiserver::{Answer, Options, Request, Response, Server};
use seatrial_sim::http::requests;

fn check(response: &Response) {
    assert!((200..600).contains(&response.status), "{response:?}");
    let bytes = response.body.bytes();
    if let Some(body) = response.json() {
        let again = serde_json::from_slice::<serde_json::Value>(&bytes).expect("it can be read");
        assert_eq!(again, *body);
        assert_eq!(response.status >= 400, body["status"] == "Failure", "{response:?}");
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut server = Server::new(&Options::default());
    let mut watches = Vec::new();
    for request in requests(bytes).iter().take(32) {
        let before = server.revision();
        match server.handle(Duration::from_secs(1), request) {
            Answer::Response(response) => check(&response),
            Answer::Watch { id, head } => {
                assert_eq!(head.status, 200);
                watches.push(id);
            }
            Answer::Lost => panic!("nothing was to be lost"),
        }
        assert!(server.revision() >= before);
        let is_read = request.method == "GET";
        assert!(!is_read || server.revision() == before, "a read writes: {request:?}");
        for id in &watches {
            for event in server.events(*id).events {
                assert!(event.object.is_object());
            }
        }
    }
    for path in ["/api/v1/namespaces", "/api/v1/configmaps", "/api/v1/pods"] {
        let Answer::Response(response) =
            server.handle(Duration::from_secs(2), &Request::new("GET", path))
        else {
            panic!("no list")
        };
        assert_eq!(response.status, 200);
    }
});
