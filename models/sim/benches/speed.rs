//! The speed of the server, in process on one core and over HTTP, compared with its targets.
//!
//! ```text
//! cargo bench -p seatrial-sim --features http [-- mix single begin large http]
//! ```

use std::hint::black_box;
use std::io::Read as _;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use seatrial_sim::apiserver::{Answer, Options, Request, Server, WatchId};
use seatrial_sim::conformance::{Simulated, TRACES, Trace, replay_on, world};
use serde_json::json;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const NOW: Duration = Duration::from_secs(1_763_942_400);

/// A clock that stands still while others have the processor.
struct Instant(Duration);

impl Instant {
    fn read() -> Duration {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }

    fn now() -> Self {
        Self(Self::read())
    }

    fn elapsed(&self) -> Duration {
        Self::read() - self.0
    }
}

/// One line of the table.
fn line(what: &str, figure: &str, target: &str) {
    println!("{what:<34} {figure:>20}   {target}");
}

const FAST: &str = "200,000/s";

fn pace(what: &str, count: usize, took: Duration, target: &str) {
    line(what, &format!("{:.0}/s", count as f64 / took.as_secs_f64()), target);
}

fn main() {
    // A part can be asked for by its name.
    let asked: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let parts: [(&str, fn()); 5] =
        [("mix", mix), ("single", single), ("begin", begin), ("large", large), ("http", over_http)];
    line("what", "measured", "target");
    for (name, part) in parts {
        if asked.is_empty() || asked.iter().any(|it| it == name) {
            part();
        }
    }
}

/// The requests of the recorded traces, as they were sent: nothing but the server is measured.
fn mix() {
    let fresh = world(1);
    let (mut all, mut sum) = (0, Duration::ZERO);
    for (name, bytes) in TRACES {
        let mut text = String::new();
        flate2::read::GzDecoder::new(*bytes).read_to_string(&mut text).expect("it is gzip");
        let traces = text.lines().map(|line| Trace::parse(line).expect("a trace"));
        let programs: Vec<Vec<Request>> = traces
            .map(|trace| {
                let mut requests = Vec::new();
                let mut target = Simulated::new(fresh.clone());
                let mut keep = |request: &Request| requests.push(request.clone());
                replay_on(&trace, &mut target, "ns-of", &mut keep);
                requests
            })
            .collect();
        let (mut count, begin) = (0, Instant::now());
        for program in &programs {
            let mut server = fresh.clone();
            for request in program {
                black_box(server.handle(NOW, request));
                count += 1;
            }
        }
        let took = begin.elapsed();
        pace(&format!("requests of the traces in {name}"), count, took, "");
        all += count;
        sum += took;
    }
    pace("requests of all traces", all, sum, FAST);
}

fn map(name: usize, value: usize) -> serde_json::Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": format!("n{name}"), "labels": {"app": "x"}},
        "data": {"key": "value", "n": value.to_string()},
    })
}

fn single() {
    const COUNT: usize = 10_000;
    let mut server = Server::new(&Options::default());
    let mut run = |name: &str, make: &dyn Fn(usize) -> Request| {
        let requests: Vec<_> = (0..COUNT).map(make).collect();
        let begin = Instant::now();
        for request in &requests {
            black_box(server.handle(NOW, request));
        }
        pace(name, COUNT, begin.elapsed(), FAST);
    };
    run("create", &|n| Request::new("POST", MAPS).json(&map(n, 0)));
    run("get", &|n| Request::new("GET", &format!("{MAPS}/n{n}")));
    run("update", &|n| Request::new("PUT", &format!("{MAPS}/n{n}")).json(&map(n, 1)));
    run("merge patch", &|n| {
        let body = json!({"data": {"n": "2"}}).to_string();
        let request = Request::new("PATCH", &format!("{MAPS}/n{n}"));
        request.content("application/merge-patch+json", body)
    });
    run("apply", &|n| {
        let target = format!("{MAPS}/n{n}?fieldManager=m&force=true");
        let body = map(n, 3).to_string();
        Request::new("PATCH", &target).content("application/apply-patch+yaml", body)
    });
    run("delete", &|n| Request::new("DELETE", &format!("{MAPS}/n{n}")));
}

fn begin() {
    const COUNT: u32 = 200;
    drop(Server::new(&Options::default()));
    let begin = Instant::now();
    for seed in 0..COUNT {
        black_box(Server::new(&Options { seed: seed.into(), ..Options::default() }));
    }
    line("a fresh server", &format!("{:?}", begin.elapsed() / COUNT), "1ms");
}

fn filled(objects: usize) -> Server {
    let mut server = Server::new(&Options::default());
    for name in 0..objects {
        server.handle(NOW, &Request::new("POST", MAPS).json(&map(name, 0)));
    }
    server
}

fn copy(server: &Server, objects: usize) {
    const COUNT: u32 = 1_000;
    let begin = Instant::now();
    for _ in 0..COUNT {
        black_box(server.clone());
    }
    let took = format!("{:?}", begin.elapsed() / COUNT);
    line(&format!("a copy of {objects} objects"), &took, "the same for any number");
}

/// 100,000 objects and 1,000 watches.
fn large() {
    copy(&filled(1_000), 1_000);
    let before = memory();
    let mut server = filled(100_000);
    let target = format!("{MAPS}?watch=true&resourceVersion={}", server.revision());
    let watches: Vec<WatchId> = (0..1_000)
        .filter_map(|_| match server.handle(NOW, &Request::new("GET", &target)) {
            Answer::Watch { id, .. } => Some(id),
            _ => None,
        })
        .collect();
    server.handle(NOW, &Request::new("DELETE", &format!("{MAPS}/n7")));
    let told: usize = watches.iter().map(|id| server.events(*id).events.len()).sum();
    let figure = format!("{} MiB", memory() - before);
    line(&format!("100,000 objects and {told} watches"), &figure, "1024 MiB");
    copy(&server, 100_000);
}

/// The memory of this process in MiB; 0 if it is unknown.
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = text.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
    pages * 4 / 1024
}

#[cfg(not(feature = "http"))]
fn over_http() {
    line("requests over HTTP", "not measured", "build with `--features http`");
}

/// Requests one after the other over connections that stay open, from a client of hyper.
#[cfg(feature = "http")]
fn over_http() {
    use seatrial_sim::http::{Face, Listen};

    let face = Face::listen(filled(100), &Listen::default()).expect("a port is free");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    let runtime = runtime.expect("a runtime");
    for (method, connections) in [("GET", 1), ("GET", 8), ("PUT", 1), ("PUT", 8)] {
        let begin = std::time::Instant::now();
        let sent = runtime.block_on(futures::future::join_all(
            (0..connections).map(|first| http::talk(face.address(), method, first)),
        ));
        let what = format!("{method} over HTTP, {connections} connections");
        pace(&what, sent.iter().sum(), begin.elapsed(), "20 times the real one");
    }
}

#[cfg(feature = "http")]
mod http {
    use std::net::SocketAddr;

    use http_body_util::{BodyExt as _, Full};
    use hyper::body::Bytes;
    use hyper_util::rt::TokioIo;

    /// Sends requests over one connection; tells how many were answered.
    pub(crate) async fn talk(address: SocketAddr, method: &str, first: usize) -> usize {
        let socket = tokio::net::TcpStream::connect(address).await.expect("it listens");
        socket.set_nodelay(true).expect("a socket");
        let io = TokioIo::new(socket);
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(io).await.expect("HTTP");
        let requests = async move {
            for count in 0..4_000 {
                let path = format!("{}/n{}", super::MAPS, (first + count) % 100);
                let body = super::map((first + count) % 100, count).to_string();
                let body = if method == "PUT" { Bytes::from(body) } else { Bytes::new() };
                let request = hyper::Request::builder().method(method).uri(path);
                let request = request.header("Host", "localhost").body(Full::new(body));
                let response = sender.send_request(request.expect("a request")).await;
                let response = response.expect("an answer");
                assert_eq!(response.status(), 200);
                response.into_body().collect().await.expect("a body");
            }
            4_000
        };
        futures::future::join(requests, connection).await.0
    }
}
