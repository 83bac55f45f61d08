//! A transport that follows a test's script, on a clock that is moved by hand.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;

use crate::cancel::CancelToken;
use crate::request::{
    Answer, Attempt, Base, BoxFuture, Chunks, Client, Headers, Request, Transport, TransportError,
    TransportKind, Verb,
};
use crate::runtime::{Ambient, Manual};

/// The result of one attempt.
pub(super) enum Act {
    /// An answer: status, headers, chunks of the body.
    Answers(u16, Vec<(&'static str, &'static str)>, Vec<Chunk>),
    Fails(TransportKind, &'static str),
    /// No answer, ever.
    Hangs,
}

pub(super) enum Chunk {
    Bytes(Vec<u8>),
    Fails(TransportKind),
    /// A space, once the token has ended.
    Late(CancelToken<Manual>),
    /// Nothing more, but the body does not end.
    Hangs,
}

/// An answer with a JSON body.
pub(super) fn answers(status: u16, body: &str) -> Act {
    let json = vec![("Content-Type", "application/json")];
    Act::Answers(status, json, vec![Chunk::Bytes(body.as_bytes().to_vec())])
}

/// A refusal that asks the client to try again.
pub(super) fn later(status: u16, seconds: &'static str) -> Act {
    Act::Answers(status, vec![("Retry-After", seconds)], vec![])
}

#[derive(Clone, Default)]
pub(super) struct Script {
    acts: Arc<Mutex<VecDeque<Act>>>,
    pub(super) seen: Arc<Mutex<Vec<Seen>>>,
    /// The number of answers whose body was not dropped yet.
    pub(super) open: Arc<Mutex<i32>>,
    pub(super) clock: Option<Manual>,
}

/// One attempt, as seen by the server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Seen {
    pub(super) at: Duration,
    pub(super) target: String,
    pub(super) headers: Headers,
    pub(super) body: Option<Vec<u8>>,
}

struct Body {
    chunks: VecDeque<Chunk>,
    open: Arc<Mutex<i32>>,
}

impl Drop for Body {
    fn drop(&mut self) {
        *self.open.lock() -= 1;
    }
}

impl Chunks for Body {
    fn next(&mut self) -> BoxFuture<'_, Option<Result<Vec<u8>, TransportError>>> {
        match self.chunks.pop_front() {
            None => Box::pin(async { None }),
            Some(Chunk::Bytes(bytes)) => Box::pin(async { Some(Ok(bytes)) }),
            Some(Chunk::Fails(kind)) => {
                Box::pin(async move { Some(Err(TransportError::new(kind, "cut"))) })
            }
            Some(Chunk::Late(token)) => Box::pin(async move {
                token.wait_async().await;
                Some(Ok(b" ".to_vec()))
            }),
            Some(Chunk::Hangs) => Box::pin(std::future::pending()),
        }
    }
}

impl Transport for Script {
    fn send<'a>(&'a self, attempt: Attempt<'a>) -> BoxFuture<'a, Result<Answer, TransportError>> {
        let now = self.clock.as_ref().map_or(0, |clock| clock.now().as_nanos());
        self.seen.lock().push(Seen {
            at: Duration::from_nanos(now),
            target: attempt.target.to_owned(),
            headers: attempt.headers.clone(),
            body: attempt.body.map(|body| body.to_vec()),
        });
        let act = self.acts.lock().pop_front().expect("an attempt that the test did not expect");
        Box::pin(async move {
            match act {
                Act::Hangs => std::future::pending().await,
                Act::Fails(kind, why) => Err(TransportError::new(kind, why)),
                Act::Answers(status, named, chunks) => {
                    let mut headers = Headers::new();
                    named.iter().for_each(|(name, value)| headers.add(name, value));
                    *self.open.lock() += 1;
                    let body = Body { chunks: chunks.into(), open: Arc::clone(&self.open) };
                    Ok(Answer { status, headers, body: Box::new(body) })
                }
            }
        })
    }
}

/// A client whose server follows a script.
pub(super) struct Bed {
    pub(super) clock: Manual,
    pub(super) script: Script,
    pub(super) client: Client<Manual, Script>,
    pub(super) token: CancelToken<Manual>,
}

impl Bed {
    pub(super) fn new(acts: impl IntoIterator<Item = Act>) -> Self {
        let clock = Manual::new();
        let script = Script {
            acts: Arc::new(Mutex::new(acts.into_iter().collect())),
            clock: Some(clock.clone()),
            ..Script::default()
        };
        let base = Base::parse("https://h").unwrap();
        let client = Client::new(&clock, base, script.clone()).with_limiter(None);
        let token = CancelToken::new(&clock);
        Self { clock, script, client, token }
    }

    /// Adds a step to the end of the script.
    pub(super) fn then(&self, act: Act) {
        self.script.acts.lock().push_back(act);
    }

    /// A piece of a body that comes after this time.
    pub(super) fn late(&self, after: Duration) -> Chunk {
        Chunk::Late(self.token.child_with_deadline(self.clock.now() + after))
    }

    pub(super) fn request(&self, verb: Verb) -> Request {
        self.client.request(verb, "api/v1").resource("pods")
    }

    /// When attempts were made, in milliseconds.
    pub(super) fn times(&self) -> Vec<u128> {
        self.script.seen.lock().iter().map(|seen| seen.at.as_millis()).collect()
    }

    /// Runs a call, moving the clock by a tenth of a second whenever it waits.
    pub(super) fn run<T>(&self, call: impl Future<Output = T>) -> T {
        let (mut call, mut context) = (pin!(call), Context::from_waker(Waker::noop()));
        for _ in 0..100_000 {
            if let Poll::Ready(result) = call.as_mut().poll(&mut context) {
                return result;
            }
            self.clock.advance(Duration::from_millis(100));
        }
        panic!("the call does not end");
    }
}
