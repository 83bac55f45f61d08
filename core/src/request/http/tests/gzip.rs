//! Answers that are compressed, well and badly.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::server::{Server, head, say};
use super::{client, kind, send};
use crate::cancel::CancelToken;
use crate::request::{Limits, RequestError, TransportKind, WatchEvent};

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Answers with this body, a few bytes at a time, if the client takes gzip.
async fn server(body: Vec<u8>, step: usize) -> Server {
    Server::start(move |_, mut stream| {
        let body = body.clone();
        async move {
            while let Some(head) = head(&mut stream).await {
                assert!(head.contains("accept-encoding: gzip\r\n"), "{head}");
                let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length:";
                say(&mut stream, format!("{head} {}\r\n\r\n", body.len())).await;
                for part in body.chunks(step) {
                    say(&mut stream, part).await;
                }
            }
        }
    })
    .await
}

#[tokio::test]
async fn an_answer_is_unpacked_however_it_arrives() {
    let text = serde_json::json!((0..5000).collect::<Vec<u32>>()).to_string();
    let (first, rest) = text.as_bytes().split_at(1000);
    let members = [packed(first), packed(rest)].concat();
    for (body, step) in [(packed(text.as_bytes()), 1), (members, 7), (packed(b""), 100)] {
        let is_empty = step == 100;
        let server = server(body, step).await;
        let client = client(&server.config());
        for _ in 0..2 {
            let reply = send(&client).await.unwrap();
            assert_eq!(reply.body, if is_empty { b"" } else { text.as_bytes() });
            assert_eq!(reply.headers.get("Content-Encoding"), None);
            assert_eq!(reply.headers.get("Content-Length"), None);
        }
        assert_eq!(server.connections.load(std::sync::atomic::Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_or_spoiled_is_an_error() {
    let whole = packed(&[b'x'; 10_000]);
    let cut = whole[..whole.len() - 9].to_vec();
    let mut sum = whole.clone();
    *sum.iter_mut().rev().nth(5).unwrap() ^= 1;
    let more = [&whole[..], b"more than the head of another"].concat();
    for (body, told) in [
        (cut, TransportKind::Eof),
        (whole[..5].to_vec(), TransportKind::Eof),
        (sum, TransportKind::Eof),
        (more, TransportKind::Other),
        (b"{} is no gzip".to_vec(), TransportKind::Other),
    ] {
        let server = server(body, 1000).await;
        assert_eq!(kind(send(&client(&server.config())).await), told);
    }
}

#[tokio::test]
async fn a_body_that_fills_the_memory_is_stopped_at_the_limit() {
    let bomb = packed(&vec![0; 64 << 20]);
    assert!(bomb.len() < 1 << 20, "it is small: {}", bomb.len());
    let server = server(bomb, 1 << 16).await;
    let limits = Limits { body: 1 << 20, ..Limits::default() };
    let client = client(&server.config()).with_limits(limits);
    assert!(matches!(send(&client).await, Err(RequestError::TooLarge(_))));
}

#[tokio::test]
async fn an_event_that_fills_the_memory_is_stopped_at_its_limit() {
    let server = server(packed(&vec![b' '; 64 << 20]), 1 << 16).await;
    let limits = Limits { event: 1 << 16, ..Limits::default() };
    let client = client(&server.config()).with_limits(limits);
    let token = CancelToken::new(client.runtime());
    let mut watch = client.watch(&super::pods(&client), &token).await.unwrap();
    let event = watch.next::<u32>().await;
    assert!(matches!(event, Some(WatchEvent::Error(_))), "{event:?}");
    assert!(watch.held() < 4 << 20, "{}", watch.held());
}

#[tokio::test]
async fn who_asks_for_gzip_gets_it_packed_and_who_wants_none_asks_for_none() {
    let server = Server::start(super::echo).await;
    let config = server.config().compression(false);
    let told: String = send(&client(&config)).await.unwrap().json().unwrap();
    assert!(!told.contains("accept-encoding"), "{told}");
    let body = packed(b"[1]");
    let server = self::server(body.clone(), 100).await;
    let client = client(&server.config());
    let request = super::pods(&client).header("Accept-Encoding", &["gzip"]);
    let token = CancelToken::new(client.runtime());
    let reply = client.send(&request, &token).await.unwrap();
    assert_eq!(reply.body, body);
    assert_eq!(reply.headers.get("Content-Encoding"), Some("gzip"));
}
