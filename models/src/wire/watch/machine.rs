//! A watch as a machine: every call is the watch's next input, and returns what the watch then
//! tells.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use seatrial_core::cancel::CancelToken;
use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::request::{
    Answer, Attempt, Base, BoxFuture, Chunks, Client, Headers, Limits, Status, Transport,
    TransportError, TransportKind, Verb, Watch, WatchEvent,
};
use seatrial_core::runtime::Manual;
use serde_json::Value;

use crate::engine::on_a_stack;

/// The longest line, in bytes.
pub const LONGEST: usize = 44;
/// How many seconds a server may be silent.
pub const IDLE: u8 = 10;

/// An input of a watch.
#[derive(Clone, PartialEq, Eq)]
pub enum Call {
    /// A new watch begins; the old one is over.
    Begin,
    /// Bytes come.
    Bytes(Vec<u8>),
    /// Nothing comes for this many seconds.
    Silence(u8),
    /// The caller gives up waiting for an event, these bytes come, and it waits again.
    Again(Vec<u8>),
    /// The body ends: normally, or because its connection does.
    Ends(Option<TransportKind>),
    /// Bytes come, and the token ends before the reader runs.
    Cancel(Vec<u8>),
}

/// Bytes as the text that a person reads.
impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begin => f.write_str("Begin"),
            Self::Bytes(bytes) => write!(f, "\"{}\"", bytes.escape_ascii()),
            Self::Silence(seconds) => write!(f, "Silence({seconds})"),
            Self::Again(bytes) => write!(f, "\"{}\" between two waits", bytes.escape_ascii()),
            Self::Ends(how) => write!(f, "Ends({how:?})"),
            Self::Cancel(bytes) => write!(f, "\"{}\" and cancelled", bytes.escape_ascii()),
        }
    }
}

/// One item that a watch tells its caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Told {
    /// An event: its type and its object.
    Event(&'static str, String),
    /// The server's own error: its code.
    Refused(u16),
    /// The input makes no sense, or the connection broke in a way that is reported.
    Nonsense,
    /// A line is too long.
    TooLong,
    /// Nothing more comes.
    End,
}

/// The items that a watch tells after an input, and the state of its connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Said {
    /// The items, in order.
    pub told: Vec<Told>,
    /// Whether the connection is open.
    pub open: bool,
}

/// The coming input, and the items that were told.
#[derive(Default)]
struct Line {
    coming: VecDeque<Option<Result<Vec<u8>, TransportError>>>,
    told: Vec<Told>,
    open: bool,
    /// Whether the caller must give up waiting.
    gives_up: bool,
}

/// Both ends of a connection.
#[derive(Clone, Default)]
struct Pipe(Arc<Mutex<Line>>);

impl Pipe {
    fn line(&self) -> MutexGuard<'_, Line> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for Pipe {
    fn send<'a>(&'a self, _: Attempt<'a>) -> BoxFuture<'a, Result<Answer, TransportError>> {
        self.line().open = true;
        let body = Box::new(Body(self.clone()));
        Box::pin(async move { Ok(Answer { status: 200, headers: Headers::new(), body }) })
    }
}

struct Body(Pipe);

impl Chunks for Body {
    fn next(&mut self) -> BoxFuture<'_, Option<Result<Vec<u8>, TransportError>>> {
        Box::pin(poll_fn(|_| match self.0.line().coming.pop_front() {
            Some(next) => Poll::Ready(next),
            None => Poll::Pending,
        }))
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.0.line().open = false;
    }
}

impl fmt::Debug for Ships {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ships").field("reads", &self.reading.is_some()).finish_non_exhaustive()
    }
}

type Reading = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The watch that ships, with a reader of all that it tells.
pub struct Ships {
    clock: Manual,
    token: CancelToken<Manual>,
    pipe: Pipe,
    reading: Option<Reading>,
}

impl Ships {
    pub(super) fn new() -> Self {
        let clock = Manual::new();
        let (token, pipe) = (CancelToken::new(&clock), Pipe::default());
        let reading = Some(read(&clock, &token, &pipe));
        let mut watch = Self { clock, token, pipe, reading };
        on_a_stack(|| watch.poll());
        watch
    }

    /// Runs the reader until it waits.
    fn poll(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        if let Some(reading) = &mut self.reading
            && reading.as_mut().poll(&mut context).is_ready()
        {
            self.reading = None;
        }
    }

    fn comes(&self, bytes: &[u8]) {
        self.pipe.line().coming.push_back(Some(Ok(bytes.to_vec())));
    }

    fn happens(&mut self, call: &Call) -> Said {
        match call {
            Call::Begin => *self = Self::new(),
            Call::Bytes(bytes) => self.comes(bytes),
            Call::Silence(seconds) => self.clock.advance(Duration::from_secs((*seconds).into())),
            Call::Again(bytes) => {
                self.pipe.line().gives_up = true;
                if !bytes.is_empty() {
                    self.comes(bytes);
                }
            }
            Call::Ends(how) => {
                let end = how.map(|kind| Err(TransportError::new(kind, "it broke")));
                self.pipe.line().coming.push_back(end);
            }
            Call::Cancel(bytes) => {
                self.comes(bytes);
                self.token.cancel();
            }
        }
        self.poll();
        let mut line = self.pipe.line();
        line.gives_up = false; // no wait is left to give up
        Said { told: std::mem::take(&mut line.told), open: line.open }
    }
}

/// Reads a watch to its end, and goes on reading after it.
fn read(clock: &Manual, token: &CancelToken<Manual>, pipe: &Pipe) -> Reading {
    let (clock, token, pipe) = (clock.clone(), token.clone(), pipe.clone());
    Box::pin(async move {
        let mut limits = Limits::default();
        (limits.event, limits.idle) = (LONGEST, Duration::from_secs(IDLE.into()));
        let base = Base::parse("http://h").expect("an address");
        let client = Client::new(&clock, base, pipe.clone()).with_limits(limits);
        let request = client.request(Verb::Get, "api/v1").resource("pods");
        let mut watch = client.watch(&request, &token).await.expect("it begins");
        while let Some(event) = next(&mut watch, &pipe).await {
            let told = told(event);
            pipe.line().told.push(told);
        }
        pipe.line().told.push(Told::End);
        while let Some(event) = next(&mut watch, &pipe).await {
            let told = told(event);
            pipe.line().told.push(told);
        }
    })
}

/// Waits for an event; a wait that is given up begins again.
async fn next(watch: &mut Watch<Manual>, pipe: &Pipe) -> Option<WatchEvent<Value>> {
    loop {
        let mut next = pin!(watch.next());
        let told = poll_fn(|context| {
            let gives_up = std::mem::take(&mut pipe.line().gives_up); // the lock is free again
            if gives_up { Poll::Ready(None) } else { next.as_mut().poll(context).map(Some) }
        });
        if let Some(told) = told.await {
            return told;
        }
    }
}

fn told(event: WatchEvent<Value>) -> Told {
    match event {
        WatchEvent::Added(object) => Told::Event("ADDED", object.to_string()),
        WatchEvent::Modified(object) => Told::Event("MODIFIED", object.to_string()),
        WatchEvent::Deleted(object) => Told::Event("DELETED", object.to_string()),
        WatchEvent::Bookmark(object) => Told::Event("BOOKMARK", object.to_string()),
        WatchEvent::Error(status) => refused(&status),
        _ => unreachable!("there are five types of events"),
    }
}

fn refused(status: &Status) -> Told {
    let ours = |cause: &&str| status.details.causes.iter().any(|it| it.reason == *cause);
    match ["UnexpectedServerResponse", "ClientWatchDecoding"].iter().filter(|it| ours(it)).count() {
        2 if status.message.contains("has more than") => Told::TooLong,
        2 => Told::Nonsense,
        _ => Told::Refused(status.code),
    }
}

impl Machine for Ships {
    type Op = Call;
    type Ret = Said;

    fn step(&mut self, call: &mut Call, _: &mut Cx<'_>) -> Step<Said> {
        Step::Done(on_a_stack(|| self.happens(call)))
    }
}
