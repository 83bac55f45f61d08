//! Waiting for a server with a time limit.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use crate::cancel::until::unless_ended;
use crate::cancel::{CancelToken, Reason};
use crate::runtime::{Instant, Runtime};

use super::failure::RequestError;
use super::transport::{BoxFuture, Chunks, TransportError, TransportKind};

/// How long a server may be silent. If a wait is dropped and begun again, its time still counts, so
/// a caller that polls again and again also notices the limit.
pub(super) struct Patience {
    idle: Duration,
    /// Since when the server is silent, if a call has waited for it.
    since: Option<Instant>,
}

impl Patience {
    pub(super) const fn new(idle: Duration) -> Self {
        Self { idle, since: None }
    }

    /// Awaits `work` until the token ends. If it takes too long, that is a failure of the
    /// transport: a timeout.
    pub(super) async fn wait<R: Runtime, V>(
        &mut self,
        token: &CancelToken<R>,
        work: impl Future<Output = V>,
    ) -> Result<Result<V, TransportError>, Reason> {
        let mut work = pin!(work);
        // A result that is ready needs no timer, and wins over the end of one.
        if let Some(value) = poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            Poll::Pending => Poll::Ready(None),
        })
        .await
        {
            self.since = None;
            return Ok(Ok(value));
        }
        let since = *self.since.get_or_insert_with(|| token.runtime().now());
        let limit = token.child_with_deadline(since + self.idle);
        match unless_ended(&limit, work).await {
            Ok(value) => {
                self.since = None;
                Ok(Ok(value))
            }
            Err(_) if token.reason().is_none() => {
                let why = format!("the server says nothing for {:?}", self.idle);
                Ok(Err(TransportError::new(TransportKind::Timeout, why)))
            }
            Err(reason) => Err(token.reason().unwrap_or(reason)),
        }
    }

    /// Awaits the next bytes of a body.
    pub(super) async fn next_chunk<R: Runtime>(
        &mut self,
        token: &CancelToken<R>,
        chunks: &mut Box<dyn Chunks>,
    ) -> Result<Option<Result<Vec<u8>, TransportError>>, Reason> {
        let chunk = self.wait(token, chunks.next()).await?;
        Ok(chunk.unwrap_or_else(|late| Some(Err(late))))
    }
}

/// How long the executor of the connections may do nothing while a call blocks a thread.
const STARTS: Duration = Duration::from_secs(5);

/// Waits for a call on this thread; `None` if what the transport's `lives` returns is not ready in
/// time, since the call would wait for ever.
///
/// This thread may be a worker of the connections' executor. A task that the call starts or wakes is
/// then next on this very thread, where no other worker takes it, until another task replaces it. So
/// after every poll one more does.
pub(super) fn block_on<R: Runtime, V>(
    runtime: &R,
    lives: impl Fn() -> Option<BoxFuture<'static, ()>>,
    call: impl Future<Output = V>,
) -> Option<V> {
    let Some(first) = lives() else { return Some(runtime.block_on(call)) };
    let limit = CancelToken::new(runtime).child_with_deadline(runtime.now() + STARTS);
    let (mut call, mut starts) = (pin!(call), pin!(unless_ended(&limit, first)));
    let mut is_alive = false;
    runtime.block_on(poll_fn(|context| {
        if let Poll::Ready(value) = call.as_mut().poll(context) {
            return Poll::Ready(Some(value));
        }
        drop(lives());
        if !is_alive && let Poll::Ready(started) = starts.as_mut().poll(context) {
            is_alive = started.is_ok();
            return if is_alive { Poll::Pending } else { Poll::Ready(None) };
        }
        Poll::Pending
    }))
}

/// Returns the error of a call that was given up for that.
pub(super) fn nothing_drives() -> RequestError {
    let why = "nothing drives the connections: does this call block the only thread of their \
               runtime? Use `send` there, or `spawn_blocking`";
    let last = TransportError::new(TransportKind::Unprocessed, why);
    RequestError::Transport { last, previous: None }
}

/// A body that ends with its token, or when the client's limit on silence is reached.
pub(super) struct Bounded<R: Runtime> {
    /// `None` once nothing more comes.
    chunks: Option<Box<dyn Chunks>>,
    token: CancelToken<R>,
    patience: Patience,
}

impl<R: Runtime> Bounded<R> {
    pub(super) fn new(chunks: Box<dyn Chunks>, token: &CancelToken<R>, idle: Duration) -> Self {
        Self { chunks: Some(chunks), token: token.clone(), patience: Patience::new(idle) }
    }

    async fn next_chunk(&mut self) -> Option<Result<Vec<u8>, TransportError>> {
        let chunks = self.chunks.as_mut()?;
        let chunk = match self.token.reason() {
            Some(reason) => Err(reason),
            None => self.patience.next_chunk(&self.token, chunks).await,
        };
        let chunk = chunk
            .unwrap_or_else(|reason| Some(Err(TransportError::new(TransportKind::Ended, reason))));
        if !matches!(chunk, Some(Ok(_))) {
            self.chunks = None;
        }
        chunk
    }
}

impl<R: Runtime> Chunks for Bounded<R> {
    fn next(&mut self) -> BoxFuture<'_, Option<Result<Vec<u8>, TransportError>>> {
        Box::pin(self.next_chunk())
    }
}
