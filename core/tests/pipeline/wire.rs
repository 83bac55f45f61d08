//! The network: requests of core's client to the simulated server, in this process.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};
use std::time::Duration;

use seatrial_core::request::{
    Answer, Attempt, BoxFuture, Chunks, Headers, Transport, TransportError, TransportKind,
};
use seatrial_core::runtime::{Ambient, Instant, Tokio};
use seatrial_sim::apiserver::{self, Options, Request, Server, WatchId};

use crate::plan::Break;

/// When the server's clock begins, since the Unix epoch.
const BEGINS: Duration = Duration::from_secs(1_700_000_000);

struct Inside {
    server: Server,
    /// The watches that wait for a write.
    wakers: Vec<Waker>,
    /// Requests, and how many of them were refused or lost.
    requests: u64,
    struck: u64,
    open: usize,
    /// Events that were lost on purpose.
    events: u64,
}

/// A network with a server behind it. Copies share it.
#[derive(Clone)]
pub(crate) struct Wire {
    runtime: Tokio,
    broken: Break,
    inside: Arc<Mutex<Inside>>,
}

impl Wire {
    pub(crate) fn new(runtime: &Tokio, seed: u64, broken: Break) -> Self {
        let options = Options { seed, begins_at: BEGINS, ..Options::default() };
        let server = Server::new(&options);
        let (wakers, requests, struck, open, events) = (Vec::new(), 0, 0, 0, 0);
        let inside = Inside { server, wakers, requests, struck, open, events };
        Self { runtime: runtime.clone(), broken, inside: Arc::new(Mutex::new(inside)) }
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().expect("nobody panics under it")
    }

    fn time(&self) -> Duration {
        BEGINS + self.runtime.now().since(Instant::ZERO)
    }

    /// Looks at the server or changes it; its watches look, too.
    pub(crate) fn with<T>(&self, action: impl FnOnce(&mut Server, Duration) -> T) -> T {
        let time = self.time();
        let mut inside = self.lock();
        inside.server.advance(time);
        let value = action(&mut inside.server, time);
        let wakers = std::mem::take(&mut inside.wakers);
        drop(inside);
        wakers.into_iter().for_each(Waker::wake);
        value
    }

    /// Requests, and how many of them were refused or lost.
    pub(crate) fn requests(&self) -> (u64, u64) {
        let inside = self.lock();
        (inside.requests, inside.struck)
    }

    /// How many watches are open.
    pub(crate) fn open(&self) -> usize {
        self.lock().open
    }

    async fn pause(&self, time: Duration) {
        if !time.is_zero() {
            tokio::time::sleep(time).await;
        }
    }
}

fn lost() -> TransportError {
    TransportError::new(TransportKind::Reset, "the connection is gone")
}

fn headers(response: &apiserver::Response) -> Headers {
    let mut headers = Headers::new();
    for (name, value) in &response.headers {
        headers.add(name, value);
    }
    headers
}

impl Transport for Wire {
    fn send<'a>(&'a self, attempt: Attempt<'a>) -> BoxFuture<'a, Result<Answer, TransportError>> {
        Box::pin(async move {
            let request = Request::new(attempt.verb.as_str(), attempt.target);
            let answer = self.with(|server, now| server.handle(now, &request));
            self.lock().requests += 1;
            match answer {
                apiserver::Answer::Lost => {
                    self.lock().struck += 1;
                    Err(lost())
                }
                apiserver::Answer::Response(response) => {
                    self.lock().struck += u64::from(response.status >= 400);
                    self.pause(response.after).await;
                    let body = vec![response.body.bytes()].into_iter();
                    let headers = headers(&response);
                    Ok(Answer { status: response.status, headers, body: Box::new(body) })
                }
                apiserver::Answer::Watch { id, head } => {
                    self.lock().open += 1;
                    let body = Tail { wire: self.clone(), id, has_ended: false };
                    self.pause(head.after).await;
                    let headers = headers(&head);
                    Ok(Answer { status: head.status, headers, body: Box::new(body) })
                }
            }
        })
    }
}

/// The body of a watch. It is closed when it is dropped.
struct Tail {
    wire: Wire,
    id: WatchId,
    has_ended: bool,
}

impl Tail {
    /// What the watch has to say, and when to ask again.
    fn told(&mut self) -> (Vec<u8>, Option<Duration>) {
        let time = self.wire.time();
        let mut inside = self.wire.lock();
        inside.server.advance(time);
        let news = inside.server.events(self.id);
        self.has_ended = news.has_ended;
        let mut lines = Vec::new();
        for event in &news.events {
            inside.events += 1;
            if self.wire.broken == Break::EventsAreLost && inside.events.is_multiple_of(4) {
                continue;
            }
            lines.extend_from_slice(event.to_json().to_string().as_bytes());
            lines.push(b'\n');
        }
        (lines, inside.server.due(self.id).map(|due| due.saturating_sub(time)))
    }
}

impl Chunks for Tail {
    fn next(&mut self) -> BoxFuture<'_, Option<Result<Vec<u8>, TransportError>>> {
        let mut alarm = None;
        Box::pin(poll_fn(move |context| {
            loop {
                if self.has_ended {
                    return Poll::Ready(None);
                }
                // First the waker: what is written from here on wakes it.
                self.wire.lock().wakers.push(context.waker().clone());
                let (lines, due) = self.told();
                if !lines.is_empty() {
                    return Poll::Ready(Some(Ok(lines)));
                }
                let Some(due) = due.filter(|_| !self.has_ended) else {
                    if self.has_ended {
                        continue;
                    }
                    return Poll::Pending;
                };
                let sleep = alarm.insert(Box::pin(tokio::time::sleep(due)));
                if sleep.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
            }
        }))
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        let mut inside = self.wire.lock();
        inside.server.close(self.id);
        inside.open -= 1;
    }
}
