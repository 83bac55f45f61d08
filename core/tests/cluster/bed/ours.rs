//! The simulated server behind TLS.

use std::net::Ipv4Addr;

use seatrial_sim::apiserver::{Answer, Options, Request, Server};
use seatrial_sim::http::{Face, Listen, Tls};
use serde_json::Value;

use super::{Address, PATIENCE, now};

/// Begins to serve an empty cluster.
pub(super) fn serve(tls: Tls) -> (Face, Address) {
    let server = Server::new(&Options { begins_at: now(), ..Options::default() });
    let listen = Listen { tls: Some(tls.clone()), ..Listen::default() };
    let face = Face::listen(server, &listen).expect("a port is free");
    let address = Address::local(face.address().port(), tls.authority());
    (face, address)
}

/// If it is set, the server speaks HTTP/1.1 alone.
pub(crate) const HTTP1: &str = "SEATRIAL_CLUSTER_HTTP1";

/// TLS for `localhost`, and the authority that vouches for it.
pub(crate) fn tls() -> Tls {
    let tls = Tls::generate(Ipv4Addr::LOCALHOST.into()).expect("there is randomness");
    if std::env::var_os(HTTP1).is_some() { tls.without_http2() } else { tls }
}

pub(super) fn ask(face: &Face, request: &Request) -> Value {
    let answer = face.with(|server| server.handle(now(), request));
    let Answer::Response(response) = answer else { panic!("{answer:?}") };
    assert!(response.status < 300, "{response:?}");
    response.json().expect("JSON").clone()
}

/// Whether it came to hold, and what was said last.
pub(super) fn wait_for(
    face: &Face,
    request: &Request,
    mut holds: impl FnMut(&Value) -> bool,
) -> (bool, Option<Value>) {
    let mut last = None;
    let came = face.wait_until(PATIENCE, |server| {
        let Answer::Response(response) = server.handle(now(), request) else { return false };
        last = response.json().cloned();
        last.as_ref().is_some_and(&mut holds)
    });
    (came, last)
}
