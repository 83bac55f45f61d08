//! Waiting for a server, for as long as a client has patience.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use crate::cancel::until::unless_ended;
use crate::cancel::{CancelToken, Reason};
use crate::runtime::Runtime;

use super::transport::{Awaited, Chunks, TransportError, TransportKind};

/// Awaits `work` until the token ends. What takes longer than `idle` is a failure of the transport:
/// its time ran out.
pub(super) async fn patiently<R: Runtime, V>(
    token: &CancelToken<R>,
    idle: Duration,
    work: impl Future<Output = V>,
) -> Result<Result<V, TransportError>, Reason> {
    let mut work = pin!(work);
    // What is there already needs no timer.
    if let Some(value) = poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
    {
        return Ok(Ok(value));
    }
    let patience = token.child_with_deadline(token.runtime().now() + idle);
    match unless_ended(&patience, work).await {
        Ok(value) => Ok(Ok(value)),
        Err(_) if token.reason().is_none() => {
            let why = format!("the server says nothing for {idle:?}");
            Ok(Err(TransportError::new(TransportKind::Timeout, why)))
        }
        Err(reason) => Err(token.reason().unwrap_or(reason)),
    }
}

/// Awaits the next bytes of a body, as [`patiently`].
pub(super) async fn next_chunk<R: Runtime>(
    token: &CancelToken<R>,
    idle: Duration,
    chunks: &mut Box<dyn Chunks>,
) -> Result<Option<Result<Vec<u8>, TransportError>>, Reason> {
    let told = patiently(token, idle, chunks.next()).await?;
    Ok(told.unwrap_or_else(|late| Some(Err(late))))
}

/// A body that ends with its token, and with the patience of the client.
pub(super) struct Bounded<R: Runtime> {
    /// None once nothing more comes.
    chunks: Option<Box<dyn Chunks>>,
    token: CancelToken<R>,
    idle: Duration,
}

impl<R: Runtime> Bounded<R> {
    pub(super) fn new(chunks: Box<dyn Chunks>, token: &CancelToken<R>, idle: Duration) -> Self {
        Self { chunks: Some(chunks), token: token.clone(), idle }
    }

    async fn told(&mut self) -> Option<Result<Vec<u8>, TransportError>> {
        let chunks = self.chunks.as_mut()?;
        let told = match self.token.reason() {
            Some(reason) => Err(reason),
            None => next_chunk(&self.token, self.idle, chunks).await,
        };
        let told = told
            .unwrap_or_else(|reason| Some(Err(TransportError::new(TransportKind::Ended, reason))));
        if !matches!(told, Some(Ok(_))) {
            self.chunks = None;
        }
        told
    }
}

impl<R: Runtime> Chunks for Bounded<R> {
    fn next(&mut self) -> Awaited<'_, Option<Result<Vec<u8>, TransportError>>> {
        Box::pin(self.told())
    }
}
