//! A lock in a Lease over requests, as a machine: its calls, and the requests that they send.

use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use seatrial_core::elector::{
    AsyncLock, LeaseLock, Name, Record, StoreError, Stored, Timestamp, Timing, Version,
};
use seatrial_core::limiter::NeverAccept;
use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::request::{
    self, Attempt, Base, BoxFuture, Client, Headers, HostBackoff, Transport, TransportError,
    TransportKind,
};
use seatrial_core::runtime::Manual;
use serde_json::Value;

use super::server::{Answer, Change, NAME, Server, Trouble};
use crate::engine::on_a_stack;

/// Times of records, and their texts in a Lease.
pub(super) const TIMES: [(i64, &str); 3] = [
    (1_700_000_000_000_120, "2023-11-14T22:13:20.000120Z"),
    (1_700_000_001_500_000, "2023-11-14T22:13:21.500000Z"),
    (1_700_000_002_000_000, "2023-11-14T22:13:22.000000Z"),
];

/// A step of a trial.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Call {
    /// The lock is read.
    Get,
    /// The lock is created with the record of a holder; the number chooses its times.
    Create(&'static str, u8),
    /// The lock is updated with such a record, over the version that was seen last.
    Update(&'static str, u8),
    /// Another client changes the Lease.
    Others(Change),
    /// The next request meets this trouble.
    Next(Trouble),
}

/// The result of a step.
#[derive(Clone, PartialEq, Debug)]
pub struct Said {
    /// The result for the caller: the record and its version, or the name of an error.
    pub told: String,
    /// The requests, each with its body.
    pub sent: Vec<(String, Option<Value>)>,
    /// The Lease on the server after the step.
    pub kept: Option<Value>,
}

/// The server, and the requests that it got.
#[derive(Default)]
struct Books {
    server: Server,
    sent: Vec<(String, Option<Value>)>,
}

#[derive(Clone, Default)]
struct Wire(Arc<Mutex<Books>>);

impl Wire {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for Wire {
    fn send<'a>(
        &'a self,
        attempt: Attempt<'a>,
    ) -> BoxFuture<'a, Result<request::Answer, TransportError>> {
        let body = attempt.body.as_ref();
        let body = body.map(|bytes| serde_json::from_slice(bytes).expect("a Lease is JSON"));
        let mut books = self.books();
        books.sent.push((format!("{} {}", attempt.verb, attempt.target), body.clone()));
        let answer = books.server.serve(attempt.verb.as_str(), attempt.target, body.as_ref());
        Box::pin(async move {
            match answer {
                Answer::Silence => std::future::pending().await,
                Answer::Breaks => Err(TransportError::new(TransportKind::Eof, "it broke")),
                Answer::Says(status, text) => {
                    let mut headers = Headers::new();
                    headers.add("Retry-After", "1");
                    let body = Box::new(vec![text.into_bytes()].into_iter());
                    Ok(request::Answer { status, headers, body })
                }
            }
        })
    }
}

/// The lock that ships.
pub struct Ships {
    clock: Manual,
    wire: Wire,
    lock: LeaseLock<request::Leases<Manual, Wire>>,
    seen: Version,
}

impl Ships {
    pub(super) fn new() -> Self {
        let (clock, wire) = (Manual::new(), Wire::default());
        let base = Base::parse("http://h").expect("an address");
        // The lock must use neither this limiter nor this back-off: other calls would delay an
        // election.
        let others = Arc::new(HostBackoff::new(&clock, HOUR, HOUR));
        let client = Client::new(&clock, base, wire.clone())
            .with_limiter(Some(Arc::new(NeverAccept::new(&clock))))
            .with_backoff(others);
        let labels = [("app".to_owned(), "web".to_owned())].into();
        let leases = request::Leases::new(client, &Timing::DEFAULT);
        let lock = LeaseLock::new(leases, "default", NAME).with_labels(labels);
        Self { clock, wire, lock, seen: Version::new("") }
    }

    fn happens(&mut self, call: &Call) -> Said {
        let (clock, lock) = (&self.clock, &mut self.lock);
        let result = match *call {
            Call::Get => wait(clock, AsyncLock::get(lock)),
            Call::Create(holder, number) => {
                wait(clock, AsyncLock::create(lock, &record(holder, number)))
            }
            Call::Update(holder, number) => {
                wait(clock, AsyncLock::update(lock, &record(holder, number), &self.seen))
            }
            Call::Others(change) => {
                self.wire.books().server.change(change);
                Some(Err(StoreError::NotInitialised))
            }
            Call::Next(trouble) => {
                self.wire.books().server.next = Some(trouble);
                Some(Err(StoreError::NotInitialised))
            }
        };
        let told = match call {
            Call::Others(_) | Call::Next(_) => String::new(),
            _ => self.told(result),
        };
        let mut books = self.wire.books();
        let sent = std::mem::take(&mut books.sent);
        Said { told, sent, kept: books.server.lease.clone() }
    }

    fn told(&mut self, result: Option<Result<Stored, StoreError>>) -> String {
        match result {
            None => "hangs".to_owned(),
            Some(Err(error)) => name_of(&error).to_owned(),
            Some(Ok(stored)) => {
                self.seen = stored.version.clone();
                let Record { holder, duration_seconds, transitions, .. } = &stored.record;
                let times = [stored.record.acquire_time, stored.record.renew_time]
                    .map(|time| time.map(Timestamp::as_micros));
                let holder = holder.as_str();
                format!("{holder} {duration_seconds} {transitions} {times:?} {}", stored.version)
            }
        }
    }
}

const HOUR: Duration = Duration::from_secs(3600);

/// Awaits a call, for somewhat longer than its client may wait; `None` if it does not end.
fn wait<T>(clock: &Manual, call: impl Future<Output = T>) -> Option<T> {
    let (mut call, mut context) = (pin!(call), Context::from_waker(Waker::noop()));
    for _ in 0..3 {
        if let Poll::Ready(result) = call.as_mut().poll(&mut context) {
            return Some(result);
        }
        clock.advance(Timing::DEFAULT.request_timeout());
    }
    None
}

const fn name_of(error: &StoreError) -> &'static str {
    match error {
        StoreError::NotFound => "NotFound",
        StoreError::AlreadyExists => "AlreadyExists",
        StoreError::Conflict => "Conflict",
        StoreError::Invalid(_) => "Invalid",
        StoreError::NotInitialised => "NotInitialised",
        StoreError::Timeout => "Timeout",
        StoreError::Cancelled => "Cancelled",
        _ => "Other",
    }
}

fn record(holder: &str, number: u8) -> Record {
    let mut record = Record::default();
    record.holder = Name::new(holder);
    record.duration_seconds = 15;
    record.acquire_time = Some(Timestamp::from_micros(TIMES[0].0));
    record.renew_time = Some(Timestamp::from_micros(TIMES[usize::from(number) % 3].0));
    record.transitions = number.into();
    record
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
        f.debug_struct("Ships").field("lock", &self.lock).finish_non_exhaustive()
    }
}
