//! Calls of a client as a machine: every call runs until it returns, and the clock moves by itself.

use std::error::Error;
use std::fmt;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use seatrial_core::cancel::{CancelToken, Reason};
use seatrial_core::limiter::{FlowLimiter, TokenBucketFlow, WaitError};
use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::request::{
    Base, Client, HostBackoff, Limits, Mode, Request, RequestError, TransportError, TransportKind,
    Verb,
};
use seatrial_core::runtime::Manual;

use super::server::{Act, Seen, Wire};
use super::spec::Carries;
use crate::engine::on_a_stack;

/// Seconds between two turns at the limiter.
pub(super) const TURN: u8 = 4;
/// How many seconds a server may be silent.
pub(super) const IDLE: u8 = 10;
/// How many bytes of an answer are accepted: a whole number of pieces.
pub(super) const BODY: usize = 8;
/// How often an attempt may be repeated.
pub(super) const REPEATS: u32 = 2;
/// The back-off for a busy host, in seconds: the first one, and the longest.
pub(super) const BACKOFF: (u8, u8) = (2, 3);
/// What a timeout lies behind a second: nothing else happens then.
const HALF: Duration = Duration::from_millis(500);
/// More seconds than any call takes.
const LONG: u8 = 200;

/// How a client is slowed down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// Not at all.
    Free,
    /// By a limiter with one turn every few seconds.
    Slow,
    /// By a limiter that never gives a turn.
    Never,
}

/// A request to send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sending {
    /// How its answer is read.
    pub mode: Mode,
    /// How the server treats its attempts; further attempts are answered.
    pub acts: Vec<Act>,
    /// The second at which it is cancelled, after everything else that is due then.
    pub cancelled: Option<u8>,
    /// The request's timeout: half a second more than this.
    pub timeout: Option<u8>,
}

/// A step of a trial.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Call {
    /// Another client begins, with a request that carries bytes.
    Begin(Pace),
    /// The client makes another request, with this body.
    Make(Carries),
    /// The request is sent, perhaps not for the first time.
    Send(Sending),
    /// Nothing happens for this many seconds.
    Rest(u8),
}

/// The result of a call for its caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Told {
    /// The answer, read to its end.
    Status(u16),
    /// A stream or a watch begins.
    Open,
    /// A watch has ended already.
    EndedWatch,
    /// There is no answer: how the last attempt failed, and how an earlier one did.
    Failed(TransportKind, Option<TransportKind>),
    /// The answer is longer than the client accepts.
    TooLong,
    /// The answer broke off, for this cause.
    Half(TransportKind),
    /// The limiter refuses, for this cause.
    Refused(WaitError),
    /// The body cannot be made, for this cause.
    NoBody(io::ErrorKind),
    /// The call was cancelled.
    Cancelled,
    /// The request's timeout has passed.
    TimedOut,
    /// An error that has a text and no cause to test for.
    Words,
    /// The call does not return.
    Hangs,
}

/// The result of a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Said {
    /// The events that were seen during it.
    pub seen: Vec<Seen>,
    /// The result of the call for its caller.
    pub told: Option<Told>,
    /// The second at its end.
    pub at: u64,
}

/// The client that ships, and one of its requests.
pub struct Ships {
    clock: Manual,
    wire: Wire,
    client: Client<Manual, Wire>,
    request: Request,
}

const fn seconds(count: u8) -> Duration {
    Duration::from_secs(count as u64)
}

impl Ships {
    pub(super) fn new(pace: Pace) -> Self {
        let clock = Manual::new();
        let wire = Wire::new(&clock);
        let burst = u64::from(pace != Pace::Never);
        let turns = TokenBucketFlow::new(&clock, 1.0 / f32::from(TURN), burst);
        let limiter = (pace != Pace::Free).then(|| Arc::new(turns) as Arc<dyn FlowLimiter<_>>);
        let backoff = HostBackoff::new(&clock, seconds(BACKOFF.0), seconds(BACKOFF.1));
        let mut limits = Limits::default();
        limits.idle = seconds(IDLE);
        limits.body = BODY;
        let base = Base::parse("http://h").expect("an address");
        let client = Client::new(&clock, base, wire.clone())
            .with_limiter(limiter)
            .with_backoff(Arc::new(backoff))
            .with_limits(limits);
        let request = request(&client, &wire, Carries::Bytes);
        Self { clock, wire, client, request }
    }

    fn happens(&mut self, call: &Call) -> Said {
        let mut told = None;
        match call {
            Call::Begin(pace) => *self = Self::new(*pace),
            Call::Make(carries) => self.request = request(&self.client, &self.wire, *carries),
            Call::Rest(count) => self.clock.advance(seconds(*count)),
            Call::Send(sending) => told = Some(self.send(sending)),
        }
        Said { seen: self.wire.seen(), told, at: self.wire.now() }
    }

    /// Makes a call, and moves the clock second by second.
    fn send(&self, sending: &Sending) -> Told {
        self.wire.will(&sending.acts);
        let token = CancelToken::new(&self.clock);
        let timeout = sending.timeout.map_or(Duration::ZERO, |whole| seconds(whole) + HALF);
        let request = self.request.clone().timeout(timeout);
        let mut call = pin!(told(&self.client, &request, sending.mode, &token));
        for second in 0..LONG {
            if let Some(told) = poll(call.as_mut()) {
                return told;
            }
            if sending.cancelled == Some(second) {
                token.cancel();
                if let Some(told) = poll(call.as_mut()) {
                    return told;
                }
            }
            self.clock.advance(seconds(1));
        }
        Told::Hangs
    }
}

fn poll(call: Pin<&mut impl Future<Output = Told>>) -> Option<Told> {
    match call.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(told) => Some(told),
        Poll::Pending => None,
    }
}

/// Makes a request with this body.
fn request(client: &Client<Manual, Wire>, wire: &Wire, carries: Carries) -> Request {
    let request = client.request(Verb::Get, "api/v1").resource("pods").max_retries(REPEATS);
    let wire = wire.clone();
    match carries {
        Carries::Nothing => request,
        Carries::Bytes => request.body(*b"bytes"),
        Carries::Made => request.body_made(move || {
            wire.sees(Seen::Made);
            Ok(b"made".to_vec())
        }),
        Carries::Reader => {
            let is_used_up = AtomicBool::new(false);
            request.body_made(move || {
                wire.sees(Seen::Made);
                match is_used_up.swap(true, Ordering::Relaxed) {
                    true => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
                    false => Ok(b"read".to_vec()),
                }
            })
        }
    }
}

async fn told(
    client: &Client<Manual, Wire>,
    request: &Request,
    mode: Mode,
    token: &CancelToken<Manual>,
) -> Told {
    let told = match mode {
        Mode::Whole => client.send(request, token).await.map(|reply| Told::Status(reply.status)),
        Mode::Stream => client.stream(request, token).await.map(|_| Told::Open),
        _ => client.watch(request, token).await.map(|watch| match watch.is_ended() {
            true => Told::EndedWatch,
            false => Told::Open,
        }),
    };
    told.unwrap_or_else(|error| failed(&error))
}

/// The result for a caller that tests for the cause of an error.
fn failed(error: &RequestError) -> Told {
    let cause = error.source();
    let told = match error {
        RequestError::Status(status) => Some(Told::Status(status.code)),
        RequestError::Transport { last, previous } => {
            Some(Told::Failed(last.kind(), previous.as_ref().map(TransportError::kind)))
        }
        RequestError::Ended(Reason::Cancelled) => Some(Told::Cancelled),
        RequestError::Ended(Reason::DeadlineExceeded) => Some(Told::TimedOut),
        RequestError::Incomplete(_) => cause
            .and_then(|why| why.downcast_ref::<TransportError>())
            .map(|why| Told::Half(why.kind())),
        RequestError::TooLarge(most) => (*most == BODY).then_some(Told::TooLong),
        RequestError::Throttled(_) => {
            cause.and_then(|why| why.downcast_ref()).map(|why| Told::Refused(*why))
        }
        RequestError::Body(_) => cause
            .and_then(|why| why.downcast_ref::<io::Error>())
            .map(|why| Told::NoBody(why.kind())),
        _ => None,
    };
    told.unwrap_or(Told::Words)
}

impl Machine for Ships {
    type Op = Call;
    type Ret = Said;

    fn step(&mut self, call: &mut Call, _: &mut Cx<'_>) -> Step<Said> {
        Step::Done(on_a_stack(|| self.happens(call)))
    }
}

impl fmt::Debug for Ships {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ships").field("client", &self.client).finish_non_exhaustive()
    }
}
