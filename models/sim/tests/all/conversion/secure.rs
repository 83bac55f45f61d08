//! A webhook over HTTPS, with a server that listens.

use std::net::SocketAddr;

use seatrial_sim::apiserver::{Options, Server};
use seatrial_sim::http::{Face, Listen, Tls};
use serde_json::json;

use super::{DEFINITIONS, by_webhook, definition};
use crate::admission::secure::{listen, post, send};

const WIDGETS: &str = "/apis/example.com/v2/namespaces/default/widgets";

/// A server whose widgets a webhook at this address converts, with one of them stored as v1.
fn face(address: SocketAddr, authority: &str) -> Face {
    let face = Face::listen(Server::new(&Options::default()), &Listen::default()).expect("a port");
    let conversion = by_webhook(&format!("https://{address}/convert"), authority);
    let answer = post(&face, DEFINITIONS, &definition("example.com", &conversion));
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "a"}, "spec": {"size": 7}});
    let answer = post(&face, &WIDGETS.replace("v2", "v1"), &widget);
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    face
}

#[test]
fn objects_and_events_are_converted_over_https_if_the_certificate_is_trusted() {
    let tls = Tls::generate([127, 0, 0, 1].into()).expect("a certificate");
    let address = listen(&tls);
    let trusting = face(address, tls.authority());
    let get = send(&trusting, &format!("GET {WIDGETS}/a"), "");
    assert!(get.starts_with("HTTP/1.1 200") && get.contains(r#""dims":{"size":7}"#), "{get}");
    let watched =
        send(&trusting, &format!("GET {WIDGETS}?watch=1&timeoutSeconds=1&resourceVersion=1"), "");
    assert!(watched.contains(r#""type":"ERROR""#), "{watched}"); // compacted
    let version = get.split(r#""resourceVersion":""#).nth(1).and_then(|it| it.split('"').next());
    let before = version.and_then(|it| it.parse::<u64>().ok()).expect("a version") - 1;
    let path = format!("GET {WIDGETS}?watch=1&timeoutSeconds=1&resourceVersion={before}");
    let watched = send(&trusting, &path, "");
    assert!(
        watched.contains(r#""type":"ADDED""#) && watched.contains(r#""dims":{"size":7}"#),
        "{watched}"
    );

    let other = Tls::generate([127, 0, 0, 1].into()).expect("a certificate");
    let get = send(&face(address, other.authority()), &format!("GET {WIDGETS}/a"), "");
    assert!(get.starts_with("HTTP/1.1 500"), "{get}");
    let why = format!(
        r#"conversion webhook for example.com/v1, Kind=Widget failed: Post \"https://{address}/convert?timeout=30s\": tls: failed to verify certificate: x509: certificate signed by unknown authority"#
    );
    assert!(get.contains(&why), "{get}");
}
