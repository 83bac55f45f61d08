//! Connections that are kept for later calls, and calls that block a thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Barrier;

use super::server::{Server, head, say, whole};
use super::{Http, client, pods, same, send};
use crate::cancel::CancelToken;
use crate::request::http::HttpTransport;
use crate::request::{Client, Limits, RequestError, TransportKind, Verb};
use crate::runtime::{Manual, Runtime as _, System};

const CALLS: usize = 60;

/// Makes calls at the same time.
async fn send_at_once(client: &Arc<Http>, count: usize) {
    let calls = (0..count).map(|_| {
        let client = Arc::clone(client);
        tokio::spawn(async move { send(&client).await.unwrap() })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
}

#[tokio::test]
async fn of_the_connections_that_carry_nothing_a_few_are_kept() {
    let (open, all) = (Arc::new(AtomicUsize::new(0)), Arc::new(Barrier::new(CALLS)));
    let counts = Arc::clone(&open);
    let server = Server::start(move |number, mut stream| {
        let (open, all) = (Arc::clone(&counts), Arc::clone(&all));
        open.fetch_add(1, Ordering::SeqCst);
        async move {
            let mut is_first = number < CALLS;
            while head(&mut stream).await.is_some() {
                if std::mem::take(&mut is_first) {
                    all.wait().await; // so that each call needs a connection of its own
                }
                say(&mut stream, whole("200 OK", "", "{}")).await;
            }
            open.fetch_sub(1, Ordering::SeqCst);
        }
    })
    .await;
    let client = Arc::new(client(&server.config()));
    send_at_once(&client, CALLS).await;
    let closes = async {
        while open.load(Ordering::SeqCst) > 25 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), closes).await.expect("the others are closed");
    for _ in 0..50 {
        send(&client).await.unwrap();
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), CALLS, "those that are kept are used");
}

#[tokio::test]
async fn a_call_that_blocks_the_only_thread_of_its_connections_says_so() {
    let server = same("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").await;
    let clock = Manual::new();
    let client = Arc::new(server.config().client(&clock).unwrap().with_limiter(None));
    let blocks = move |client: &Client<Manual, HttpTransport>| {
        let request = client.request(Verb::Get, "/api/v1").resource("pods");
        client.send_blocking(&request, &CancelToken::new(client.runtime()))
    };
    let passes = System::new().spawn("passes", move || {
        assert!(clock.until_waiting(1, Duration::from_secs(20)));
        clock.advance(Duration::from_secs(5));
    });
    let error = blocks(&client).unwrap_err();
    System::new().join(passes).unwrap();
    let RequestError::Transport { last, .. } = &error else { panic!("{error:?}") };
    assert_eq!(last.kind(), TransportKind::Unprocessed);
    assert!(error.to_string().contains("spawn_blocking"), "{error}");
    // The same runtime, but another thread.
    let elsewhere = tokio::task::spawn_blocking(move || blocks(&client));
    assert_eq!(elsewhere.await.unwrap().unwrap().body, b"{}");
}

#[test]
fn a_call_that_blocks_one_of_several_threads_ends() {
    // The server has a runtime of its own, so the client's other thread has nothing else to do.
    let ours = tokio::runtime::Runtime::new().unwrap();
    let server = ours.block_on(same("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"));
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let theirs = builder.worker_threads(2).enable_all().build().unwrap();
    let config = server.config();
    let calls = move || {
        let limits = Limits { idle: Duration::from_secs(20), ..Limits::default() };
        let client = client(&config).with_limits(limits);
        // More of them than tokio allows a task to do before it yields.
        for _ in 0..300 {
            let token = CancelToken::new(&System::new());
            assert_eq!(client.send_blocking(&pods(&client), &token).unwrap().body, b"{}");
            let request = pods(&client);
            let by_hand = System::new().block_on(client.send(&request, &token));
            assert_eq!(by_hand.unwrap().body, b"{}");
        }
    };
    let again = calls.clone();
    ours.block_on(theirs.spawn(async move { calls() })).unwrap();
    theirs.block_on(async { again() });
}
