//! Small programs on a client, each named by the case that it must reach.

mod alone;
mod shared;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use seatrial_core::cancel::{CancelToken, Reason};
use seatrial_core::limiter::{FlowLimiter, TokenBucketFlow, WaitError};
use seatrial_core::request::{
    self, Answer, Attempt, Base, BoxFuture, Chunks, Client, Headers, HostBackoff, Mode, Observer,
    RequestError, Retry, RetryCause, Transport, TransportError, TransportKind, Verb,
};
use seatrial_core::runtime::{Ambient as _, Runtime};

use super::calls::{BACKOFF, Begun, Result as Returned, pack};
use super::rule::{After, Outcome, Way};
use super::{History, Request};
use crate::engine::{AnyRuntime, Engine};
use crate::shared::Lock;
use crate::single_step::hash;
use crate::trial::{Scenario, World};

/// Turns per second at the limiter.
pub(super) const RATE: f32 = 1.0;
/// Turns at once at the limiter.
pub(super) const BURST: u64 = 1;

pub(super) fn all() -> Vec<Scenario<Request>> {
    vec![
        alone::every_answer(),
        alone::every_failure(),
        alone::fails_until_the_last(),
        alone::one_after_another(),
        alone::host_is_left_alone(),
        alone::time_is_over(),
        shared::cancelled_in_a_pause(),
        shared::cancelled_before_its_turn(),
        shared::cancelled_without_an_answer(),
        shared::two_take_turns(),
        shared::two_of_one_request(),
    ]
}

/// The fate of an attempt.
#[derive(Clone, Copy)]
enum Act {
    Ends(Outcome),
    /// There is never an answer.
    Hangs,
}

const fn answers(status: u16, after: After) -> Act {
    Act::Ends(Outcome::Status(status, after))
}

const fn later(seconds: i8) -> Act {
    answers(429, After::Seconds(seconds))
}

const fn fails(kind: TransportKind) -> Act {
    Act::Ends(Outcome::Fails(kind))
}

const OK: Act = answers(200, After::Silent);

/// A call and the fates of its attempts; further attempts are answered.
#[derive(Clone)]
struct Tried {
    mode: Mode,
    verb: Verb,
    max: u32,
    timeout: u8,
    acts: Vec<Act>,
}

impl Tried {
    fn new(mode: Mode, verb: Verb, acts: &[Act]) -> Self {
        Self { mode, verb, max: 3, timeout: 0, acts: acts.to_vec() }
    }

    fn get(acts: &[Act]) -> Self {
        Self::new(Mode::Whole, Verb::Get, acts)
    }
}

/// The server; it notes its actions.
struct Server {
    world: World<Request>,
    /// The fates of the next attempts of each call.
    acts: Vec<Lock<VecDeque<Act>>>,
}

impl Transport for Server {
    fn send<'a>(&'a self, attempt: Attempt<'a>) -> BoxFuture<'a, Result<Answer, TransportError>> {
        Box::pin(async move {
            let of: usize = attempt.headers.get("Call").and_then(|it| it.parse().ok()).unwrap_or(0);
            let headers: Vec<_> = attempt.headers.iter().collect();
            let seen = (attempt.verb, attempt.target, &attempt.url.0, headers, &attempt.body);
            self.world.note("sends", hash(&seen) >> 1);
            let act = self.world.runtime().lock(&self.acts[of]).pop_front().unwrap_or(OK);
            let Act::Ends(outcome) = act else { return std::future::pending().await };
            match outcome {
                Outcome::Fails(kind) => {
                    self.world.note("fails", pack(outcome));
                    Err(TransportError::new(kind, format!("{kind:?}")))
                }
                Outcome::Status(status, after) => {
                    self.world.note("answers", pack(outcome));
                    self.world.note("opens", 0);
                    let mut headers = Headers::new();
                    after.text().iter().for_each(|text| headers.add("Retry-After", text));
                    let body = Body { world: self.world.clone(), is_read: false };
                    Ok(Answer { status, headers, body: Box::new(body) })
                }
            }
        })
    }
}

/// The body of an answer, which notes when it is closed.
struct Body {
    world: World<Request>,
    is_read: bool,
}

impl Chunks for Body {
    fn next(&mut self) -> BoxFuture<'_, Option<Result<Vec<u8>, TransportError>>> {
        let first = !std::mem::replace(&mut self.is_read, true);
        Box::pin(async move { first.then(|| Ok(b"{}".to_vec())) })
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.world.note("closes", 0);
    }
}

/// A limiter, which notes each turn.
struct Turns {
    world: World<Request>,
    limiter: TokenBucketFlow<AnyRuntime>,
}

impl FlowLimiter<AnyRuntime> for Turns {
    fn try_accept(&self) -> bool {
        self.limiter.try_accept()
    }

    fn accept(&self) {
        self.limiter.accept();
    }

    fn wait(&self, token: &CancelToken<AnyRuntime>) -> Result<(), WaitError> {
        self.limiter.wait(token)
    }

    fn wait_async<'a>(
        &'a self,
        token: &'a CancelToken<AnyRuntime>,
    ) -> seatrial_core::limiter::Waits<'a> {
        Box::pin(async {
            let waited = self.limiter.wait_async(token).await;
            if waited.is_ok() {
                self.world.note("turn", 0);
            }
            waited
        })
    }

    fn qps(&self) -> f32 {
        self.limiter.qps()
    }
}

/// Returns the value of the note about an attempt that is repeated.
pub(super) fn retry(count: u32, after: Duration, cause: Outcome) -> u64 {
    let cause = match cause {
        Outcome::Status(status, _) => hash(&status.to_string()),
        Outcome::Fails(kind) => hash(&format!("{kind:?}")),
    };
    hash(&(count, after, cause)) >> 1
}

struct Told(World<Request>);

impl Observer for Told
where
    World<Request>: Send + Sync,
{
    fn retries(&self, _: &Verb, _: &str, retry: &Retry) {
        let cause = match &retry.cause {
            RetryCause::Status(status) => hash(&status.to_string()),
            RetryCause::Failure(why) => hash(why),
            _ => 0,
        };
        self.0.note("retries", hash(&(retry.count, retry.after, cause)) >> 1);
    }
}

/// A client, its server, and the calls to make.
struct Bed {
    world: World<Request>,
    client: Client<AnyRuntime, Server>,
    calls: Vec<Tried>,
    takes_turns: bool,
    backs_off: bool,
}

impl Bed {
    fn new(world: &World<Request>, calls: Vec<Tried>) -> Self {
        let runtime = world.runtime();
        let acts = calls.iter().map(|call| runtime.mutex(call.acts.clone().into())).collect();
        let server = Server { world: world.clone(), acts };
        let maker = world.clone();
        let base = Base::parse("http://h").expect("an address");
        let client = Client::new(runtime, base, server)
            .with_limiter(None)
            .with_observer(Arc::new(Told(world.clone())))
            .with_host(move || maker.machine());
        Self { world: world.clone(), client, calls, takes_turns: false, backs_off: false }
    }

    fn with_turns(mut self) -> Self {
        let limiter = TokenBucketFlow::new(self.world.runtime(), RATE, BURST);
        let turns = Turns { world: self.world.clone(), limiter };
        self.client = self.client.with_limiter(Some(Arc::new(turns)));
        self.takes_turns = true;
        self
    }

    fn with_backoff(mut self) -> Self {
        let backoff = HostBackoff::new(self.world.runtime(), BACKOFF.0, BACKOFF.1);
        self.client = self.client.with_backoff(Arc::new(backoff));
        self.backs_off = true;
        self
    }

    fn shared(self) -> Arc<Self> {
        Arc::new(self)
    }

    /// Makes a call, until its token ends.
    fn call(&self, number: u8, token: &CancelToken<AnyRuntime>) {
        let tried = &self.calls[usize::from(number)];
        let text = number.to_string();
        let request = self.client.request(tried.verb.clone(), "api/v1").resource("pods");
        let request = request.header("Call", &[&text]).body(*b"body").max_retries(tried.max);
        let request = request.timeout(Duration::from_secs(tried.timeout.into()));
        self.send(number, &request, token);
    }

    fn send(&self, number: u8, request: &request::Request, token: &CancelToken<AnyRuntime>) {
        let Tried { mode, max, timeout, ref verb, .. } = self.calls[usize::from(number)];
        let way = Way { mode, reads: *verb == Verb::Get, max };
        let Self { takes_turns, backs_off, .. } = *self;
        let begun = Begun { number, way, takes_turns, backs_off, timeout };
        self.world.note("begins", begun.pack());
        let runtime = self.world.runtime();
        let returned = match mode {
            Mode::Whole => of(self.client.send_blocking(request, token).map(|reply| reply.status)),
            Mode::Stream => {
                let answer = runtime.block_on(self.client.stream(request, token));
                of(answer.as_ref().map(|answer| answer.status).map_err(Clone::clone))
            }
            _ => match runtime.block_on(self.client.watch(request, token)) {
                Ok(watch) if watch.is_ended() => Returned::EndedWatch,
                other => of(other.map(|_| 200)),
            },
        };
        self.world.note("returns", returned.pack());
    }

    fn cancel(&self, number: u8, token: &CancelToken<AnyRuntime>) {
        self.world.note("cancels", number.into());
        token.cancel();
        self.world.note("cancelled", number.into());
    }

    fn token(&self) -> CancelToken<AnyRuntime> {
        CancelToken::new(self.world.runtime())
    }

    /// Makes one of the calls. They have nothing in common, and their orders would multiply.
    fn one(&self) {
        let number = self.world.runtime().choose(self.calls.len() as u32);
        self.call(number as u8, &self.token());
    }

    /// Makes the calls one after another.
    fn all(&self) {
        for number in 0..self.calls.len() {
            self.call(number as u8, &self.token());
        }
    }
}

/// Returns the result of a call.
fn of(result: Result<u16, RequestError>) -> Returned {
    match result {
        Ok(status) => Returned::Status(status),
        Err(RequestError::Status(status)) => Returned::Status(status.code),
        Err(RequestError::Transport { last, previous }) => {
            Returned::Failed(last.kind(), previous.map(|error| error.kind()))
        }
        Err(RequestError::Ended(Reason::Cancelled)) => Returned::Cancelled,
        Err(RequestError::Ended(Reason::DeadlineExceeded)) => Returned::TimeIsOver,
        Err(_) => Returned::Other,
    }
}

fn needs_exact_time(engine: Engine) -> Option<&'static str> {
    (engine == Engine::Threads).then_some("it compares times, and real ones are never exact")
}

/// Also refuses the search of all traces to scenarios of many calls: the orders within each call
/// multiply to more than 200,000.
fn multiplies(engine: Engine) -> Option<&'static str> {
    let many = "the orders within its calls multiply; others try some of them";
    (engine == Engine::Trace).then_some(many).or_else(|| needs_exact_time(engine))
}

/// Counts the attempts of a history.
fn attempts(history: &History) -> usize {
    history.notes("sends").count()
}
