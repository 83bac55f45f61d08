//! One call: carries out the wishes of its [`Execution`].

use std::sync::Arc;
use std::time::Duration;

use crate::cancel::CancelToken;
use crate::cancel::until::unless_ended;
use crate::limiter::WaitError;
use crate::machine::{Cx, Host, Hosted, Operation, Step};
use crate::runtime::{Instant, Runtime};

use super::build::Request;
use super::client::Client;
use super::execution::{Execution, Mode, Retry, Want, beyond};
use super::failure::RequestError;
use super::headers::Headers;
use super::patience::Patience;
use super::reply::{Reply, failure, is_success, unstructured};
use super::status::Status;
use super::steps::{Answered, Begin, Failed, Failures, Paused, Throttled};
use super::transport::{Answer, Attempt, Secret, Transport, TransportError, TransportKind};
use super::veil::Veil;
use super::verb::Verb;
use super::warning::warnings;

/// How many bytes of an answer are read before its call is repeated (`election:RQ-60`).
const DRAINED: usize = 2048;

/// How long they are read: a new connection is cheaper than a server that stalls.
const DRAINING: Duration = Duration::from_secs(1);

/// One call.
pub(super) struct Call<'a, R: Runtime, T> {
    client: &'a Client<R, T>,
    request: &'a Request,
    mode: Mode,
    url: Secret<String>,
    pub(super) template: String,
    headers: Headers,
    veil: Veil,
}

impl<'a, R: Runtime, T: Transport> Call<'a, R, T> {
    pub(super) fn new(
        client: &'a Client<R, T>,
        request: &'a Request,
        mode: Mode,
    ) -> Result<Self, RequestError> {
        let (url, template) = (Secret(request.url()?), request.template()?);
        let mut headers = request.headers.clone();
        if headers.get("Accept").is_none() {
            headers.set("Accept", &["application/json, */*"]);
        }
        let veil = client.transport.veil();
        Ok(Self { client, request, mode, url, template, headers, veil })
    }

    pub(super) async fn whole(&self, token: &CancelToken<R>) -> Result<Reply, RequestError> {
        let (answer, token) = self.answer(token).await?;
        let Some(answer) = answer else { unreachable!("only a watch ends before it began") };
        self.read(answer, &token).await
    }

    /// Reads an answer to its end.
    async fn read(&self, answer: Answer, token: &CancelToken<R>) -> Result<Reply, RequestError> {
        let Answer { status, headers, body: mut chunks } = answer;
        let (mut body, limit) = (Vec::new(), self.client.limits.body);
        let mut patience = Patience::new(self.client.limits.idle);
        while let Some(chunk) = patience.next_chunk(token, &mut chunks).await? {
            let chunk = chunk.map_err(RequestError::Incomplete)?;
            if body.len() + chunk.len() > limit {
                return Err(RequestError::TooLarge(limit));
            }
            body.extend_from_slice(&chunk);
        }
        if is_success(status) {
            return Ok(Reply { status, headers, body, veil: self.veil.clone() });
        }
        Err(RequestError::Status(Box::new(self.refused(status, &headers, &body))))
    }

    /// Returns the error for an answer without a usable body. If the body does not end, only the
    /// status decides.
    pub(super) async fn refusal(
        &self,
        answer: Option<Answer>,
        token: &CancelToken<R>,
    ) -> RequestError {
        let Some(answer) = answer else { unreachable!("only a watch ends before it began") };
        let (status, headers) = (answer.status, answer.headers.clone());
        let idle = self.client.runtime.now() + self.client.limits.idle;
        let idle = token.child_with_deadline(idle);
        if let Err(error) = self.read(answer, &idle).await
            && (token.is_cancelled() || !is_late(&error))
        {
            return error;
        }
        // The server stalled, or it is a success that this call cannot use, such as 204 to a watch.
        RequestError::Status(Box::new(self.refused(status, &headers, &[])))
    }

    /// Returns the meaning of a refusal: the server's own `Status`, or else the meaning of the code
    /// (`election:RQ-84`, `RQ-85`).
    fn refused(&self, status: u16, headers: &Headers, body: &[u8]) -> Status {
        let body = &self.veil.bytes(body);
        let unstructured = || unstructured(self.request, status, headers, body);
        let mut told = self.veil.status(failure(body).unwrap_or_else(unstructured));
        let longest = self.client.limits.pause;
        if let Some(asked) = headers.get("Retry-After").and_then(|text| beyond(longest, text)) {
            let why = format!("; it asks for a pause of {asked:?}, the client waits {longest:?}");
            told.message.push_str(&why);
        }
        told
    }

    /// Makes attempts until the rules accept the last answer. Returns it with the token that limits
    /// the rest of the call. `None` is a watch that has ended already.
    pub(super) async fn answer(
        &self,
        token: &CancelToken<R>,
    ) -> Result<(Option<Answer>, CancelToken<R>), RequestError> {
        let (reads, max_retries) = (*self.request.verb() == Verb::Get, self.request.max_retries);
        let begin = Begin { mode: self.mode, reads, max_retries };
        let rules = match &self.client.rules {
            None => Execution::new(self.mode, reads, max_retries).into(),
            Some(make) => make(),
        };
        self.follow(rules, begin, token).await
    }

    /// Makes a step of the rules. They never wait.
    fn ask<O: Operation<Execution>>(&self, rules: &mut Hosted<Execution>, mut op: O) -> O::Ret {
        match rules.run(&mut op, &mut Cx::new(&self.client.runtime)) {
            Step::Done(told) | Step::Held(told) => told,
            Step::Wait { .. } => unreachable!("the rules of a call wait for nobody"),
        }
    }

    async fn follow(
        &self,
        mut rules: Hosted<Execution>,
        begin: Begin,
        token: &CancelToken<R>,
    ) -> Result<(Option<Answer>, CancelToken<R>), RequestError> {
        let rules = &mut rules;
        let mut bounded: Option<CancelToken<R>> = None;
        let (mut last, mut count) = (None, 0);
        let mut want = self.ask(rules, begin);
        loop {
            // The wait for the limiter before the first attempt is outside the timeout.
            if bounded.is_none() && matches!(want, Want::Pause(_)) {
                bounded = self.bounded(token);
            }
            let token = bounded.as_ref().unwrap_or(token);
            want = match want {
                Want::Throttle(retry) => {
                    self.throttle(token, retry.as_ref()).await?;
                    self.ask(rules, Throttled)
                }
                Want::Pause(at_least) => {
                    self.close(last.take(), token).await;
                    self.pause(token, at_least).await?;
                    self.ask(rules, Paused)
                }
                Want::Send => {
                    count += 1;
                    match self.send(token, count).await? {
                        Ok(answer) => {
                            let retry_after = self.retry_after(&answer.headers);
                            let status = last.insert(answer).status;
                            self.ask(rules, Answered { status, retry_after })
                        }
                        Err(failure) => self.ask(rules, Failed(failure)),
                    }
                }
                Want::Answer => {
                    if let Some(answer) = &last {
                        let told = warnings(&answer.headers);
                        told.iter().for_each(|it| self.client.observer.warned(it));
                    }
                    return Ok((last, token.clone()));
                }
                Want::EndedWatch => return Ok((None, token.clone())),
                Want::Failure => {
                    let (last, previous) = self.ask(rules, Failures).expect("a failure was told");
                    return Err(RequestError::Transport { last, previous });
                }
            };
        }
    }

    /// Returns the `Retry-After` of an answer. It is ignored, and the answer is final, if it asks
    /// for more than the client's longest pause.
    fn retry_after(&self, headers: &Headers) -> Option<String> {
        let limit = self.client.limits.pause;
        let told = headers.get("Retry-After")?;
        beyond(limit, told).is_none().then(|| told.to_owned())
    }

    /// Returns a token that ends at the request's timeout, if the call is limited by it.
    fn bounded(&self, token: &CancelToken<R>) -> Option<CancelToken<R>> {
        let nanos = u64::try_from(self.request.told_timeout()).ok().filter(|nanos| *nanos > 0)?;
        let deadline = self.client.runtime.now() + Duration::from_nanos(nanos);
        (self.mode == Mode::Whole).then(|| token.child_with_deadline(deadline))
    }

    async fn throttle(
        &self,
        token: &CancelToken<R>,
        retry: Option<&Retry>,
    ) -> Result<(), RequestError> {
        let (client, verb) = (self.client, self.request.verb());
        if let Some(retry) = retry {
            client.observer.retries(verb, &self.template, retry);
        }
        let Some(limiter) = &client.limiter else { return Ok(()) };
        let began = client.runtime.now();
        let result = limiter.wait_async(token).await;
        let now = client.runtime.now();
        client.observer.throttled(verb, &self.template, now.since(began));
        #[cfg(feature = "tracing")]
        client.late.waited(now.since(began), now, verb, &self.template, retry);
        // The reason of a token is passed on unchanged (`election:RQ-52`).
        result.map_err(|error| match error {
            WaitError::Ended(reason) => RequestError::Ended(reason),
            other => RequestError::Throttled(other),
        })
    }

    async fn pause(&self, token: &CancelToken<R>, at_least: Duration) -> Result<(), RequestError> {
        if let Some(reason) = token.reason() {
            return Err(RequestError::Ended(reason));
        }
        let host = self.request.base().host_and_port();
        let backoff = self.client.backoff.as_ref().map_or(Duration::ZERO, |it| it.delay(host));
        let pause = at_least.max(backoff);
        if !pause.is_zero() {
            let end: Instant = self.client.runtime.now() + pause;
            token.child_with_deadline(end).wait_async().await;
        }
        Ok(())
    }

    /// Makes one attempt, and reports its result (`election:RQ-63`).
    async fn send(
        &self,
        token: &CancelToken<R>,
        count: u32,
    ) -> Result<Result<Answer, TransportError>, RequestError> {
        if let Some(reason) = token.reason() {
            return Err(RequestError::Ended(reason));
        }
        let body = self.request.body.bytes().map_err(|why| RequestError::Body(Arc::new(why)))?;
        let (verb, host) = (self.request.verb(), self.request.base().host_and_port());
        let target = self.request.base().target_of(&self.url.0);
        let attempt = Attempt { verb, target, url: &self.url, headers: &self.headers, body };
        let sent = self.client.transport.send(attempt);
        let mut patience = Patience::new(self.client.limits.idle);
        let mut result = patience.wait(token, sent).await?.flatten();
        if let Ok(answer) = &mut result {
            answer.headers.each(|value| *value = self.veil.text(value).into_owned());
        }
        let told = result.as_ref().map(|answer| answer.status).map_err(TransportError::kind);
        if let Some(backoff) = &self.client.backoff {
            backoff.update(host, told.ok());
        }
        self.client.observer.attempted(verb, host, count, told);
        Ok(result)
    }

    /// Closes an answer before the next attempt. A short answer is read to its end first, so that
    /// its connection can be used again; a stream is not (`election:RQ-60`).
    async fn close(&self, answer: Option<Answer>, token: &CancelToken<R>) {
        let Some(mut answer) = answer.filter(|_| self.mode != Mode::Stream) else { return };
        let length = answer.headers.get("Content-Length").and_then(|it| it.trim().parse().ok());
        if length.is_some_and(|length: usize| length > DRAINED) {
            return;
        }
        let token = &token.child_with_deadline(self.client.runtime.now() + DRAINING);
        let mut left = DRAINED;
        while let Ok(Some(Ok(chunk))) = unless_ended(token, answer.body.next()).await {
            match left.checked_sub(chunk.len()) {
                Some(less) => left = less,
                None => return,
            }
        }
    }
}

/// Tells whether reading an answer took too long.
fn is_late(error: &RequestError) -> bool {
    match error {
        RequestError::Ended(_) => true,
        RequestError::Incomplete(why) => why.kind() == TransportKind::Timeout,
        _ => false,
    }
}
