//! HTTP/2, on a connection that has agreed to it, with the limits of a real server.

use std::collections::BTreeMap;
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use ::http::header::AUTHORIZATION;
use ::http::{Method, Request, Response};
use bytes::Bytes;
use http_body::{Body, Frame};
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::time::interval;
use tokio_rustls::server::TlsStream;
use tower_service::Service as _;

use super::connection::LOOK;
use super::tls::Gate;
use super::{Inner, Shared};
use crate::tower::{Service, Stream, collect, reply};

/// How many streams may be open at once.
const STREAMS: u32 = 100;
/// How many bytes of a body may be on their way in a stream.
const WINDOW: u32 = 256 * 1024;
/// The largest head of a request.
const HEAD: u32 = 64 * 1024;
/// How many bytes of a body are handed over at once, so that it is seen whether the client reads.
const PIECE: usize = 64 * 1024;
/// A piece that is larger ends before the last byte of a body. That byte is taken when the client has read what
/// came before, so a body whose end nobody reads is not forgotten as one that is sent.
const SMALL: usize = 4 * 1024;
/// How often a silent client is asked whether it is there, and how long it may think about that.
const PING: (Duration, Duration) = (Duration::from_secs(30), Duration::from_secs(15));

/// What the requests of a connection tell it.
#[derive(Debug, Default)]
struct Seen {
    requests: AtomicU64,
    /// A fault breaks the connection.
    is_broken: AtomicBool,
    /// When each body, by the number of its request, was last asked for more: then the client had read what was
    /// there before. None: it has nothing to tell at present, as that of a quiet watch.
    bodies: Mutex<BTreeMap<u64, Option<Instant>>>,
}

impl Seen {
    fn bodies(&self) -> MutexGuard<'_, BTreeMap<u64, Option<Instant>>> {
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the client has left a body unread for so long, whatever else it does.
    fn is_unread(&self, patience: Duration) -> bool {
        self.bodies().values().flatten().any(|asked| asked.elapsed() >= patience)
    }
}

/// Serves until the client leaves, has been idle or has not read a body for too long, or the server stops.
pub(super) async fn serve(stream: TlsStream<TcpStream>, shared: &Shared, gate: Option<Gate>) {
    let (seen, open, patience) = (Arc::new(Seen::default()), Arc::new(()), shared.patience);
    let service = {
        let (service, seen, open) = (shared.streams.service(), Arc::clone(&seen), open.clone());
        hyper::service::service_fn(move |request| {
            let number = seen.requests.fetch_add(1, Ordering::Relaxed);
            let to = (service.clone(), gate.clone());
            answer(to, (number, request), Arc::clone(&seen), Arc::clone(&open), patience)
        })
    };
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW * STREAMS)
        .max_header_list_size(HEAD)
        .keep_alive_interval(PING.0)
        .keep_alive_timeout(PING.1);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let goaway_after = shared.tls.as_ref().and_then(|tls| tls.requests);
    let alone = Arc::strong_count(&open);
    let (mut look, mut since, mut leaves) = (interval(LOOK), Instant::now(), false);
    let mut known = 0;
    std::future::poll_fn(|cx| {
        if seen.is_broken.load(Ordering::Relaxed) {
            return Poll::Ready(());
        }
        if connection.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        while look.poll_tick(cx).is_ready() {
            if shared.door.is_stopped() || seen.is_unread(shared.patience) {
                return Poll::Ready(());
            }
        }
        let now = seen.requests.load(Ordering::Relaxed);
        let is_busy = Arc::strong_count(&open) > alone || !seen.bodies().is_empty();
        if now != known || is_busy {
            (known, since) = (now, Instant::now());
        }
        // It has had time to read what was left when it was told to go.
        if leaves && since.elapsed() >= shared.patience * 2 {
            return Poll::Ready(());
        }
        let is_enough = |most| seen.requests.load(Ordering::Relaxed) >= most;
        if !leaves && (goaway_after.is_some_and(is_enough) || since.elapsed() >= shared.patience) {
            leaves = true;
            connection.as_mut().graceful_shutdown();
            cx.waker().wake_by_ref(); // so that it is told
        }
        Poll::Pending
    })
    .await;
}

async fn answer(
    (mut service, gate): (Service<Inner>, Option<Gate>),
    (number, request): (u64, Request<Incoming>),
    seen: Arc<Seen>,
    open: Arc<()>,
    patience: Duration,
) -> io::Result<Response<Held>> {
    let is_head = request.method() == Method::HEAD;
    let (mut parts, body) = request.into_parts();
    // A body that takes too long, or breaks off, ends its stream alone.
    let body = tokio::time::timeout(patience, collect(body)).await??;
    let authorization = parts.headers.get(AUTHORIZATION).and_then(|it| it.to_str().ok());
    let asked = (parts.method.as_str(), parts.uri.path());
    let admitted = gate.map_or(Ok(None), |gate| gate.admit(asked, authorization));
    let answered = match admitted {
        Err(refusal) => reply(&refusal, Stream::whole(refusal.body.bytes().into())),
        Ok(user) => {
            if let Some(user) = user {
                parts.extensions.insert(user);
            }
            let request = Request::from_parts(parts, Stream::<Inner>::whole(body.into()));
            service.call(request).await
        }
    };
    if answered.is_err() {
        seen.is_broken.store(true, Ordering::Relaxed);
    }
    drop(open);
    answered.map(|answer| {
        answer.map(|body| {
            let body = if is_head { Stream::whole(Bytes::new()) } else { body };
            Held::new(body, number, seen)
        })
    })
}

/// The body of an answer, piece by piece. It tells whether somebody reads it.
#[derive(Debug)]
struct Held {
    body: Stream<Inner>,
    rest: Bytes,
    number: u64,
    seen: Arc<Seen>,
}

impl Held {
    fn new(body: Stream<Inner>, number: u64, seen: Arc<Seen>) -> Self {
        let held = Self { body, rest: Bytes::new(), number, seen };
        held.note(false);
        held
    }

    fn note(&self, is_quiet: bool) {
        self.seen.bodies().insert(self.number, (!is_quiet).then(Instant::now));
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.seen.bodies().remove(&self.number);
    }
}

impl Body for Held {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.note(false);
        if self.rest.is_empty() {
            let polled = Pin::new(&mut self.body).poll_frame(cx);
            self.note(polled.is_pending());
            match polled {
                Poll::Ready(Some(Ok(frame))) => {
                    self.rest = frame.into_data().unwrap_or_default();
                }
                other => return other,
            }
        }
        let length = match self.rest.len() {
            length @ ..=SMALL => length,
            length => PIECE.min(length - 1),
        };
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }
}
