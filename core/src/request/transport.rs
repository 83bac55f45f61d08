//! The transport: sends a request to a server and returns the answer.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use super::headers::Headers;
use super::veil::Veil;
use super::verb::Verb;

/// A boxed future that may move to another thread; boxed, so that a transport can be a trait
/// object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Sends one attempt. Dropping the future, or the body of an answer, ends it.
pub trait Transport: Send + Sync + 'static {
    /// Sends an attempt and waits for the head of its answer.
    fn send<'a>(&'a self, attempt: Attempt<'a>) -> BoxFuture<'a, Result<Answer, TransportError>>;

    /// Starts a task on the executor of the connections and returns a future that is ready once it has
    /// run, or `None` if they need no executor. A call that blocks that executor's only thread would
    /// wait for ever.
    fn lives(&self) -> Option<BoxFuture<'static, ()>> {
        None
    }

    /// Returns the secrets that this transport adds to requests, such as a token. If a server
    /// echoes them, they are removed from errors. Empty by default.
    fn veil(&self) -> Veil {
        Veil::default()
    }
}

impl<T: Transport + ?Sized> Transport for Arc<T> {
    fn send<'a>(&'a self, attempt: Attempt<'a>) -> BoxFuture<'a, Result<Answer, TransportError>> {
        (**self).send(attempt)
    }

    fn lives(&self) -> Option<BoxFuture<'static, ()>> {
        (**self).lives()
    }

    fn veil(&self) -> Veil {
        (**self).veil()
    }
}

/// One attempt at a request. All attempts of a call are equal (`election:RINV-2`).
#[derive(Clone)]
#[non_exhaustive]
pub struct Attempt<'a> {
    /// The method.
    pub verb: &'a Verb,
    /// Path and query, as in the first line of a request.
    pub target: &'a str,
    /// The whole URL. It may hold a password, so do not print it.
    pub url: &'a Secret<String>,
    /// The headers.
    pub headers: &'a Headers,
    /// The body.
    pub body: Option<Arc<[u8]>>,
}

/// The body may be a secret, so only its length is shown.
impl fmt::Debug for Attempt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempt")
            .field("verb", self.verb)
            .field("target", &self.target)
            .field("headers", self.headers)
            .field("bytes", &self.body.as_ref().map(|body| body.len()))
            .finish_non_exhaustive()
    }
}

/// A value that `Debug` does not show.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret<T>(pub T);

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// The head of an answer, and its body to be read.
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: Headers,
    /// The body.
    pub body: Box<dyn Chunks>,
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("status", &self.status).finish_non_exhaustive()
    }
}

/// The body of an answer as it arrives. Dropping it closes the answer. Dropping a future of
/// [`next`](Self::next) loses no bytes.
pub trait Chunks: Send {
    /// Waits for the next bytes; `None` at the end. Nothing comes after an error.
    fn next(&mut self) -> BoxFuture<'_, Option<Result<Vec<u8>, TransportError>>>;
}

/// A body that is already complete.
impl Chunks for std::vec::IntoIter<Vec<u8>> {
    fn next(&mut self) -> BoxFuture<'_, Option<Result<Vec<u8>, TransportError>>> {
        let next = Iterator::next(self);
        Box::pin(async move { next.map(Ok) })
    }
}

/// The kind of a failure; it decides whether the call may be repeated (`election:RQ-66`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum TransportKind {
    /// The server refused the connection.
    Refused,
    /// The server reset the connection.
    Reset,
    /// The server has certainly not processed the request: it refused the stream, or went away
    /// before it. Any request may be sent again.
    Unprocessed,
    /// The connection ended before the answer was complete.
    Eof,
    /// An HTTP/2 connection was lost while it carried streams.
    ConnectionLost,
    /// A time limit of the transport was reached.
    Timeout,
    /// The server cannot be trusted, or does not trust the client.
    Untrusted,
    /// The token of the call ended while the body of a stream was read.
    Ended,
    /// Anything else.
    Other,
}

/// Why an attempt has no answer, or the answer is incomplete.
#[derive(Clone, Debug)]
pub struct TransportError {
    kind: TransportKind,
    cause: Arc<dyn std::error::Error + Send + Sync>,
}

impl TransportError {
    /// Makes an error from its cause.
    pub fn new(
        kind: TransportKind,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self { kind, cause: Arc::from(cause.into()) }
    }

    /// Returns the kind.
    #[must_use]
    pub const fn kind(&self) -> TransportKind {
        self.kind
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.cause, f)
    }
}

impl std::error::Error for TransportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.source() // `Display` already shows the cause itself
    }
}
