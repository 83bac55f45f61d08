//! A server that follows a script, and records what it sees.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use seatrial_core::request::{
    Answer, Attempt, BoxFuture, Chunks, Headers, Transport, TransportError, TransportKind,
};
use seatrial_core::runtime::{Ambient as _, Manual};

use crate::request::{After, Outcome};

/// How the server treats an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// The attempt ends with this outcome.
    Ends(Outcome),
    /// It is answered, and the connection breaks within the body.
    Half(TransportKind),
    /// It is answered, with a body of this many pieces.
    Pieces(u8),
    /// It is answered after this many seconds.
    Later(u8),
    /// The server does not answer.
    Hangs,
}

/// The answer to an attempt for which the script has none.
pub(super) const OK: Act = Act::Ends(Outcome::Status(200, After::Silent));

/// A piece of a body.
pub(super) const PIECE: &[u8] = b"{}";

/// An event that is seen during a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Seen {
    /// The request's body is made.
    Made,
    /// An attempt comes: at this second, with this body.
    Sent(u64, Option<String>),
    /// The server answers.
    Answered(u16),
    /// An answer is closed.
    Closed,
}

#[derive(Default)]
struct Books {
    acts: VecDeque<Act>,
    seen: Vec<Seen>,
}

/// A server, and its records.
#[derive(Clone)]
pub(super) struct Wire {
    clock: Manual,
    books: Arc<Mutex<Books>>,
}

impl Wire {
    pub(super) fn new(clock: &Manual) -> Self {
        Self { clock: clock.clone(), books: Arc::default() }
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the script for the next attempts.
    pub(super) fn will(&self, acts: &[Act]) {
        self.books().acts = acts.iter().copied().collect();
    }

    pub(super) fn sees(&self, what: Seen) {
        self.books().seen.push(what);
    }

    /// Returns the events that were seen since the last call.
    pub(super) fn seen(&self) -> Vec<Seen> {
        std::mem::take(&mut self.books().seen)
    }

    /// The current second.
    pub(super) fn now(&self) -> u64 {
        self.clock.now().as_nanos() / 1_000_000_000
    }

    fn answer(&self, status: u16, after: After, pieces: Vec<Piece>) -> Answer {
        self.sees(Seen::Answered(status));
        let mut headers = Headers::new();
        after.text().iter().for_each(|text| headers.add("Retry-After", text));
        let body = Body { wire: self.clone(), pieces: pieces.into() };
        Answer { status, headers, body: Box::new(body) }
    }
}

impl Transport for Wire {
    fn send<'a>(&'a self, attempt: Attempt<'a>) -> BoxFuture<'a, Result<Answer, TransportError>> {
        let body = attempt.body.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        self.sees(Seen::Sent(self.now(), body));
        let act = self.books().acts.pop_front().unwrap_or(OK);
        let began = self.now();
        Box::pin(async move {
            let piece = || Ok(PIECE.to_vec());
            match act {
                Act::Ends(Outcome::Status(status, after)) => {
                    Ok(self.answer(status, after, vec![piece()]))
                }
                Act::Ends(Outcome::Fails(kind)) => Err(broken(kind)),
                Act::Half(kind) => {
                    Ok(self.answer(200, After::Silent, vec![piece(), Err(broken(kind))]))
                }
                Act::Pieces(count) => {
                    Ok(self.answer(200, After::Silent, (0..count).map(|_| piece()).collect()))
                }
                Act::Later(seconds) => {
                    let due = began + u64::from(seconds);
                    // It is polled every second, so it needs no waker.
                    poll_fn(|_| if self.now() < due { Poll::Pending } else { Poll::Ready(()) })
                        .await;
                    Ok(self.answer(200, After::Silent, vec![piece()]))
                }
                Act::Hangs => std::future::pending().await,
            }
        })
    }
}

fn broken(kind: TransportKind) -> TransportError {
    TransportError::new(kind, format!("{kind:?}"))
}

type Piece = Result<Vec<u8>, TransportError>;

/// The body of an answer, which records when it is closed.
struct Body {
    wire: Wire,
    pieces: VecDeque<Piece>,
}

impl Chunks for Body {
    fn next(&mut self) -> BoxFuture<'_, Option<Piece>> {
        let next = self.pieces.pop_front();
        Box::pin(async move { next })
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.wire.sees(Seen::Closed);
    }
}
