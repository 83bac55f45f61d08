//! Requests that a server has certainly not processed are sent again, whatever their verb.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, ReadBuf};

use super::broken::{SETTINGS, h2, headers, until_asked};
use super::server::{Server, Stream, say};
use super::{Http, client, kind, send};
use crate::cancel::CancelToken;
use crate::request::http::sent::unsent;
use crate::request::{Reply, RequestError, TransportKind, Verb};
use crate::runtime::System;

/// What a server says to a request.
#[derive(Clone, Copy)]
enum Says {
    /// It goes away; this was the last stream that it processes.
    GoesAway(u8),
    /// It resets the stream, for this reason.
    Resets(u8),
    /// It answers.
    Answers,
}

const REFUSED_STREAM: u8 = 7;
const INTERNAL_ERROR: u8 = 2;

impl Says {
    fn frame(self, stream: u8) -> Vec<u8> {
        match self {
            Self::GoesAway(last) => {
                [&[0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0], &[last, 0, 0, 0, 0][..]].concat()
            }
            Self::Resets(why) => vec![0, 0, 4, 3, 0, 0, 0, 0, stream, 0, 0, 0, why],
            // The status is 200, and there is no body.
            Self::Answers => vec![0, 0, 1, 1, 5, 0, 0, 0, stream, 0x88],
        }
    }
}

/// Serves a connection, with one word for each request; then it is closed.
async fn serve(mut stream: Stream, says: Vec<Says>, asked: Arc<AtomicUsize>) {
    say(&mut stream, SETTINGS).await;
    for (number, word) in says.into_iter().enumerate() {
        let read =
            if number == 0 { until_asked(&mut stream).await } else { headers(&mut stream).await };
        if read.is_none() {
            return;
        }
        asked.fetch_add(1, Ordering::SeqCst);
        say(&mut stream, word.frame(2 * number as u8 + 1)).await;
        if let Says::GoesAway(_) = word {
            break;
        }
    }
    drop(stream.shutdown().await);
    while let Ok(1..) = stream.read(&mut [0; 1024]).await {}
}

/// Starts a server with these words for each of its connections. The last one is repeated.
async fn server(says: &'static [&'static [Says]]) -> (Server, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&asked);
    let server = Server::on(h2(), move |number, stream| {
        let words = says[number.min(says.len() - 1)].to_vec();
        serve(stream, words, Arc::clone(&counts))
    });
    (server.await, asked)
}

async fn post(client: &Http, retries: u32) -> Result<Reply, RequestError> {
    let token = CancelToken::new(&System::new());
    let request = client.request(Verb::Post, "/api/v1").resource("pods").max_retries(retries);
    let request = request.body(&b"{}"[..]);
    let call = client.send(&request, &token);
    tokio::time::timeout(Duration::from_secs(20), call).await.expect("the call ends")
}

#[tokio::test]
async fn a_write_that_was_not_processed_is_sent_again() {
    use Says::{Answers, GoesAway, Resets};
    let cases: [&[&[Says]]; 2] =
        [&[&[GoesAway(0)], &[Answers]], &[&[Resets(REFUSED_STREAM), Answers]]];
    for says in cases {
        let (server, asked) = server(says).await;
        assert_eq!(post(&client(&server.config()), 1).await.unwrap().status, 200);
        assert_eq!(asked.load(Ordering::SeqCst), 2);
        assert_eq!(server.connections.load(Ordering::SeqCst), says.len());
    }
}

#[tokio::test]
async fn a_write_that_may_have_been_processed_is_not() {
    use Says::{GoesAway, Resets};
    // The server goes away after this stream, and closes the connection without an answer.
    let cases: [(&[&[Says]], _); 2] = [
        (&[&[GoesAway(1)]], TransportKind::Eof),
        (&[&[Resets(INTERNAL_ERROR)]], TransportKind::Other),
    ];
    for (says, expected) in cases {
        let (server, asked) = server(says).await;
        assert_eq!(kind(post(&client(&server.config()), 5).await), expected);
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }
}

/// An error of TLS, as a connection tells it.
fn io(why: rustls::Error) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, why)
}

/// A connection that ends with this error.
struct Ends(fn() -> std::io::Error);

impl AsyncRead for Ends {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Poll::Ready(Err(self.0()))
    }
}

#[tokio::test]
async fn a_request_that_has_not_left_when_its_connection_ends_was_not_processed() {
    let ends: [(fn() -> std::io::Error, _); 3] = [
        (|| std::io::ErrorKind::ConnectionReset.into(), TransportKind::Unprocessed),
        // Another attempt would end in the same way.
        (|| io(rustls::CertificateError::UnknownIssuer.into()), TransportKind::Untrusted),
        (
            || io(rustls::Error::AlertReceived(rustls::AlertDescription::UnknownCA)),
            TransportKind::Untrusted,
        ),
    ];
    for (end, expected) in ends {
        let stream = TokioIo::new(tokio::io::join(Ends(end), tokio::io::sink()));
        let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await.unwrap();
        let sent = sender.try_send_request(hyper::Request::new(String::new()));
        let (sent, _) = tokio::join!(sent, connection);
        let error = unsent(sent.unwrap_err(), true).unwrap_err();
        assert_eq!(error.kind(), expected, "{error}");
    }
}

#[tokio::test]
async fn a_server_that_refuses_for_ever_is_not_asked_for_ever() {
    let (server, asked) = server(&[&[Says::Resets(REFUSED_STREAM); 9]]).await;
    assert_eq!(kind(post(&client(&server.config()), 2).await), TransportKind::Unprocessed);
    assert_eq!(asked.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_server_that_ends_each_connection_at_once_is_not_asked_for_ever() {
    let server = Server::on(h2(), |_, stream| async move { drop(stream) }).await;
    assert!(post(&client(&server.config()), 0).await.is_err());
    let opened = server.connections.load(Ordering::SeqCst);
    assert!(opened <= 8, "{opened}");
    assert!(send(&client(&server.config())).await.is_err());
}
