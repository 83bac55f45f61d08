//! Sending a request on a connection, and reading the body of its answer.

use std::sync::Arc;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::client::conn::{TrySendError, http1};
use hyper::header::{HOST, HeaderValue};
use hyper::http::response::Parts;
use hyper::{Request, Response, Uri};
use tokio::runtime::Handle;

use crate::request::{BoxFuture, Chunks, TransportError};

use super::error::{cut, failure, not_sent};
use super::link::Place;
use super::pool::{Body, Pool, Taken};

/// How many connections a request is handed to that turn out to have ended before it was sent.
const MOST_ENDED: u32 = 32;

impl Pool {
    /// Sends a request, on another connection if one ends before the request has left.
    pub(super) async fn send(
        self: &Arc<Self>,
        mut request: Request<Body>,
    ) -> Result<(Parts, Streamed), TransportError> {
        let uri = request.uri().clone();
        let mut ended = 0;
        loop {
            *request.uri_mut() = uri.clone();
            let (sent, hold, is_new) = match self.take().await? {
                Taken::Shared(place) => {
                    let mut sender = place.link.sender.clone();
                    let is_new = place.is_first;
                    (sender.try_send_request(request).await, Hold::Place { _place: place }, is_new)
                }
                Taken::Alone(mut sender, was_used) => {
                    by_itself(&mut request, &uri);
                    let sent = sender.try_send_request(request).await;
                    (sent, Hold::alone(sender, self), !was_used)
                }
            };
            match sent {
                Ok(response) => return Ok(Streamed::begin(response, hold)),
                Err(why) => request = unsent(why, is_new || ended > MOST_ENDED)?,
            }
            ended += 1;
        }
    }
}

/// Changes a request for HTTP/1.1, which names the host in a header.
fn by_itself(request: &mut Request<Body>, uri: &Uri) {
    if let (Some(authority), Some(target)) = (uri.authority(), uri.path_and_query()) {
        let usual = matches!((uri.scheme_str(), authority.port_u16()), (Some("https"), Some(443)))
            || matches!((uri.scheme_str(), authority.port_u16()), (Some("http"), Some(80)));
        let host = if usual { authority.host() } else { authority.as_str() };
        if let Ok(host) = HeaderValue::from_str(host) {
            request.headers_mut().entry(HOST).or_insert(host);
        }
        *request.uri_mut() = Uri::from(target.clone());
    }
}

/// Returns a request that was not sent, to send it elsewhere. On a connection that nobody used
/// before, the reason is told instead: the next one would end in the same way. However it has ended,
/// the server has not processed the request.
pub(super) fn unsent<B>(
    mut why: TrySendError<Request<B>>,
    is_final: bool,
) -> Result<Request<B>, TransportError> {
    match why.take_message() {
        Some(request) if !is_final => Ok(request),
        None => Err(failure(Box::new(why.into_error()))),
        Some(_) => Err(not_sent(failure(Box::new(why.into_error())))),
    }
}

/// What an answer holds of its connection, until its body is read or dropped.
enum Hold {
    /// Freed when it is dropped.
    Place {
        _place: Place,
    },
    Alone(Option<http1::SendRequest<Body>>, Arc<Pool>, Handle),
}

impl Hold {
    fn alone(sender: http1::SendRequest<Body>, pool: &Arc<Pool>) -> Self {
        Self::Alone(Some(sender), Arc::clone(pool), Handle::current())
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let Self::Alone(sender, pool, home) = self else { return };
        let Some(mut sender) = sender.take() else { return };
        if sender.is_ready() {
            return pool.put_back(sender);
        }
        // The connection may still have to notice that the body has ended.
        let pool = Arc::clone(pool);
        drop(home.spawn(async move {
            if sender.ready().await.is_ok() {
                pool.put_back(sender);
            }
        }));
    }
}

/// A body as it arrives.
pub(super) struct Streamed {
    body: Incoming,
    /// `None` once the body has ended.
    hold: Option<Hold>,
}

impl Streamed {
    fn begin(response: Response<Incoming>, hold: Hold) -> (Parts, Self) {
        let (head, body) = response.into_parts();
        (head, Self { body, hold: Some(hold) })
    }
}

impl Chunks for Streamed {
    fn next(&mut self) -> BoxFuture<'_, Option<Result<Vec<u8>, TransportError>>> {
        Box::pin(async {
            loop {
                match self.body.frame().await {
                    None => {
                        self.hold = None;
                        return None;
                    }
                    Some(Err(why)) => {
                        self.hold = None;
                        return Some(Err(cut(Box::new(why))));
                    }
                    Some(Ok(frame)) => {
                        if let Ok(bytes) = frame.into_data() {
                            return Some(Ok(bytes.into()));
                        }
                    }
                }
            }
        })
    }
}
