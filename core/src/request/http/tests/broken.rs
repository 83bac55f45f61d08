//! Connections that break: reset, or ended by a server that goes away.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hyper::body::Bytes;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use super::server::{Server, Stream, Terms, head, say};
use super::{client, kind, pods, send};
use crate::cancel::CancelToken;
use crate::request::http::HttpConfig;
use crate::request::{TransportKind, Verb, WatchEvent};
use crate::runtime::System;

/// An HTTP/2 server.
pub(super) fn h2() -> Terms<'static> {
    Terms { protocols: &[b"h2"], ..Terms::default() }
}

/// Resets a connection: everything under way is lost.
fn reset(stream: Stream) {
    stream.get_ref().0.set_zero_linger().unwrap();
    drop(stream);
}

const HALF_A_HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Le";

#[tokio::test]
async fn a_reset_within_the_head_is_tried_once_more_by_those_who_read() {
    for (verb, connections) in [(Verb::Get, 2), (Verb::Put, 1)] {
        let server = Server::start(|_, mut stream| async move {
            drop(head(&mut stream).await);
            say(&mut stream, HALF_A_HEAD).await;
            reset(stream);
        })
        .await;
        let (client, token) = (client(&server.config()), CancelToken::new(&System::new()));
        let request = client.request(verb, "/api/v1").resource("pods").max_retries(1);
        assert_eq!(kind(client.send(&request, &token).await), TransportKind::Reset);
        assert_eq!(server.connections.load(Ordering::SeqCst), connections);
    }
}

#[tokio::test]
async fn a_reset_before_anything_was_said_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let hangs_up = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            drop(stream.read_u8().await); // it greets
            stream.set_zero_linger().unwrap();
        }
    });
    let config = HttpConfig::new(&host).unwrap();
    assert_eq!(kind(send(&client(&config)).await), TransportKind::Reset);
    hangs_up.abort();
}

/// Sends the beginning of a body, and resets the connection once the client has read that.
async fn resets_within(first: &'static str) -> (Server, Arc<Notify>) {
    let was_read = Arc::new(Notify::new());
    let told = Arc::clone(&was_read);
    let server = Server::start(move |_, mut stream| {
        let told = Arc::clone(&told);
        async move {
            drop(head(&mut stream).await);
            let chunk = format!("{:x}\r\n{first}\r\n", first.len());
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
            say(&mut stream, format!("{head}{chunk}")).await;
            told.notified().await;
            reset(stream);
        }
    })
    .await;
    (server, was_read)
}

#[tokio::test]
async fn a_reset_within_the_body_is_no_end_of_it() {
    let (server, was_read) = resets_within("[1]").await;
    let (client, token) = (client(&server.config()), CancelToken::new(&System::new()));
    let mut answer = client.stream(&pods(&client), &token).await.unwrap();
    assert_eq!(answer.body.next().await.unwrap().unwrap(), b"[1]");
    was_read.notify_one();
    let error = answer.body.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), TransportKind::Reset, "{error}");
    assert!(answer.body.next().await.is_none(), "nothing comes after it");
    assert_eq!(server.connections.load(Ordering::SeqCst), 1, "its head was the answer's");
}

#[tokio::test]
async fn a_reset_ends_a_watch_which_its_caller_begins_again() {
    let (server, was_read) = resets_within("{\"type\":\"ADDED\",\"object\":1}\n{\"ty").await;
    let (client, token) = (client(&server.config()), CancelToken::new(&System::new()));
    for _ in 0..2 {
        let mut watch = client.watch(&pods(&client), &token).await.unwrap();
        assert_eq!(watch.next::<i32>().await, Some(WatchEvent::Added(1)));
        was_read.notify_one();
        assert_eq!(watch.next::<i32>().await, None);
        assert!(watch.is_ended());
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn an_answer_that_is_under_way_outlives_the_word_that_its_server_goes_away() {
    let server = Server::on(h2(), |number, stream| async move {
        let (asked, goes) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let waits = (Arc::clone(&asked), Arc::clone(&goes));
        let answer = move |_| {
            let (asked, goes) = waits.clone();
            async move {
                asked.notify_one();
                goes.notified().await;
                let body = http_body_util::Full::new(Bytes::from(number.to_string()));
                Ok::<_, std::convert::Infallible>(hyper::Response::new(body))
            }
        };
        let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        let service = hyper::service::service_fn(answer);
        let mut serving = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
        tokio::select! {
            ended = serving.as_mut() => return drop(ended),
            () = asked.notified() => {}
        }
        serving.as_mut().graceful_shutdown();
        goes.notify_one();
        drop(serving.await);
    })
    .await;
    let client = client(&server.config());
    for number in 0..3 {
        assert_eq!(send(&client).await.unwrap().json::<usize>().unwrap(), number);
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 3, "each went away after its answer");
}

/// The frame `SETTINGS` of HTTP/2, without settings.
pub(super) const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
/// The frame `RST_STREAM`: for the first stream, with an internal error.
const RESET_STREAM: [u8; 13] = [0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 2];

/// Reads the bytes of a client up to its first request; `None` if it is gone.
pub(super) async fn until_asked(stream: &mut Stream) -> Option<()> {
    const PREFACE: usize = 24;
    stream.read_exact(&mut [0; PREFACE]).await.ok()?;
    headers(stream).await
}

/// Reads the bytes of a client up to its next request; `None` if it is gone.
pub(super) async fn headers(stream: &mut Stream) -> Option<()> {
    const HEADERS: u8 = 1;
    loop {
        let mut frame = [0; 9];
        stream.read_exact(&mut frame).await.ok()?;
        let length = u32::from_be_bytes([0, frame[0], frame[1], frame[2]]);
        stream.read_exact(&mut vec![0; length as usize]).await.ok()?;
        if frame[3] == HEADERS {
            return Some(());
        }
    }
}

#[tokio::test]
async fn a_stream_that_is_reset_is_an_error_that_says_so() {
    let server = Server::on(h2(), |_, mut stream| async move {
        say(&mut stream, SETTINGS).await;
        until_asked(&mut stream).await.unwrap();
        say(&mut stream, RESET_STREAM).await;
        while let Ok(1..) = stream.read(&mut [0; 1024]).await {}
        drop(stream.shutdown().await);
    })
    .await;
    let error = send(&client(&server.config())).await.unwrap_err();
    assert!(error.to_string().contains("stream error"), "{error}");
    assert_eq!(kind(Err(error)), TransportKind::Other);
    assert_eq!(server.connections.load(Ordering::SeqCst), 1, "the server may have done it");
}
