//! The client: what its calls share.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::cancel::CancelToken;
use crate::limiter::{FlowLimiter, TokenBucketFlow};
use crate::machine::Boxed;
use crate::runtime::{Instant, Runtime};

use super::base::Base;
use super::build::Request;
use super::call::Call;
use super::execution::{Execution, Mode};
use super::failure::RequestError;
use super::host_backoff::HostBackoff;
use super::observer::{Heard, Observer, Silent};
use super::patience::Bounded;
use super::reply::Reply;
use super::transport::{Answer, Transport};
use super::verb::Verb;
use super::watch::Watch;

/// Calls a second, and at once, by default (`election:RQ-4`).
const DEFAULT_RATE: (f32, u64) = (5.0, 10);

/// Sends requests to one server: throttled, backed off, repeated where that may help.
///
/// Every call ends within one step of its token's end; nothing is sent after it
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
type Rules = Arc<dyn Fn() -> Boxed<Execution> + Send + Sync>;

/// How much memory and patience an answer may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The body of an answer that is read as a whole, in bytes.
    pub body: usize,
    /// One event of a watch, in bytes.
    pub event: usize,
    /// How long a server may say nothing: before the head of its answer, and between two pieces of
    /// the body. Then the attempt has failed, as if its connection had timed out; a watch ends, and
    /// its caller watches again. A server that is gone says nothing either.
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
    /// Makes a client that sends 5 requests a second, and 10 at once, and backs off from nobody.
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

    /// Lets a limiter decide when requests go out; `None` lets them go at once. Clients may share
    /// one.
    #[must_use]
    pub fn with_limiter(mut self, limiter: Option<Arc<dyn FlowLimiter<R>>>) -> Self {
        self.limiter = limiter;
        self
    }

    /// Leaves a host alone that has too much to do. Clients may share one.
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

    /// Sets how much memory and patience an answer may take.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Lets calls go by other rules.
    ///
    /// # For harnesses
    /// `make` gives what holds an [`Execution`], recorded or replaced; every call begins one.
    #[cfg_attr(not(feature = "harness"), doc(hidden))]
    #[must_use]
    pub fn with_host(
        mut self,
        make: impl Fn() -> Boxed<Execution> + Send + Sync + 'static,
    ) -> Self {
        self.rules = Some(Arc::new(make));
        self
    }

    /// Returns the runtime that the client lives on.
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
        self.told(&call.template, request.verb(), call.whole(token)).await
    }

    /// Sends a request and hands out the body as it comes in (`election:RQ-42`). The request's
    /// timeout is the server's to keep; the body ends with the token, and with a server that says
    /// nothing for longer than [`Limits::idle`].
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
        self.told(&call.template, request.verb(), begun).await
    }

    /// Watches (`election:RQ-43`). A watch that could not be begun because its connection ended or
    /// timed out is one that has ended: watch again.
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
        self.told(&call.template, request.verb(), begun).await
    }

    /// Tells the observer of a call, also of one that is dropped; it has a span of its own.
    async fn told<V>(
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

    /// As [`send`](Self::send), on this thread.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn send_blocking(
        &self,
        request: &Request,
        token: &CancelToken<R>,
    ) -> Result<Reply, RequestError> {
        self.runtime.block_on(self.send(request, token))
    }
}

/// A call that goes on until this is dropped.
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
