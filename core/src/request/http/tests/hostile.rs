//! Hostile or broken servers: memory is limited, the error says why, and the connection is closed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::broken::{SETTINGS, h2, until_asked};
use super::server::{Server, head, say, whole};
use super::{Http, client, kind, pods, send};
use crate::cancel::CancelToken;
use crate::request::http::{HttpConfig, Token};
use crate::request::{Limits, TransportKind, Verb, Watch, WatchEvent};
use crate::runtime::System;

const WATCH: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

async fn watch(client: &Http) -> Watch<System> {
    let token = CancelToken::new(&System::new());
    client.watch(&pods(client), &token).await.unwrap()
}

async fn next(watch: &mut Watch<System>) -> Option<WatchEvent<serde_json::Value>> {
    tokio::time::timeout(Duration::from_secs(20), watch.next()).await.expect("it says something")
}

fn words(event: Option<WatchEvent<serde_json::Value>>) -> String {
    match event {
        Some(WatchEvent::Error(status)) => status.message,
        other => panic!("{other:?}"),
    }
}

/// Serves a watch that repeats a chunk until the client is gone, and reports the number of bytes.
async fn flood(bytes: &'static [u8]) -> (Server, mpsc::UnboundedReceiver<usize>) {
    let (told, tell) = mpsc::unbounded_channel();
    let server = Server::start(move |_, mut stream| {
        let told = told.clone();
        async move {
            drop(head(&mut stream).await);
            say(&mut stream, WATCH).await;
            let (chunk, mut count) = (chunk(bytes), 0);
            while stream.write_all(&chunk).await.is_ok() {
                count += bytes.len();
            }
            let _sent = told.send(count);
        }
    })
    .await;
    (server, tell)
}

#[tokio::test]
async fn an_endless_line_is_an_error_and_closes_the_connection() {
    let (server, mut written) = flood(&[b'x'; 16 << 10]).await;
    let limits = Limits { event: 1 << 20, ..Limits::default() };
    let client = client(&server.config()).with_limits(limits);
    let mut watch = watch(&client).await;
    assert!(words(next(&mut watch).await).contains("more than 1048576 bytes"));
    assert_eq!(next(&mut watch).await, None);
    let written = written.recv().await.unwrap();
    println!("{written} bytes were written before the connection was closed");
    assert!(written < 16 << 20, "{written}: more than the limit and what sockets hold");
}

#[tokio::test]
async fn a_watch_of_empty_frames_takes_no_memory_and_ends_when_it_is_cancelled() {
    let (server, mut written) = flood(&[b'\n'; 16 << 10]).await;
    let client = client(&server.config());
    let token = CancelToken::new(&System::new());
    let mut watch = client.watch(&pods(&client), &token).await.unwrap();
    let reading = async {
        let event = watch.next::<serde_json::Value>().await;
        (event, watch)
    };
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        token.cancel();
    };
    let ((event, watch), ()) = tokio::join!(reading, cancel);
    assert_eq!(event, None);
    let held = watch.held();
    drop(watch);
    let written = written.recv().await.unwrap();
    println!("{written} bytes of nothing were read, {held} were held");
    assert!(written > 16 << 10, "more than one chunk of them");
    assert!(held <= 2 * (16 << 10), "{held}");
}

#[tokio::test]
async fn what_is_no_text_is_an_error_that_says_so() {
    let server = Server::start(|_, mut stream| async move {
        drop(head(&mut stream).await);
        let body = b"{\"type\":\"ADDED\",\"object\":\"\xff\xfe\"}\n";
        say(&mut stream, [WATCH.as_bytes(), &chunk(body)].concat()).await;
        std::future::pending::<()>().await;
    })
    .await;
    let mut watch = watch(&client(&server.config())).await;
    assert!(words(next(&mut watch).await).contains("unicode"));
    let server = Server::start(|_, mut stream| async move {
        drop(head(&mut stream).await);
        let head = "HTTP/1.1 200 OK\r\nX-A: \u{ff}\r\nContent-Length: 4\r\n\r\n";
        say(&mut stream, [head.as_bytes(), b"\"\xff\xfe\""].concat()).await;
    })
    .await;
    let reply = send(&client(&server.config())).await.unwrap();
    let error = reply.json::<String>().unwrap_err();
    let why = std::error::Error::source(&error).unwrap().to_string();
    assert!(why.contains("unicode"), "{why}");
}

#[tokio::test]
async fn chunks_that_are_cut_end_a_watch_and_those_that_are_none_are_an_error() {
    let event = "{\"type\":\"ADDED\",\"object\":1}\n";
    for (rest, ends) in [("", true), ("20\r\n{\"type\":", true), ("zz\r\n", false)] {
        let server = Server::start(move |_, mut stream| async move {
            drop(head(&mut stream).await);
            let bytes = [WATCH.as_bytes(), &chunk(event.as_bytes()), rest.as_bytes()].concat();
            say(&mut stream, bytes).await;
            drop(stream.shutdown().await);
        })
        .await;
        let mut watch = watch(&client(&server.config())).await;
        assert_eq!(next(&mut watch).await, Some(WatchEvent::Added(1.into())));
        match next(&mut watch).await {
            None => assert!(ends, "{rest:?}"),
            error => assert!(!ends && words(error).contains("chunk"), "{rest:?}"),
        }
        assert_eq!(next(&mut watch).await, None);
    }
}

/// Serves redirects to a place, and counts the requests.
async fn redirects(to: String) -> (Server, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let to: Arc<str> = to.into();
    let server = Server::start(move |_, mut stream| {
        let (count, to) = (Arc::clone(&count), Arc::clone(&to));
        async move {
            while head(&mut stream).await.is_some() {
                count.fetch_add(1, Ordering::SeqCst);
                let location = format!("Location: {to}\r\nRetry-After: 0\r\n");
                say(&mut stream, whole("307 Temporary Redirect", &location, "")).await;
            }
        }
    })
    .await;
    (server, asked)
}

#[tokio::test]
async fn of_a_thousand_redirects_none_is_followed() {
    let (server, asked) = redirects("/again".to_owned()).await;
    let error = send(&client(&server.config())).await.unwrap_err();
    assert_eq!(error.status().unwrap().code, 307);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_token_goes_to_no_other_host() {
    let other = super::same("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").await;
    let elsewhere = format!("https://localhost:{}/", other.address.port());
    let (server, _) = redirects(elsewhere.clone()).await;
    let config = server.config().token(Token::new("secret"));
    let to_server = client(&config);
    assert!(send(&to_server).await.is_err());
    // A request of another client goes to another host.
    let stranger = client(&HttpConfig::new(&elsewhere).unwrap());
    let own = to_server.send(&pods(&stranger), &CancelToken::new(&System::new())).await;
    assert!(own.unwrap_err().to_string().contains("alone"));
    assert_eq!(other.connections.load(Ordering::SeqCst), 0);
}

/// The frame `GOAWAY`: no stream was processed, and there is no error.
const GOAWAY: [u8; 17] = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

#[tokio::test]
async fn a_server_that_goes_away_is_asked_again_by_those_who_read() {
    let server = Server::on(h2(), |number, mut stream| async move {
        if number == 0 {
            say(&mut stream, SETTINGS).await;
            until_asked(&mut stream).await.unwrap();
            say(&mut stream, GOAWAY).await;
            drop(stream.shutdown().await);
            return;
        }
        let answer = |_| async {
            let body = http_body_util::Full::new(hyper::body::Bytes::from_static(b"{}"));
            Ok::<_, std::convert::Infallible>(hyper::Response::new(body))
        };
        let executor = hyper_util::rt::TokioExecutor::new();
        let stream = hyper_util::rt::TokioIo::new(stream);
        let serving = hyper::server::conn::http2::Builder::new(executor);
        drop(serving.serve_connection(stream, hyper::service::service_fn(answer)).await);
    })
    .await;
    send(&client(&server.config())).await.unwrap();
    assert_eq!(server.connections.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_connection_that_is_half_open_is_found_out() {
    let server = Server::on(h2(), |_, mut stream| async move {
        say(&mut stream, SETTINGS).await; // it answers no ping
        std::future::pending::<()>().await;
    })
    .await;
    let config = server.config().dead_after(Duration::from_millis(300));
    let client = client(&config);
    let request = client.request(Verb::Post, "/api/v1").resource("pods").max_retries(5);
    let token = CancelToken::new(&System::new());
    // The server never ends the call: a client that does not find out waits for ever.
    assert_eq!(kind(client.send(&request, &token).await), TransportKind::ConnectionLost);
    assert_eq!(server.connections.load(Ordering::SeqCst), 1, "a write is not sent again");
}

#[tokio::test]
async fn who_accepts_and_says_nothing_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let silent = tokio::spawn(async move {
        let mut kept = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            kept.push(stream);
        }
    });
    let config = HttpConfig::new(&host).unwrap().connect_within(Duration::from_millis(200));
    assert_eq!(kind(send(&client(&config)).await), TransportKind::Timeout);
    silent.abort();
}

/// An HTTP/2 frame for the first stream.
fn frame(of: u8, flags: u8, bytes: &[u8]) -> Vec<u8> {
    let [_, length @ ..] = (bytes.len() as u32).to_be_bytes();
    [&length[..], &[of, flags, 0, 0, 0, 1], bytes].concat()
}

#[tokio::test]
async fn headers_that_go_on_for_ever_are_an_error_over_http_2_as_well() {
    const HEADERS: u8 = 1;
    const CONTINUATION: u8 = 9;
    let (told, mut tell) = mpsc::unbounded_channel();
    let server = Server::on(h2(), move |_, mut stream| {
        let told = told.clone();
        async move {
            say(&mut stream, SETTINGS).await;
            until_asked(&mut stream).await.unwrap();
            say(&mut stream, frame(HEADERS, 0, &[0x88])).await; // the status is 200
            let more = frame(CONTINUATION, 0, &[0, 1, b'a', 1, b'b'].repeat(3000));
            let mut count = 0;
            while stream.write_all(&more).await.is_ok() {
                count += more.len();
            }
            let _sent = told.send(count);
        }
    })
    .await;
    let error = send(&client(&server.config())).await.unwrap_err().to_string();
    assert!(error.contains("excessive load"), "{error}");
    let written = tell.recv().await.unwrap();
    println!("{written} bytes were written before the connection was closed");
    assert!(written < 16 << 20, "{written}: more than the limit and what sockets hold");
}
