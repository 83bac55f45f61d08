//! The client: the state that all calls share.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::cancel::CancelToken;
use crate::limiter::{FlowLimiter, TokenBucketFlow};
use crate::machine::Hosted;
use crate::runtime::{Instant, Runtime};

use super::base::Base;
use super::build::Request;
use super::call::Call;
use super::execution::{Execution, Mode};
use super::failure::RequestError;
use super::host_backoff::HostBackoff;
use super::observer::{Heard, Observer, Silent};
use super::patience::{Bounded, block_on, nothing_drives};
use super::reply::Reply;
use super::transport::{Answer, Transport};
use super::verb::Verb;
use super::watch::Watch;

/// The default limits: calls a second, and how many at once (`election:RQ-4`).
const DEFAULT_RATE: (f32, u64) = (5.0, 10);

/// Sends requests to one server: it limits their rate, backs off, and repeats them where that may
/// help.
///
/// Every call ends within one step after its token ends; nothing is sent afterwards
/// (`election:RINV-5`).
pub struct Client<R: Runtime, T> {
    pub(super) runtime: R,
    base: Arc<Base>,
    pub(super) transport: T,
    pub(super) limiter: Option<Arc<dyn FlowLimiter<R>>>,
    pub(super) backoff: Option<Arc<HostBackoff<R>>>,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) limits: Limits,
    pub(super) rules: Option<Rules>,
    #[cfg(feature = "tracing")]
    pub(super) late: super::late::Late,
}

/// Makes the rules of a call.
type Rules = Arc<dyn Fn() -> Hosted<Execution> + Send + Sync>;

/// The limits on memory and waiting time for an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The body of an answer that is read as a whole, in bytes.
    pub body: usize,
    /// One event of a watch, in bytes.
    pub event: usize,
    /// How long a server may be silent, before the head of its answer and between two pieces of the
    /// body. After that the attempt has failed as by a timeout of its connection. A watch ends, and
    /// its caller watches again. This also detects a server that is gone.
    pub idle: Duration,
    /// The longest pause that a server may ask for with `Retry-After`. A refusal that asks for more
    /// is final, and its message says so.
    pub pause: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let (idle, pause) = (Duration::from_secs(300), Duration::from_secs(600));
        Self { body: 256 << 20, event: 16 << 20, idle, pause }
    }
}

impl<R: Runtime, T: Transport> Client<R, T> {
    /// Makes a client that sends 5 requests a second, at most 10 at once, without a back-off.
    pub fn new(runtime: &R, base: Base, transport: T) -> Self {
        let (rate, burst) = DEFAULT_RATE;
        Self {
            runtime: runtime.clone(),
            base: Arc::new(base),
            transport,
            limiter: Some(Arc::new(TokenBucketFlow::new(runtime, rate, burst))),
            backoff: None,
            observer: Arc::new(Silent),
            limits: Limits::default(),
            rules: None,
            #[cfg(feature = "tracing")]
            late: super::late::Late::default(),
        }
    }

    /// Sets the limiter that decides when requests are sent; with `None` they are sent at once.
    /// Clients may share one.
    #[must_use]
    pub fn with_limiter(mut self, limiter: Option<Arc<dyn FlowLimiter<R>>>) -> Self {
        self.limiter = limiter;
        self
    }

    /// Sets a back-off from overloaded hosts. Clients may share one.
    #[must_use]
    pub fn with_backoff(mut self, backoff: Arc<HostBackoff<R>>) -> Self {
        self.backoff = Some(backoff);
        self
    }

    /// Tells an observer about all calls.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Arc::new(Heard(observer));
        self
    }

    /// Sets the limits on memory and waiting time for an answer.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Replaces the rules of calls.
    ///
    /// # For harnesses
    /// `make` returns the holder of a new [`Execution`] for every call; it may record or replace
    /// it.
    #[cfg_attr(not(feature = "harness"), doc(hidden))]
    #[must_use]
    pub fn with_host<H: Into<Hosted<Execution>>>(
        mut self,
        make: impl Fn() -> H + Send + Sync + 'static,
    ) -> Self {
        self.rules = Some(Arc::new(move || make().into()));
        self
    }

    /// Returns the runtime of the client.
    pub const fn runtime(&self) -> &R {
        &self.runtime
    }

    /// Begins a request to the client's server.
    pub fn request(&self, verb: Verb, api_path: &str) -> Request {
        Request::new(&self.base, verb, api_path)
    }

    /// Sends a request and reads the whole answer (`election:RQ-41`).
    ///
    /// # Errors
    /// The request has a mistake, was throttled or ended, has no answer, or was refused.
    pub async fn send(
        &self,
        request: &Request,
        token: &CancelToken<R>,
    ) -> Result<Reply, RequestError> {
        request.preflight()?;
        let call = Call::new(self, request, Mode::Whole)?;
        self.observed(&call.template, request.verb(), call.whole(token)).await
    }

    /// Sends a request and returns the body as it arrives (`election:RQ-42`). Only the server
    /// enforces the request's timeout. The body ends with the token, or when the server is silent
    /// for longer than [`Limits::idle`].
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn stream(
        &self,
        request: &Request,
        token: &CancelToken<R>,
    ) -> Result<Answer, RequestError> {
        let call = Call::new(self, request, Mode::Stream)?;
        let begun = async {
            match call.answer(token).await?.0 {
                Some(answer) if matches!(answer.status, 200..=299) => {
                    let body = Bounded::new(answer.body, token, self.limits.idle);
                    Ok(Answer { body: Box::new(body), ..answer })
                }
                other => Err(call.refusal(other, token).await),
            }
        };
        self.observed(&call.template, request.verb(), begun).await
    }

    /// Watches (`election:RQ-43`). If the connection ends or times out before the watch begins, the
    /// result is a watch that has ended: watch again.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn watch(
        &self,
        request: &Request,
        token: &CancelToken<R>,
    ) -> Result<Watch<R>, RequestError> {
        let call = Call::new(self, request, Mode::Watch)?;
        let begun = async {
            match call.answer(token).await?.0 {
                None => Ok(Watch::ended(token)),
                Some(answer) if answer.status == 200 => {
                    Ok(Watch::new(answer, token, self.limits, self.transport.veil()))
                }
                other => Err(call.refusal(other, token).await),
            }
        };
        self.observed(&call.template, request.verb(), begun).await
    }

    /// Reports a call to the observer, even if the call is dropped; it has a span of its own.
    async fn observed<V>(
        &self,
        template: &str,
        verb: &Verb,
        work: impl Future<Output = Result<V, RequestError>>,
    ) -> Result<V, RequestError> {
        #[cfg(feature = "tracing")]
        let work = {
            let span = tracing::info_span!("request", verb = verb.as_str(), url = template);
            tracing::Instrument::instrument(work, span)
        };
        let began = self.runtime.now();
        self.observer.began(verb, template);
        let mut going = Going { client: self, template, verb, began, succeeded: false };
        let result = work.await;
        going.succeeded = result.is_ok();
        result
    }

    /// As [`send`](Self::send), on this thread. It must not be a thread that the connections need,
    /// such as the only one of a tokio runtime: use `send` there, or `spawn_blocking`.
    ///
    /// # Errors
    /// As [`send`](Self::send), and if nothing drives the connections for some seconds.
    pub fn send_blocking(
        &self,
        request: &Request,
        token: &CancelToken<R>,
    ) -> Result<Reply, RequestError> {
        let sent = block_on(&self.runtime, || self.transport.lives(), self.send(request, token));
        sent.unwrap_or_else(|| Err(nothing_drives()))
    }
}

/// A call that is reported as ended when this drops.
struct Going<'a, R: Runtime, T> {
    client: &'a Client<R, T>,
    template: &'a str,
    verb: &'a Verb,
    began: Instant,
    succeeded: bool,
}

impl<R: Runtime, T> Drop for Going<'_, R, T> {
    fn drop(&mut self) {
        let took = self.client.runtime.now().since(self.began);
        self.client.observer.finished(self.verb, self.template, took, self.succeeded);
    }
}

impl<R: Runtime, T> fmt::Debug for Client<R, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("base", &self.base).finish_non_exhaustive()
    }
}
