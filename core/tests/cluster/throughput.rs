//! How fast a watch is read over sockets and TLS, beside what reads the same bytes from memory.
//!
//! ```text
//! EVENTS=1000000 cargo test -p seatrial-core --features http --test cluster \
//!     --release throughput -- --nocapture
//! ```

use std::env;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use seatrial_core::cancel::CancelToken;
use seatrial_core::request::{Verb, WatchEvent};
use seatrial_core::runtime::System;
use serde::Deserialize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::bed;

#[derive(Deserialize)]
struct Object {
    metadata: Metadata,
    data: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    name: String,
    resource_version: String,
}

#[derive(Deserialize)]
struct Line {
    object: Object,
}

/// A kilobyte with a number in it.
fn event(number: usize) -> String {
    let head = format!(
        r#"{{"type":"MODIFIED","object":{{"metadata":{{"name":"object-{number}","resourceVersion":"{number}"}},"data":""#
    );
    let filler = "x".repeat(1023 - head.len() - 4);
    format!("{head}{filler}\"}}}}\n")
}

/// Events that are sent again and again, in chunks of many.
const BLOCK: usize = 1000;

fn checked(object: &Object) -> usize {
    object.metadata.name.len() + object.metadata.resource_version.len() + object.data.len()
}

/// The memory of this process in bytes, where the system tells it.
fn memory() -> usize {
    let told = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: usize = told.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
    pages * 4096
}

#[test]
fn a_watch_is_read_almost_as_fast_as_its_bytes_can_be() {
    let count: usize = env::var("EVENTS").map_or(4_000, |text| text.parse().unwrap());
    let block: Arc<str> = (0..BLOCK).map(event).collect::<String>().into();
    let tokio = bed::tokio();
    let tls = bed::tls();
    let acceptor = TlsAcceptor::from(tls.config());
    let listener = tokio.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = bed::Address::local(listener.local_addr().unwrap().port(), tls.authority());
    let sent = Arc::clone(&block);
    let serving = tokio.spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = acceptor.accept(stream).await.unwrap();
        let _read = stream.read(&mut [0; 4096]).await.unwrap();
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        let chunk = format!("{:x}\r\n{sent}\r\n", sent.len());
        for _ in 0..count / BLOCK {
            stream.write_all(chunk.as_bytes()).await.unwrap();
        }
        stream.write_all(b"0\r\n\r\n").await.unwrap();
        stream.flush().await.unwrap();
    });

    let alone = Instant::now();
    let mut sum = 0;
    for _ in 0..count / BLOCK {
        for line in block.lines() {
            sum += checked(&serde_json::from_str::<Line>(line).unwrap().object);
        }
    }
    let alone = alone.elapsed();

    let client = address.client(&tokio);
    let request = client.request(Verb::Get, "/api/v1").resource("configmaps");
    let (began, before) = (Instant::now(), memory());
    let mut most = before;
    let (mut told, mut seen) = (0, 0);
    tokio.block_on(async {
        let token = CancelToken::new(&System::new());
        let mut watch = client.watch(&request, &token).await.unwrap();
        while let Some(event) = watch.next::<Object>().await {
            let WatchEvent::Modified(object) = event else { panic!("it is an error") };
            seen += checked(&object);
            told += 1;
            if told % BLOCK == 0 {
                most = most.max(memory());
            }
        }
    });
    let ours = began.elapsed();
    tokio.block_on(serving).unwrap();
    assert_eq!((told, seen), (count / BLOCK * BLOCK, sum), "every event came, and was read");
    let pace = |took: Duration| told as f64 / took.as_secs_f64();
    println!("{told} events of 1 kB       |  events/s | of serde_json");
    println!("serde_json, from memory  | {:9.0} | 1.00", pace(alone));
    println!("watch, over TLS          | {:9.0} | {:.2}", pace(ours), pace(ours) / pace(alone));
    println!("memory grew by {} kB", (most - before) >> 10);
    assert!(most - before < 32 << 20, "memory is flat");
}
