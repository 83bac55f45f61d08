//! The traces that this crate carries, and the server that they are replayed against.

use std::time::Duration;

use crate::apiserver::{Options, Request, Server};

macro_rules! carried {
    ($($name:literal),+) => {
        /// The recorded traces: the name of each file, and its bytes as gzip packed them.
        pub const TRACES: &[(&str, &[u8])] = &[
            $(($name, include_bytes!(concat!("../../conformance/apiserver/", $name, ".jsonl.gz")))),+
        ];
    };
}

carried!("crud", "finalizers", "lease", "list", "patch", "watch");

/// The custom resources that the traces use, as JSON: the first is that of the recorded ones.
pub const DEFINITIONS: [&str; 2] = [
    include_str!("../../conformance/apiserver/crd.json"),
    include_str!("../../conformance/apiserver/gadgets.json"),
];

/// A server as it was before the first request of a trace.
pub fn world(seed: u64) -> Server {
    let mut server = Server::new(&Options { seed, ..Options::default() });
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for definition in DEFINITIONS {
        let request = Request::new("POST", path).content("application/json", definition);
        // A server that refuses it departs in every trace.
        drop(server.handle(Duration::ZERO, &request));
    }
    server
}
