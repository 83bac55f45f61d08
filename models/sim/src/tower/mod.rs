//! A [`Server`] as a [`Service`](tower_service::Service), for clients in the same process.
//!
//! With kube-rs: `kube::Client::new(face.service(), "default")`. There is no socket and no thread.
//! Time is tokio's, so a test that pauses tokio's clock moves the server's clock with it. Each
//! request is a task of its own: a client that stops waiting does not take a write back. Who makes a
//! request is told by an extension of it, an `Arc` of a [`User`](crate::apiserver::User), or by its token.

mod direct;
#[cfg(feature = "http-02")]
mod http_02;
mod stream;
mod webhooks;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use ::http::{Request as HttpRequest, Response as HttpResponse, request::Parts};
use bytes::Bytes;
pub use direct::Direct;
#[cfg(feature = "http-02")]
pub use http_02::{Http02, OldReply};
use http_body::Body as HttpBody;
use serde_json::Value;
pub use stream::Stream;
use tokio::time::Instant;

#[cfg(any(feature = "tls", feature = "ordered"))]
pub(crate) use webhooks::Caller;
pub(crate) use webhooks::Webhooks;
#[cfg(feature = "ordered")]
pub(crate) use webhooks::{Replying, unknown};
#[cfg(feature = "tls")]
pub(crate) use webhooks::{post, received};

use crate::apiserver::{
    Answer, Attempt, LARGEST, Request, Response, Server, Step, WatchEvent, WatchId, WebhookCall,
};

/// The events of a watch, and the time to ask again.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// The events in their order.
    pub events: Vec<WatchEvent>,
    /// Nothing will follow.
    pub has_ended: bool,
    /// When to ask again, if nothing is written before.
    pub again_at: Option<Duration>,
}

/// The server, or the network, behind the service.
pub trait Backend: Send + 'static {
    /// A request leaves its client: how long it travels, and a number for its arrival. None: the
    /// client is cut off, so nothing leaves.
    fn depart(&mut self, now: Duration, request: Request) -> Option<(Duration, u64)>;

    /// Whether the request of that number may set out: it asks again when the watches look.
    fn sets_out(&mut self, _number: u64) -> bool {
        true
    }

    /// The request of that number arrives. None: no client will ever get an answer.
    fn arrive(&mut self, now: Duration, number: u64) -> Option<Answer>;

    /// The same, where webhooks can be called meanwhile: it arrives again when they have been.
    fn attempt(&mut self, now: Duration, number: u64, _: &mut Attempt) -> Option<Step> {
        self.arrive(now, number).map(Step::Answered)
    }

    /// The events of a watch since it was last asked.
    fn tell(&mut self, now: Duration, id: WatchId) -> Told;

    /// The webhooks to be called before `tell` can tell everything: they convert objects.
    fn unconverted(&mut self, _: Duration, _: WatchId, _: &mut Attempt) -> Vec<WebhookCall> {
        Vec::new()
    }

    /// The client of a watch has hung up.
    fn close(&mut self, id: WatchId);
}

/// The state that the services of one server share.
#[derive(Debug)]
struct Shared<B> {
    backend: Arc<Mutex<B>>,
    /// The watches that wait for a write.
    sleepers: Mutex<BTreeMap<WatchId, Waker>>,
    /// The requests that may not set out yet.
    held: Mutex<Vec<Waker>>,
    webhooks: Webhooks,
    /// The instant, and the server's time then.
    start: (Instant, Duration),
}

impl<B> Shared<B> {
    fn now(&self) -> Duration {
        self.start.1 + self.start.0.elapsed()
    }

    /// The instant at which the server's clock will show a time.
    fn instant(&self, time: Duration) -> Instant {
        self.start.0 + time.saturating_sub(self.start.1)
    }

    fn lock(&self) -> MutexGuard<'_, B> {
        // A request that panicked has sent no answer; the other requests go on.
        self.backend.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sleepers(&self) -> MutexGuard<'_, BTreeMap<WatchId, Waker>> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn held(&self) -> MutexGuard<'_, Vec<Waker>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something may have been written: the watches look, in the order of their opening.
    fn wake(&self) {
        let sleepers = std::mem::take(&mut *self.sleepers());
        let held = std::mem::take(&mut *self.held());
        for waker in sleepers.into_values().chain(held) {
            waker.wake();
        }
    }
}

/// A server that serves in this process.
#[derive(Debug)]
pub struct Face<B = Direct> {
    shared: Arc<Shared<B>>,
}

impl Face<Direct> {
    /// Puts a face onto a server. Its time passes from now on, as tokio's does: call this inside the
    /// runtime whose clock it is to follow.
    pub fn new(server: Server) -> Self {
        let now = server.now();
        Self::over(Arc::new(Mutex::new(Direct::new(server))), now)
    }

    /// Looks at the server, or changes it: faults are injected so.
    pub fn with<R>(&self, action: impl FnOnce(&mut Server) -> R) -> R {
        let now = self.shared.now();
        let mut direct = self.shared.lock();
        direct.server.advance(now);
        let result = action(&mut direct.server);
        drop(direct);
        self.shared.wake();
        result
    }
}

impl<B: Backend> Face<B> {
    /// The same over anything that answers as a server does; `now` is its time.
    pub fn over(backend: Arc<Mutex<B>>, now: Duration) -> Self {
        Self::calling(backend, now, Webhooks::default())
    }

    /// The same, with webhooks.
    pub(crate) fn calling(backend: Arc<Mutex<B>>, now: Duration, webhooks: Webhooks) -> Self {
        let (sleepers, held) = (Mutex::default(), Mutex::default());
        let start = (Instant::now(), now);
        Self { shared: Arc::new(Shared { backend, sleepers, held, webhooks, start }) }
    }

    /// Answers the webhooks at a host in this process: the function is given each `AdmissionReview` or
    /// `ConversionReview`, and returns the one with the response. The host is that of the URL, or `name.namespace.svc` for a service,
    /// with its port or without. Nothing of the server waits meanwhile: the function may make requests.
    pub fn webhook<F>(&self, host: &str, answer: impl Fn(Value) -> F + Send + Sync + 'static)
    where
        F: Future<Output = Value> + Send + 'static,
    {
        self.shared.webhooks.answer(host, answer);
    }

    /// The same with a service of tower, such as the one that a program serves over HTTPS.
    pub fn webhook_service<S, D>(&self, host: &str, service: S)
    where
        S: tower_service::Service<HttpRequest<Stream>, Response = HttpResponse<D>>,
        S: Clone + Send + 'static,
        S::Future: Send,
        S::Error: std::fmt::Display,
        D: HttpBody<Data = Bytes> + Send,
        D::Error: std::fmt::Display,
    {
        self.shared.webhooks.serve(host, service);
    }

    /// A service for one client.
    pub fn service(&self) -> Service<B> {
        Service { shared: self.shared.clone() }
    }

    /// The server's time.
    pub fn now(&self) -> Duration {
        self.shared.now()
    }

    /// The instant at which the server's clock will show a time.
    pub fn instant(&self, time: Duration) -> Instant {
        self.shared.instant(time)
    }

    /// Lets the watches look whether there is something to tell.
    pub fn wake(&self) {
        self.shared.wake();
    }
}

/// One client's way to the server.
#[derive(Debug)]
pub struct Service<B = Direct> {
    shared: Arc<Shared<B>>,
}

#[cfg(feature = "ordered")]
impl<B> Service<B> {
    /// Looks at what is behind it.
    pub(crate) fn with<R>(&self, look: impl FnOnce(&B) -> R) -> R {
        look(&self.shared.lock())
    }
}

impl<B> Clone for Service<B> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

/// The future of a request's answer.
pub type Reply<B> = Pin<Box<dyn Future<Output = io::Result<HttpResponse<Stream<B>>>> + Send>>;

impl<B, D> tower_service::Service<HttpRequest<D>> for Service<B>
where
    B: Backend,
    D: HttpBody<Data = Bytes> + Send + 'static,
    D::Error: std::fmt::Display,
{
    type Response = HttpResponse<Stream<B>>;
    type Error = io::Error;
    type Future = Reply<B>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequest<D>) -> Reply<B> {
        let shared = self.shared.clone();
        let (parts, body) = request.into_parts();
        Box::pin(async move {
            let body = collect(body).await?;
            let served = tokio::spawn(serve(shared, translate(parts, body)));
            served.await.unwrap_or_else(|error| Err(io::Error::other(error)))
        })
    }
}

/// The whole body of a request, or more of it than the server takes.
pub(crate) async fn collect<D: HttpBody<Data = Bytes>>(body: D) -> io::Result<Vec<u8>>
where
    D::Error: std::fmt::Display,
{
    let (mut body, mut bytes) = (Box::pin(body), Vec::new());
    while let Some(frame) = std::future::poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
        let frame = frame.map_err(|error| io::Error::other(error.to_string()))?;
        if let Ok(data) = frame.into_data() {
            bytes.extend_from_slice(&data);
        }
        if bytes.len() > LARGEST {
            break; // the server says that it is too much
        }
    }
    Ok(bytes)
}

fn translate(parts: Parts, body: Vec<u8>) -> Request {
    let target = parts.uri.path_and_query().map_or("/", |it| it.as_str());
    let headers = parts.headers.iter().map(|(name, value)| {
        // What is no text must not be dropped: a user to impersonate that nobody is may do nothing.
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let headers = headers.collect();
    let by = parts.extensions.get().cloned();
    Request { headers, body, by, ..Request::new(parts.method.as_str(), target) }
}

/// One request, from its departure to the head of its answer.
async fn serve<B: Backend>(
    shared: Arc<Shared<B>>,
    request: Request,
) -> io::Result<HttpResponse<Stream<B>>> {
    let departure = shared.lock().depart(shared.now(), request);
    let Some((travel, number)) = departure else { return Ok(never().await) };
    sets_out(&shared, number).await;
    if !travel.is_zero() {
        tokio::time::sleep(travel).await;
    }
    let mut attempt = Attempt::default();
    let answer = loop {
        let step = shared.lock().attempt(shared.now(), number, &mut attempt);
        shared.wake();
        match step {
            Some(Step::Waits(calls)) => shared.webhooks.call(calls, &mut attempt).await,
            Some(Step::Answered(answer)) => break Some(answer),
            None => break None,
        }
    };
    let Some(answer) = answer else { return Ok(never().await) };
    match answer {
        Answer::Response(response) => {
            pause(response.after).await;
            let body = Bytes::from(response.body.bytes());
            reply(&response, Stream::whole(body))
        }
        Answer::Watch { id, head } => {
            let stream = Stream::watch(shared, id, head.clone());
            pause(head.after).await;
            reply(&head, stream)
        }
        Answer::Lost => Err(io::Error::new(io::ErrorKind::ConnectionReset, "the connection broke")),
    }
}

/// Waits until a request may set out.
async fn sets_out<B: Backend>(shared: &Shared<B>, number: u64) {
    std::future::poll_fn(|cx| {
        if shared.lock().sets_out(number) {
            return Poll::Ready(());
        }
        // The waker comes before the last look, so that a change during this call wakes the task.
        let waker = cx.waker().clone();
        let mut held = shared.held();
        let is_known = held.iter().any(|it| it.will_wake(&waker));
        let (new, known) = if is_known { (None, Some(waker)) } else { (Some(waker), None) };
        held.extend(new);
        drop(held);
        drop(known); // foreign code, outside the lock
        if shared.lock().sets_out(number) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

async fn pause(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

/// A client that is cut off waits, as one behind a dead network does.
async fn never<T>() -> T {
    match std::future::pending::<Infallible>().await {}
}

pub(crate) fn reply<B>(
    response: &Response,
    body: Stream<B>,
) -> io::Result<HttpResponse<Stream<B>>> {
    let mut builder = HttpResponse::builder().status(response.status);
    for (name, value) in &response.headers {
        builder = builder.header(*name, value);
    }
    builder.body(body).map_err(io::Error::other)
}
