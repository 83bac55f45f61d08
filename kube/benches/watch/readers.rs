//! The readers of the events: each uses one thread, and looks at every object.

use std::env;
use std::fs;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_core::Stream as _;
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy;
use hyper_util::rt::TokioExecutor;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::client::{Body, ConfigExt as _};
use rustix::time::{ClockId, clock_gettime};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use seatrial_core::cancel::CancelToken;
use seatrial_core::request::http::HttpConfig;
use seatrial_core::request::{Verb, WatchEvent};
use seatrial_core::runtime::System;
use tower::Layer as _;

use crate::Figures;
use crate::events::{BLOCK, block};

/// The certificate of the server's authority.
pub(crate) const AUTHORITY: &str = "SEATRIAL_WATCH_AUTHORITY";

/// Every reader and its name in the table. The others are compared with the first.
pub(crate) const READERS: [(&str, &str); 5] = [
    ("serde", "serde_json, from memory"),
    ("ours", "seatrial, HTTP"),
    ("kube", "kube, HTTP"),
    ("ours-tls", "seatrial, TLS"),
    ("kube-tls", "kube, TLS"),
];

/// Measures a row.
pub(crate) fn row(asked: &str) -> Figures {
    let words: Vec<_> = asked.split(' ').collect();
    let [reader, plain, encrypted, count] = words[..] else { panic!("{asked:?} is no row") };
    let count = count.parse().expect("a number of events");
    let plain = format!("http://localhost:{plain}");
    let encrypted = format!("https://localhost:{encrypted}");
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let tokio = tokio.expect("a runtime");
    let _inside = tokio.enter();
    let before_kb = peak_kb();
    let (began, before) = (Instant::now(), processor());
    let seen = match reader {
        "serde" => alone(count),
        "ours" => tokio.block_on(ours(&plain, count)),
        "ours-tls" => tokio.block_on(ours(&encrypted, count)),
        "kube" => tokio.block_on(kubes(open(&plain), count)),
        "kube-tls" => tokio.block_on(kubes(sealed(&encrypted), count)),
        unknown => panic!("nobody is called {unknown:?}"),
    };
    let (wall, processor) = (began.elapsed(), processor() - before);
    assert_eq!(seen, expected(count), "every event came, and was read");
    let (wall, processor) = (wall.as_secs_f64(), processor.as_secs_f64());
    Figures { wall, processor, before_kb, peak_kb: peak_kb() }
}

/// The share of an object in a checksum, which shows whether all were read.
fn checked(map: &ConfigMap) -> usize {
    let data = map.data.iter().flatten().map(|(key, value)| key.len() + value.len());
    map.metadata.resource_version.as_deref().map_or(0, str::len) + data.sum::<usize>()
}

fn expected(count: usize) -> usize {
    alone(BLOCK) * (count / BLOCK)
}

fn alone(count: usize) -> usize {
    let block = block();
    let mut sum = 0;
    for _ in 0..count / BLOCK {
        for line in block.as_bytes().split(|byte| *byte == b'\n').filter(|it| !it.is_empty()) {
            match serde_json::from_slice(line).expect("an event") {
                kube::api::WatchEvent::Modified(map) => sum += checked(&map),
                other => panic!("{other:?}"),
            }
        }
    }
    sum
}

async fn ours(host: &str, count: usize) -> usize {
    let mut config = HttpConfig::new(host).expect("an address");
    if host.starts_with("https") {
        config = config.authorities(env::var(AUTHORITY).expect("it is told"));
    }
    let system = System::new();
    let client = config.client(&system).expect("a client");
    let request = client.request(Verb::Get, "/api/v1").resource("configmaps");
    let request = request.param("watch", "1").param("events", &count.to_string());
    let token = CancelToken::new(&system);
    let mut watch = client.watch(&request, &token).await.expect("it begins");
    let mut sum = 0;
    while let Some(event) = watch.next::<ConfigMap>().await {
        let WatchEvent::Modified(map) = event else { panic!("{event:?}") };
        sum += checked(&map);
    }
    sum
}

/// kube's client with its default settings.
fn open(host: &str) -> kube::Client {
    let config = kube::Config::new(host.parse().expect("an address"));
    kube::Client::try_from(config).expect("a client")
}

/// kube's client over the same TLS as ours.
fn sealed(host: &str) -> kube::Client {
    let mut trusted = RootCertStore::empty();
    let pem = env::var(AUTHORITY).expect("it is told");
    let authority = CertificateDer::from_pem_slice(pem.as_bytes()).expect("PEM");
    trusted.add(authority).expect("a certificate");
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .expect("they fit")
        .with_root_certificates(trusted)
        .with_no_client_auth();
    let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_only().enable_http1();
    let client: legacy::Client<_, Body> =
        legacy::Client::builder(TokioExecutor::new()).build(connector.build());
    let config = kube::Config::new(host.parse().expect("an address"));
    kube::Client::new(config.base_uri_layer().layer(client), "default")
}

async fn kubes(client: kube::Client, count: usize) -> usize {
    let uri = format!("/api/v1/configmaps?watch=1&events={count}");
    let request = http::Request::get(uri).body(Vec::new()).expect("a request");
    let events = client.request_events::<ConfigMap>(request).await.expect("it begins");
    let mut events = pin!(events);
    let mut sum = 0;
    while let Some(event) = poll_fn(|context| events.as_mut().poll_next(context)).await {
        match event.expect("an event") {
            kube::api::WatchEvent::Modified(map) => sum += checked(&map),
            other => panic!("{other:?}"),
        }
    }
    sum
}

/// The processor time of this thread.
fn processor() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
}

/// The peak of this process's memory, if the system reports it.
fn peak_kb() -> usize {
    let told = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = told.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
