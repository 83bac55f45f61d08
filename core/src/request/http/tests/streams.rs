//! Many streams to one server over HTTP/2: none keeps another waiting.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper_util::rt::{TokioExecutor, TokioIo};

use super::broken::h2;
use super::server::{Server, Stream};
use super::{Http, client, pods, send};
use crate::cancel::CancelToken;
use crate::request::{Watch, WatchEvent};
use crate::runtime::System;

/// A body that begins with these bytes. It goes on for ever: with more of them, or with nothing.
pub(super) struct Endless {
    chunk: Bytes,
    /// How many bytes were sent.
    sent: Arc<AtomicUsize>,
    goes_on: bool,
}

impl Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let chunk = self.chunk.clone();
        if chunk.is_empty() {
            return Poll::Pending;
        }
        self.sent.fetch_add(chunk.len(), Ordering::SeqCst);
        if !self.goes_on {
            self.chunk = Bytes::new();
        }
        Poll::Ready(Some(Ok(Frame::data(chunk))))
    }
}

/// Serves a connection that allows `most` streams at once: a watch does not end, another answer is
/// `{}`.
async fn serve(stream: Stream, most: u32, chunk: Bytes, sent: Arc<AtomicUsize>, goes_on: bool) {
    let answer = move |request: hyper::Request<Incoming>| {
        let is_watch = request.uri().query().is_some_and(|it| it.contains("watch"));
        let (chunk, sent) = (chunk.clone(), Arc::clone(&sent));
        async move {
            let whole = http_body_util::Full::new(Bytes::from_static(b"{}"));
            let body = match is_watch {
                true => http_body_util::Either::Left(Endless { chunk, sent, goes_on }),
                false => http_body_util::Either::Right(whole),
            };
            Ok::<_, Infallible>(hyper::Response::new(body))
        }
    };
    let mut builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
    builder.max_concurrent_streams(most);
    let service = hyper::service::service_fn(answer);
    drop(builder.serve_connection(TokioIo::new(stream), service).await);
}

/// A server that allows `most` streams on a connection.
async fn allows(most: u32) -> Server {
    let event = Bytes::from_static(b"{\"type\":\"ADDED\",\"object\":1}\n");
    Server::on(h2(), move |_, stream| serve(stream, most, event.clone(), Arc::default(), false))
        .await
}

async fn watch(client: &Http) -> Watch<System> {
    let token = CancelToken::new(&System::new());
    let request = pods(client).param("watch", "true");
    let begun = client.watch(&request, &token);
    tokio::time::timeout(Duration::from_secs(20), begun).await.expect("it begins").unwrap()
}

/// As many watches, which begin at the same time; each has told its first event.
async fn at_once(client: &Arc<Http>, count: usize) -> Vec<Watch<System>> {
    let begun = (0..count).map(|_| {
        let client = Arc::clone(client);
        tokio::spawn(async move {
            let mut watch = watch(&client).await;
            assert_eq!(watch.next::<i32>().await, Some(WatchEvent::Added(1)));
            watch
        })
    });
    let mut watches = Vec::new();
    for watch in begun.collect::<Vec<_>>() {
        watches.push(watch.await.unwrap());
    }
    watches
}

fn count(server: &Server) -> usize {
    server.connections.load(Ordering::SeqCst)
}

#[tokio::test]
async fn watches_beyond_what_a_connection_carries_keep_no_call_waiting() {
    let server = allows(100).await;
    let client = client(&server.config());
    let mut watches = Vec::new();
    for _ in 0..250 {
        let mut watch = watch(&client).await;
        assert_eq!(watch.next::<i32>().await, Some(WatchEvent::Added(1)));
        watches.push(watch);
    }
    for _ in 0..20 {
        send(&client).await.unwrap();
    }
    assert_eq!(count(&server), 3);
    drop(watches);
}

#[tokio::test]
async fn calls_at_the_same_time_share_connections_and_none_waits() {
    let server = allows(100).await;
    let client = Arc::new(client(&server.config()));
    let watches = at_once(&client, 250).await;
    send(&client).await.unwrap();
    assert_eq!(count(&server), 3, "each was filled before the next was opened");
    drop(watches);
}

#[tokio::test]
async fn calls_at_the_same_time_ask_first_how_many_streams_there_may_be() {
    let server = allows(10).await;
    let client = Arc::new(client(&server.config()));
    let watches = at_once(&client, 30).await;
    assert_eq!(count(&server), 3);
    drop(watches);
}

#[tokio::test]
async fn the_server_says_how_many_streams_it_takes_and_places_are_used_again() {
    for (most, connections) in [(1, 11), (3, 4), (1000, 1)] {
        let server = allows(most).await;
        let client = client(&server.config());
        send(&client).await.unwrap(); // its settings have come
        for _ in 0..2 {
            let mut watches = Vec::new();
            for _ in 0..10 {
                watches.push(watch(&client).await);
            }
            send(&client).await.unwrap();
            assert_eq!(count(&server), connections, "{most}");
        }
    }
}

#[tokio::test]
async fn bodies_that_nobody_reads_keep_no_call_waiting() {
    let sent = Arc::new(AtomicUsize::new(0));
    let (counts, chunk) = (Arc::clone(&sent), Bytes::from_static(&[b'x'; 16 << 10]));
    let server = Server::on(h2(), move |_, stream| {
        serve(stream, 100, chunk.clone(), Arc::clone(&counts), true)
    })
    .await;
    let client = client(&server.config());
    let mut unread = Vec::new();
    for _ in 0..3 {
        unread.push(watch(&client).await);
    }
    // Each has a window of its own, so the server sends more than a small one of the connection.
    let fills = async {
        while sent.load(Ordering::SeqCst) < 9 << 20 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), fills).await.expect("none waits for another");
    for _ in 0..20 {
        send(&client).await.unwrap();
    }
    assert_eq!(count(&server), 1);
}

#[tokio::test]
async fn a_call_that_stops_in_the_middle_holds_up_no_other() {
    let server = allows(100).await;
    let client = client(&server.config());
    let (request, token) = (pods(&client), CancelToken::new(&System::new()));
    let mut stopped = Box::pin(client.send(&request, &token));
    std::future::poll_fn(|context| {
        assert!(stopped.as_mut().poll(context).is_pending(), "it waits for a connection");
        Poll::Ready(())
    })
    .await;
    send(&client).await.unwrap();
    assert_eq!(count(&server), 1, "it is the one that the first call asked for");
    stopped.await.unwrap();
}
