//! Servers that send without end: the client takes little memory, says what was wrong, and closes the
//! connection. The memory of this process is counted while the server writes.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cap::Cap;
use seatrial_core::cancel::CancelToken;
use seatrial_core::request::http::{HttpConfig, HttpTransport};
use seatrial_core::request::{Client, Limits, Verb, WatchEvent};
use seatrial_core::runtime::System;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

#[global_allocator]
static MEMORY: Cap<std::alloc::System> = Cap::new(std::alloc::System, usize::MAX);

/// How much more memory a client may take than it has when it is idle.
const MOST: usize = 24 << 20;

/// What a server sends at most: it would send for ever.
const ENOUGH: usize = 1 << 30;

const PATIENCE: Duration = Duration::from_secs(60);

/// What is asked of a server.
#[derive(Clone, Copy, PartialEq)]
enum Asked {
    Answer,
    Watch,
}

/// A server that means harm: what it says first, what it says for ever, and a word of the error.
struct Case {
    name: &'static str,
    asked: Asked,
    first: &'static str,
    forever: Vec<u8>,
    says: &'static str,
}

fn case(
    name: &'static str,
    asked: Asked,
    first: &'static str,
    forever: impl Into<Vec<u8>>,
    says: &'static str,
) -> Case {
    Case { name, asked, first, forever: forever.into(), says }
}

const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const GZIP: &str =
    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n";
const REFUSED: &str = "HTTP/1.1 500 No\r\nContent-Type: application/json\r\nTransfer-Encoding: \
                       chunked\r\n\r\n2f\r\n{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"\r\n";

fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// Bytes that become a thousand times as many.
fn packed() -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&vec![0; 4 << 20]).expect("there is memory");
    encoder.finish().expect("there is memory")
}

fn cases() -> Vec<Case> {
    use Asked::{Answer, Watch};
    let many = vec![b'x'; 16 << 10];
    let header = format!("X-A: {}\r\n", "x".repeat(1000));
    vec![
        case("endless headers", Answer, "HTTP/1.1 200 OK\r\n", header.clone(), "head is too large"),
        case(
            "an endless header",
            Answer,
            "HTTP/1.1 200 OK\r\nX-A: ",
            many.clone(),
            "head is too large",
        ),
        case("an endless reason", Answer, "HTTP/1.1 500 ", many.clone(), "head is too large"),
        case("an endless answer", Answer, CHUNKED, chunk(&many), "more than"),
        case("a status message of 1 GB", Answer, REFUSED, chunk(&many), "more than"),
        case("the same to a watch", Watch, REFUSED, chunk(&many), "more than"),
        case("an endless line", Watch, CHUNKED, chunk(&many), "more than"),
        case("an answer that unpacks without end", Answer, GZIP, chunk(&packed()), "more than"),
        case("a line that unpacks without end", Watch, GZIP, chunk(&packed()), "more than"),
        case(
            "an endless line of a chunk",
            Watch,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;",
            many,
            "chunk",
        ),
        case(
            "endless trailers",
            Answer,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
            header,
            "trailers",
        ),
    ]
}

/// The most memory that was in use while a server wrote.
#[derive(Clone, Default)]
struct Peak(Arc<AtomicUsize>);

impl Peak {
    fn look(&self) {
        self.0.fetch_max(MEMORY.allocated(), Ordering::SeqCst);
    }
}

/// Answers every request so, until its client has gone; tells how much was written.
async fn flood(
    listener: TcpListener,
    first: &'static str,
    forever: Vec<u8>,
    peak: Peak,
    told: mpsc::UnboundedSender<Option<usize>>,
) {
    while let Ok((mut stream, _)) = listener.accept().await {
        read_head(&mut stream).await;
        let mut written = 0;
        let mut gone = stream.write_all(first.as_bytes()).await.is_err();
        while !gone && written < ENOUGH {
            gone = stream.write_all(&forever).await.is_err();
            written += forever.len();
            peak.look();
        }
        let _sent = told.send(gone.then_some(written));
    }
}

async fn read_head(stream: &mut TcpStream) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("a request"));
    }
}

async fn listen() -> (TcpListener, Client<System, HttpTransport>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let host = format!("http://{}", listener.local_addr().expect("it is bound"));
    let client = HttpConfig::new(&host).expect("an address").client(&System::new());
    (listener, client.expect("it has no secret").with_limiter(None))
}

/// Every text of an error, down to its cause.
fn words(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// What a client says of a server.
async fn said(client: &Client<System, HttpTransport>, asked: Asked) -> String {
    let token = CancelToken::new(&System::new());
    let request = client.request(Verb::Get, "/api/v1").resource("pods").max_retries(0);
    if asked == Asked::Answer {
        return words(&client.send(&request, &token).await.map(drop).expect_err("it is no answer"));
    }
    match client.watch(&request, &token).await {
        Err(error) => words(&error),
        Ok(mut watch) => match watch.next::<Value>().await {
            Some(WatchEvent::Error(status)) => status.message,
            other => panic!("{other:?}"),
        },
    }
}

async fn meet(case: Case) {
    let (listener, client) = listen().await;
    let mut limits = Limits::default();
    (limits.body, limits.event) = (4 << 20, 4 << 20);
    let client = client.with_limits(limits);
    let (peak, (tell, mut told)) = (Peak::default(), mpsc::unbounded_channel());
    let before = MEMORY.allocated();
    let serving = tokio::spawn(flood(listener, case.first, case.forever, peak.clone(), tell));
    let said = tokio::time::timeout(PATIENCE, said(&client, case.asked)).await.expect("it ends");
    assert!(said.contains(case.says), "{}: {said}", case.name);
    let written = tokio::time::timeout(PATIENCE, told.recv()).await.expect("it is closed");
    let written = written.flatten().expect("the connection is closed before all is sent");
    let grown = peak.0.load(Ordering::SeqCst).saturating_sub(before);
    println!("{:26} | {written:9} bytes sent | {grown:8} bytes held | {said:.90}", case.name);
    assert!(grown < MOST, "{}: {grown} bytes", case.name);
    serving.abort();
}

#[tokio::test]
async fn whatever_a_server_sends_memory_is_bounded_and_the_error_names_the_cause() {
    for case in cases() {
        meet(case).await;
    }
    empty_frames().await;
    a_thousand_redirects().await;
    what_is_no_json().await;
    silence().await;
    pauses().await;
}

/// What was said before the silence, what was asked for, and a word of the error.
const SILENCES: [(&str, &str, Asked, &str); 4] = [
    ("nothing is said", "", Asked::Answer, SILENT),
    ("half a head", "HTTP/1.1 200 OK\r\nContent-Le", Asked::Answer, SILENT),
    ("half a body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[1", Asked::Answer, SILENT),
    // Of a refusal whose body does not end the status is told.
    (
        "half a refusal",
        "HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nso",
        Asked::Watch,
        "an error on the server",
    ),
];

const SILENT: &str = "says nothing for 100ms";

/// A server that falls silent is given up, and told so.
async fn silence() {
    for (name, first, asked, says) in SILENCES {
        let (listener, client) = listen().await;
        let mut limits = Limits::default();
        limits.idle = Duration::from_millis(100);
        let client = client.with_limits(limits);
        let (tell, mut told) = mpsc::unbounded_channel();
        let before = MEMORY.allocated();
        let serving = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a client");
            read_head(&mut stream).await;
            stream.write_all(first.as_bytes()).await.expect("it listens");
            let is_gone = !matches!(stream.read(&mut [0; 16]).await, Ok(1..));
            let _sent = tell.send(is_gone);
        });
        let said = tokio::time::timeout(PATIENCE, said(&client, asked)).await.expect("it ends");
        assert!(said.contains(says), "{name}: {said}");
        let closed = tokio::time::timeout(PATIENCE, told.recv()).await.expect("it is closed");
        assert!(closed.expect("it is served"), "{name}: the connection is closed");
        let grown = MEMORY.allocated().saturating_sub(before);
        println!("{name:26} | {grown:8} bytes held | {said:.90}");
        assert!(grown < 1 << 20, "{name}: {grown}");
        serving.abort();
    }
}

/// A server that wants to be left alone for a year is not waited for.
async fn pauses() {
    let (listener, client) = listen().await;
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a client");
        read_head(&mut stream).await;
        let later = "HTTP/1.1 429 Later\r\nRetry-After: 31536000\r\nContent-Length: 0\r\n\r\n";
        stream.write_all(later.as_bytes()).await.expect("it listens");
        stream.read(&mut [0; 16]).await.is_ok_and(|read| read > 0)
    });
    let token = CancelToken::new(&System::new());
    let request = client.request(Verb::Get, "/api/v1").resource("pods").max_retries(5);
    let sent = tokio::time::timeout(PATIENCE, client.send(&request, &token)).await;
    let said = words(&sent.expect("it ends").expect_err("it is refused"));
    assert!(said.contains("it asks for a pause of 31536000s, the client waits 600s"), "{said}");
    println!("{:26} | {said:.90}", "a pause of a year");
    drop(client);
    assert!(!serving.await.expect("it serves"), "it is asked once");
}

/// A watch that never says anything ends when it is cancelled.
async fn empty_frames() {
    let (listener, client) = listen().await;
    let (peak, (tell, mut told)) = (Peak::default(), mpsc::unbounded_channel());
    let before = MEMORY.allocated();
    let lines = chunk(&[b'\n'; 16 << 10]);
    let serving = tokio::spawn(flood(listener, CHUNKED, lines, peak.clone(), tell));
    let token = CancelToken::new(&System::new());
    let request = client.request(Verb::Get, "/api/v1").resource("pods");
    let mut watch = client.watch(&request, &token).await.expect("it begins");
    let read = tokio::time::timeout(Duration::from_millis(500), watch.next::<Value>()).await;
    assert!(read.is_err(), "there is no event: {read:?}");
    token.cancel();
    assert_eq!(watch.next::<Value>().await, None);
    drop(watch);
    let written = tokio::time::timeout(PATIENCE, told.recv()).await.expect("it is closed");
    let grown = peak.0.load(Ordering::SeqCst).saturating_sub(before);
    println!("{:26} | {written:?} bytes sent | {grown} bytes held", "a watch of empty frames");
    assert!(written.flatten().expect("it is closed") > 1 << 20 && grown < 4 << 20, "{grown}");
    serving.abort();
}

/// Each is an answer, and is not followed.
async fn a_thousand_redirects() {
    let (listener, client) = listen().await;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let serving = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = [0; 4096];
            while let Ok(1..) = stream.read(&mut bytes).await {
                count.fetch_add(1, Ordering::SeqCst);
                let to = "HTTP/1.1 307 Elsewhere\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n";
                drop(stream.write_all(to.as_bytes()).await);
            }
        }
    });
    let before = MEMORY.allocated();
    for _ in 0..1000 {
        assert!(said(&client, Asked::Answer).await.contains("307"));
    }
    let grown = MEMORY.allocated().saturating_sub(before);
    println!("{:26} | {grown} bytes more after all of them", "1,000 redirects");
    assert_eq!(asked.load(Ordering::SeqCst), 1000, "none is followed");
    assert!(grown < 1 << 20, "{grown}");
    serving.abort();
}

/// What was not asked for is not unpacked; its type is told.
async fn what_is_no_json() {
    let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 7\r\n\r\n<html>\n";
    let zstd = "HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\nContent-Type: application/zstd\r\n\
                Content-Length: 7\r\n\r\n\x28\x35\x2f\0\0\0\n";
    for (answer, kind) in [(page, "text/html"), (zstd, "application/zstd")] {
        let (listener, client) = listen().await;
        let serving = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                read_head(&mut stream).await;
                drop(stream.write_all(answer.as_bytes()).await);
                drop(stream.shutdown().await);
            }
        });
        let token = CancelToken::new(&System::new());
        let request = client.request(Verb::Get, "/api/v1").resource("pods");
        let reply = client.send(&request, &token).await.expect("an answer");
        assert_eq!(reply.body.len(), 7, "as it was sent");
        let said = words(&reply.json::<Value>().expect_err("it is no JSON"));
        assert!(said.contains(kind), "{said}");
        let mut watch = client.watch(&request, &token).await.expect("it begins");
        let Some(WatchEvent::Error(status)) = watch.next::<Value>().await else {
            panic!("it is no event")
        };
        assert!(status.message.contains(kind), "{status}");
        serving.abort();
    }
}
