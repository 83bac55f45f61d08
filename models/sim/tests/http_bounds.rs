//! Clients that are too many, too slow, too large or that make no sense: each is told so, and costs
//! next to nothing.
#![cfg(feature = "http")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use seatrial_sim::apiserver::{Options, Server};
use seatrial_sim::http::{Face, Listen};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn face(connections: usize, patience: Duration) -> Face {
    let listen = Listen { connections, patience, ..Listen::default() };
    Face::listen(Server::new(&Options::default()), &listen).expect("a port is free")
}

fn connect(face: &Face) -> TcpStream {
    let stream = TcpStream::connect(face.address()).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
    stream
}

/// The status of the answer to these bytes, after which the client says nothing more.
fn status(face: &Face, bytes: impl AsRef<[u8]>) -> u16 {
    let mut stream = connect(face);
    // A server that has heard enough may have hung up.
    drop(stream.write_all(bytes.as_ref()));
    answered(&mut stream)
}

fn answered(stream: &mut TcpStream) -> u16 {
    let mut head = [0; 12];
    stream.read_exact(&mut head).expect("an answer in time");
    String::from_utf8_lossy(&head[9..]).parse().expect("a status")
}

fn post(body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {MAPS} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// Memory is measured for the whole process, so tests that take much of it take turns.
static MEMORY: Mutex<()> = Mutex::new(());

const VERSION: &str = "GET /version HTTP/1.1\r\n\r\n";

/// A number that the system tells of this process; none where it does not.
fn told(file: &str, line: &str) -> Option<usize> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|it| it.strip_prefix(line))?;
    line.split_whitespace().next()?.parse().ok()
}

#[test]
fn ten_thousand_idle_clients_are_refused_beyond_the_limit_and_fill_no_memory() {
    let turn = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    let face = face(64, Duration::from_secs(60));
    let mut first = connect(&face);
    first.write_all(VERSION.as_bytes()).expect("it reads");
    assert_eq!(answered(&mut first), 200);
    let memory = || told("/proc/self/status", "VmRSS:");
    let before = memory();
    // Each of them takes a descriptor of this process as well.
    let most = told("/proc/self/limits", "Max open files").unwrap_or(1_000);
    let mut idle = Vec::new();
    for number in 0..10_000.min(most.saturating_sub(400)) {
        let mut stream = connect(&face);
        // More than wait to be let in at a time would have to knock again, after a second.
        if number > 64 && number % 64 == 0 {
            assert_eq!(answered(&mut stream), 503, "{number}");
        }
        idle.push(stream);
    }
    assert!(face.connections() <= 64);
    let mut last = idle.last().expect("there are some").try_clone().expect("a second handle");
    assert_eq!(answered(&mut last), 503);
    if let (Some(before), Some(after)) = (before, memory()) {
        let more = after.saturating_sub(before) / 1024;
        assert!(more < 64, "{more} MiB for {} idle clients", idle.len());
    }
    // One that was there before goes on, and there is room again once the others have left.
    first.write_all(VERSION.as_bytes()).expect("it reads");
    let mut rest = vec![0; 4096];
    assert!(first.read(&mut rest).is_ok_and(|count| count > 0));
    drop((idle, last, first));
    assert!(face.wait_for_connections(0, Duration::from_secs(20)));
    assert_eq!(status(&face, VERSION), 200);
    drop(turn);
}

#[test]
fn half_a_request_is_given_up_however_slowly_the_rest_comes() {
    let face = face(16, Duration::from_secs(1));
    let halves = [
        "GET /ver",
        "GET /version HTTP/1.1\r\nHost:",
        "POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\n{",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    ];
    let mut clients: Vec<_> = halves
        .iter()
        .map(|half| {
            let mut stream = connect(&face);
            stream.write_all(half.as_bytes()).expect("it reads");
            stream
        })
        .collect();
    let begin = Instant::now();
    while face.connections() < halves.len() && begin.elapsed() < Duration::from_secs(5) {
        std::thread::yield_now();
    }
    assert_eq!(face.connections(), halves.len(), "all are let in");
    // Single bytes now and then do not extend the wait.
    while face.connections() > 0 && begin.elapsed() < Duration::from_secs(10) {
        for client in &mut clients {
            drop(client.write_all(b"x"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(face.connections(), 0, "after {:?}", begin.elapsed());
    assert_eq!(status(&face, VERSION), 200);
}

#[test]
fn large_and_deep_bodies_get_the_status_that_says_why() {
    let turn = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    let face = face(16, Duration::from_secs(20));
    let limit = 3 * 1024 * 1024;
    assert_eq!(status(&face, post(&vec![b' '; limit + 1])), 413);
    assert_eq!(status(&face, post(&b"[".repeat(limit))), 400);
    assert_eq!(status(&face, post(&br#"{"a":"#.repeat(limit / 5))), 400);
    let deep = [br#"{"metadata":{"name":"a"},"data":"#.to_vec(), b"[".repeat(200_000)].concat();
    assert_eq!(status(&face, post(&deep)), 400);
    let head = format!("POST {MAPS} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
    let mut chunks = head.into_bytes();
    for _ in 0..50 {
        chunks.extend(format!("{:x}\r\n", 100_000).bytes());
        chunks.extend(vec![b' '; 100_000]);
        chunks.extend(b"\r\n");
    }
    assert_eq!(status(&face, &chunks), 413);
    for size in ["ffffffffffffffff", "fffffffffffffffff", "-1", ""] {
        let chunk = format!("POST {MAPS} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{size}\r\n");
        let found = status(&face, [chunk.as_bytes(), &vec![b' '; limit + 1]].concat());
        assert!(matches!(found, 400 | 413), "{size}: {found}");
    }
    assert_eq!(status(&face, VERSION), 200);
    drop(turn);
}

#[test]
fn verbs_and_paths_that_nobody_knows_are_answered() {
    let face = face(16, Duration::from_secs(20));
    for (verb, expected) in [("BREW", 405), ("OPTIONS", 405), ("TRACE", 405), ("get", 405)] {
        assert_eq!(status(&face, format!("{verb} {MAPS} HTTP/1.1\r\n\r\n")), expected, "{verb}");
    }
    for path in ["/%zz", "/%", "/api/v1/%00", "//", "*", "?", "/a?%=%&&=&"] {
        let found = status(&face, format!("GET {path} HTTP/1.1\r\n\r\n"));
        assert!(matches!(found, 400 | 404), "{path}: {found}");
    }
    assert_eq!(status(&face, b"GET /\xff\xfe HTTP/1.1\r\n\r\n"), 400);
    assert_eq!(status(&face, VERSION), 200);
}
