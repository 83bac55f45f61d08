//! The connections to one server.
//!
//! Over HTTP/2 a connection carries as many streams as the server allows; one more opens another
//! connection. Over HTTP/1.1 a connection carries one request at a time, and a few are kept for the
//! next ones.

use std::sync::{Arc, Weak};
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use hyper::Uri;
use hyper::body::Bytes;
use hyper::client::conn::{http1, http2};
use hyper_util::client::legacy::connect::Connection as _;
use hyper_util::rt::TokioTimer;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tower_service::Service as _;

use crate::request::{TransportError, TransportKind};

use super::connect::{Within, first};
use super::error::failure;
use super::link::{BEFORE_SETTINGS, CONNECTION_WINDOW, Link, Place, STREAM_WINDOW, Tells};

pub(super) type Body = BoxBody<Bytes, std::convert::Infallible>;

/// How many HTTP/1.1 connections are kept that carry nothing, as in the reference.
const MOST_IDLE: usize = 25;

/// How long such a connection is kept. One of HTTP/2 is looked at twice in this time.
const IDLE: Duration = Duration::from_secs(90);

/// The largest size of the headers of an answer; a larger answer is refused.
const MAX_HEADERS: u32 = 1 << 18;

/// How often a call looks for room on connections that end at once.
const MOST_DEAD: u32 = 3;

/// The connections to one server. Its tasks belong to the tokio runtime in which it is polled.
pub(super) struct Pool {
    connector: Within,
    origin: Uri,
    http1: http1::Builder,
    http2: http2::Builder<Tells>,
    kept: Mutex<Kept>,
    /// Wakes a call that waits for a connection: there is room on an old one.
    room: Arc<Notify>,
    /// Told whenever bytes may have come over HTTP/2.
    news: Arc<Notify>,
}

#[derive(Default)]
struct Kept {
    links: Vec<Arc<Link>>,
    idle: Vec<(http1::SendRequest<Body>, Instant)>,
    /// The server does not speak HTTP/2, so every call opens a connection of its own.
    one_each: bool,
    opening: Option<Opening>,
}

/// A connection that is being opened by a task of its own, for all calls that wait. A caller that
/// stops in the middle holds up nobody.
type Opening = watch::Receiver<Option<Result<Weak<Link>, TransportError>>>;

/// A connection for one request.
pub(super) enum Taken {
    /// HTTP/1.1, and whether it carried requests before.
    Alone(http1::SendRequest<Body>, bool),
    /// HTTP/2.
    Shared(Place),
}

/// A connection that was opened.
enum Opened {
    Alone(http1::SendRequest<Body>),
    Shared(Arc<Link>),
}

impl Pool {
    /// Makes a pool without connections; `ping` is how often connections in use are tried.
    pub(super) fn new(connector: Within, origin: Uri, ping: Duration) -> Arc<Self> {
        let news = Arc::default();
        let mut http1 = http1::Builder::new();
        http1.max_buf_size(MAX_HEADERS as usize);
        let mut http2 = http2::Builder::new(Tells(Arc::clone(&news)));
        http2
            .timer(TokioTimer::new())
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .initial_max_send_streams(BEFORE_SETTINGS)
            .keep_alive_interval(ping)
            .keep_alive_timeout(ping)
            .keep_alive_while_idle(true)
            .max_header_list_size(MAX_HEADERS);
        let (kept, room) = (Mutex::default(), Arc::default());
        Arc::new(Self { connector, origin, http1, http2, kept, room, news })
    }

    /// Returns a connection that takes a request now.
    pub(super) async fn take(self: &Arc<Self>) -> Result<Taken, TransportError> {
        let mut dead = 0;
        loop {
            let mut room = std::pin::pin!(self.room.notified());
            room.as_mut().enable();
            let Some(mut opening) = (match self.ready() {
                Ok(taken) => return Ok(taken),
                Err(opening) => opening,
            }) else {
                match self.open().await? {
                    Opened::Alone(sender) => return Ok(Taken::Alone(sender, false)),
                    shared => drop(self.put(shared)),
                }
                continue;
            };
            let Some(opened) = first(room, opening.wait_for(Option::is_some)).await else {
                continue; // there is room elsewhere
            };
            let gone = || Err(TransportError::new(TransportKind::Other, "tokio has ended"));
            let opened = opened.map_or_else(|_| gone(), |it| (*it).clone().unwrap_or_else(gone));
            if let Some(taken) = self.free(&mut self.kept.lock()) {
                return Ok(taken);
            }
            // It may be full already. If it has ended, that does not go on for ever.
            dead += u32::from(opened?.upgrade().is_none_or(|link| link.sender.is_closed()));
            if dead > MOST_DEAD {
                let why = "the server ends each connection at once";
                return Err(TransportError::new(TransportKind::Unprocessed, why));
            }
        }
    }

    /// Returns a connection with room, if there is one.
    fn free(&self, kept: &mut Kept) -> Option<Taken> {
        kept.links.retain(|link| !link.sender.is_closed());
        if let Some(place) = kept.links.iter().find_map(|link| link.place(&self.room)) {
            return Some(Taken::Shared(place));
        }
        while let Some((sender, since)) = kept.idle.pop() {
            if sender.is_ready() && since.elapsed() < IDLE {
                return Some(Taken::Alone(sender, true));
            }
        }
        None
    }

    /// Returns a connection with room, or the one that is being opened; `None` if the call opens
    /// one for itself.
    fn ready(self: &Arc<Self>) -> Result<Taken, Option<Opening>> {
        let mut kept = self.kept.lock();
        if let Some(taken) = self.free(&mut kept) {
            return Ok(taken);
        }
        if kept.one_each {
            return Err(None);
        }
        // A task that has ended, or whose runtime has, is no opening any more.
        let under_way = |it: &Opening| it.borrow().is_none() && it.has_changed().is_ok();
        if let Some(opening) = kept.opening.clone().filter(under_way) {
            return Err(Some(opening));
        }
        let (tell, opening) = watch::channel(None);
        kept.opening = Some(opening.clone());
        let pool = Arc::clone(self);
        drop(tokio::spawn(async move {
            let opened = pool.open().await;
            let opened = opened.map(|opened| pool.put(opened));
            drop(tell.send(Some(opened)));
        }));
        Err(Some(opening))
    }

    /// Keeps a new connection for all calls.
    fn put(&self, opened: Opened) -> Weak<Link> {
        match opened {
            Opened::Shared(link) => {
                let known = Arc::downgrade(&link);
                let mut kept = self.kept.lock();
                kept.one_each = false;
                kept.links.push(link);
                known
            }
            Opened::Alone(sender) => {
                self.kept.lock().one_each = true;
                self.put_back(sender);
                Weak::new()
            }
        }
    }

    /// Keeps a connection of HTTP/1.1 that has carried its request.
    pub(super) fn put_back(&self, sender: http1::SendRequest<Body>) {
        let mut kept = self.kept.lock();
        kept.idle.retain(|(sender, since)| sender.is_ready() && since.elapsed() < IDLE);
        if kept.idle.len() < MOST_IDLE {
            kept.idle.push((sender, Instant::now()));
        }
    }

    /// Opens a connection, which a task of its own drives.
    async fn open(self: &Arc<Self>) -> Result<Opened, TransportError> {
        let stream = self.connector.clone().call(self.origin.clone()).await.map_err(failure)?;
        let pool = Arc::downgrade(self);
        if stream.connected().is_negotiated_h2() {
            let (sender, driver) =
                self.http2.handshake(stream).await.map_err(|why| failure(Box::new(why)))?;
            let link = Arc::new(Link::new(sender, driver, Arc::clone(&self.news)));
            drop(tokio::spawn(drive(link.drive(), pool, Arc::downgrade(&link))));
            let limit = self.connector.limit;
            return match tokio::time::timeout(limit, link.settled()).await {
                Ok(settled) => settled.map(|()| Opened::Shared(link)),
                Err(_) => {
                    let why = format!("the server allows no stream within {limit:?}");
                    Err(TransportError::new(TransportKind::Timeout, why))
                }
            };
        }
        let (mut sender, connection) =
            self.http1.handshake(stream).await.map_err(|why| failure(Box::new(why)))?;
        let (tell, ended) = tokio::sync::oneshot::channel();
        let moves = async move {
            if let Err(why) = connection.await {
                drop(tell.send(failure(Box::new(why))));
            }
        };
        drop(tokio::spawn(drive(moves, pool, Weak::new())));
        match sender.ready().await {
            Ok(()) => Ok(Opened::Alone(sender)),
            // The connection knows why it has ended, its sender does not.
            Err(why) => Err(ended.await.unwrap_or_else(|_| failure(Box::new(why)))),
        }
    }
}

/// Drives a connection to its end. One that carries nothing for long is no longer kept.
async fn drive(moves: impl Future<Output = ()>, pool: Weak<Pool>, link: Weak<Link>) {
    let mut moves = std::pin::pin!(moves);
    while first(moves.as_mut(), tokio::time::sleep(IDLE / 2)).await.is_some() {
        let Some(pool) = pool.upgrade() else { continue };
        let mut kept = pool.kept.lock();
        kept.idle.retain(|(_, since)| since.elapsed() < IDLE);
        if link.upgrade().is_some_and(|link| link.rests()) {
            kept.links.retain(|it| !std::ptr::eq(Arc::as_ptr(it), link.as_ptr()));
        }
    }
}
