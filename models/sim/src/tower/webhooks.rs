//! Webhooks that are called while a request waits: those of this process, and those outside.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use ::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use ::http::{Request as HttpRequest, Response as HttpResponse};
use bytes::Bytes;
use http_body::Body as HttpBody;
use serde_json::Value;

use super::{Stream, collect};
use crate::apiserver::{Attempt, WebhookCall, WebhookReply};

/// The reply of a webhook, when it comes.
pub(crate) type Replying = Pin<Box<dyn Future<Output = WebhookReply> + Send>>;
/// Something that calls webhooks.
pub(crate) type Caller = Arc<dyn Fn(WebhookCall) -> Replying + Send + Sync>;

/// Who answers the calls of webhooks.
#[derive(Clone, Default)]
pub(crate) struct Webhooks {
    /// By host, with the port or without.
    inside: Arc<Mutex<BTreeMap<String, Caller>>>,
    outside: Option<Caller>,
}

impl fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_set().entries(inside.keys()).finish()
    }
}

impl Webhooks {
    /// Calls those that are not in this process as well.
    #[cfg(any(feature = "tls", feature = "ordered"))]
    pub(crate) fn reaching(outside: Caller) -> Self {
        Self { outside: Some(outside), ..Self::default() }
    }

    fn put(&self, host: &str, caller: Caller) {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        let old = inside.insert(host.to_owned(), caller);
        drop(inside);
        drop(old); // foreign code, outside the lock
    }

    /// Answers the calls to a host with a function.
    pub(crate) fn answer<F>(&self, host: &str, answer: impl Fn(Value) -> F + Send + Sync + 'static)
    where
        F: Future<Output = Value> + Send + 'static,
    {
        self.put(
            host,
            Arc::new(move |call: WebhookCall| {
                let answered = answer(call.review);
                Box::pin(async move { WebhookReply::review(&answered.await) })
            }),
        );
    }

    /// Answers the calls to a host with a service.
    pub(crate) fn serve<S, D>(&self, host: &str, service: S)
    where
        S: tower_service::Service<HttpRequest<Stream>, Response = HttpResponse<D>>,
        S: Clone + Send + 'static,
        S::Future: Send,
        S::Error: fmt::Display,
        D: HttpBody<Data = Bytes> + Send,
        D::Error: fmt::Display,
    {
        let service = Mutex::new(service);
        self.put(
            host,
            Arc::new(move |call| {
                let service = service.lock().unwrap_or_else(PoisonError::into_inner).clone();
                Box::pin(async move {
                    through(service, &call).await.unwrap_or_else(WebhookReply::Failed)
                })
            }),
        );
    }

    fn find(&self, call: &WebhookCall) -> Option<Caller> {
        let inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        let found = inside.get(&format!("{}:{}", call.to.host, call.to.port));
        found.or_else(|| inside.get(&call.to.host)).or(self.outside.as_ref()).cloned()
    }

    /// Makes all these calls at once, and tells the request that waits for them.
    pub(crate) async fn call(&self, calls: Vec<WebhookCall>, attempt: &mut Attempt) {
        let replies: Vec<_> = calls
            .into_iter()
            .map(|call| {
                let (caller, asked) = (self.find(&call), call.clone());
                let reply = tokio::spawn(async move {
                    let Some(caller) = caller else { return unknown(&asked) };
                    let (timeout, reply) = (asked.timeout, caller(asked));
                    let reply = tokio::time::timeout(timeout, reply).await;
                    reply.unwrap_or_else(|_| WebhookReply::late())
                });
                (call, reply)
            })
            .collect();
        for (call, reply) in replies {
            // A webhook that panics hangs up.
            let reply = reply.await.unwrap_or_else(|_| WebhookReply::Failed("EOF".to_owned()));
            attempt.reply(call, reply);
        }
    }
}

/// The reply of a webhook that is nowhere.
pub(crate) fn unknown(call: &WebhookCall) -> WebhookReply {
    let to = &call.to;
    WebhookReply::Failed(match &to.service {
        Some((name, _)) => format!("service {name:?} not found"),
        None => format!("dial tcp {}:{}: connect: connection refused", to.host, to.port),
    })
}

async fn through<S, D>(mut service: S, call: &WebhookCall) -> Result<WebhookReply, String>
where
    S: tower_service::Service<HttpRequest<Stream>, Response = HttpResponse<D>>,
    S::Error: fmt::Display,
    D: HttpBody<Data = Bytes>,
    D::Error: fmt::Display,
{
    let request = post(call)?;
    let is_ready = std::future::poll_fn(|cx| service.poll_ready(cx)).await;
    is_ready.map_err(|error| error.to_string())?;
    let response = service.call(request).await.map_err(|error| error.to_string())?;
    received(response).await
}

/// The request of a call.
pub(crate) fn post(call: &WebhookCall) -> Result<HttpRequest<Stream>, String> {
    let url = call.to.url(call.timeout);
    let body = call.review.to_string();
    let request = HttpRequest::post(url)
        .header(CONTENT_TYPE, "application/json")
        // Some servers of webhooks read no body without it.
        .header(CONTENT_LENGTH, body.len())
        .header("Accept", "application/json, */*")
        .header("User-Agent", "kube-apiserver-admission");
    request.body(Stream::whole(body.into())).map_err(|error| error.to_string())
}

/// The reply in a response. Of a body that is too large the beginning is read, which says nothing.
pub(crate) async fn received<D>(response: HttpResponse<D>) -> Result<WebhookReply, String>
where
    D: HttpBody<Data = Bytes>,
    D::Error: fmt::Display,
{
    let status = response.status().as_u16();
    let body = collect(response.into_body()).await.map_err(|error| error.to_string())?;
    Ok(WebhookReply::Answered { status, body })
}
