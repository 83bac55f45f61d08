//! HTTP on loopback, in front of a [`Server`]: HTTP/1.1, and over TLS also HTTP/2.
//!
//! Each connection has a thread, and their number is limited. The server stands behind one lock; a
//! watch sleeps until something is written. It is meant for clients in tests, not for the open
//! network: it listens on loopback alone unless it is told otherwise. With the feature `tls`, `Tls`
//! makes a certificate for it, or asks clients for theirs; else nobody is asked who they are.

#[cfg(feature = "tls")]
mod clients;
mod connection;
mod door;
#[cfg(feature = "tls")]
mod h2;
mod life;
mod stream;
#[cfg(feature = "tls")]
mod subject;
#[cfg(feature = "tls")]
mod tls;
#[cfg(feature = "tls")]
mod trust;
#[cfg(feature = "tls")]
pub(crate) mod webhooks;
pub(crate) mod wire;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use door::Door;
#[cfg(feature = "tls")]
pub use tls::Tls;
#[cfg(feature = "drive")]
pub(crate) use tls::issue;

#[cfg(not(feature = "tls"))]
use crate::apiserver::WebhookReply;
use crate::apiserver::{Answer, Attempt, Events, Request, Server, Step, WatchId, WebhookCall};
use crate::conformance::Recorder;
use crate::controllers::Controllers;

/// The address to listen on, and the limits.
#[derive(Clone, Debug)]
pub struct Listen {
    /// The address; port 0 is any free one.
    pub address: SocketAddr,
    /// An address that others than this machine can reach is accepted.
    pub beyond_loopback: bool,
    /// How many connections may be open at once; more are told to come again later.
    pub connections: usize,
    /// How long a connection may be idle, or take for one request.
    pub patience: Duration,
    /// How many bytes of requests and answers are kept for a trace of them; none are by default.
    pub record: usize,
    /// The controllers that run together with the server.
    pub controllers: Option<Controllers>,
    /// The certificate, if it is to speak TLS.
    #[cfg(feature = "tls")]
    pub tls: Option<Tls>,
}

impl Default for Listen {
    fn default() -> Self {
        Self {
            address: (Ipv4Addr::LOCALHOST, 0).into(),
            beyond_loopback: false,
            connections: 512,
            patience: Duration::from_secs(60),
            record: 0,
            controllers: None,
            #[cfg(feature = "tls")]
            tls: None,
        }
    }
}

/// The state that all connections share.
#[derive(Debug)]
struct Shared {
    inner: Arc<Mutex<Inner>>,
    /// Something may have been written.
    changed: Arc<Condvar>,
    #[cfg(feature = "tls")]
    webhooks: crate::tower::Webhooks,
    /// The streams of HTTP/2.
    #[cfg(feature = "tls")]
    streams: crate::tower::Face<Inner>,
    door: Door,
    patience: Duration,
    #[cfg(feature = "tls")]
    tls: Option<Tls>,
}

/// The server, and the recording of its requests and answers.
#[derive(Debug)]
struct Inner {
    server: Server,
    recorder: Option<Recorder>,
    changed: Arc<Condvar>,
    /// Requests of HTTP/2 that have come, and are about to be answered.
    #[cfg(feature = "tls")]
    come: std::collections::BTreeMap<u64, Request>,
}

#[cfg(feature = "tls")]
impl crate::tower::Backend for Inner {
    fn depart(&mut self, _: Duration, request: Request) -> Option<(Duration, u64)> {
        let number = self.come.last_key_value().map_or(0, |(number, _)| number + 1);
        self.come.insert(number, request);
        Some((Duration::ZERO, number))
    }

    fn arrive(&mut self, _: Duration, number: u64) -> Option<Answer> {
        self.come.remove(&number).map(|request| self.server.handle(now(), &request))
    }

    fn attempt(&mut self, _: Duration, number: u64, attempt: &mut Attempt) -> Option<Step> {
        let request = self.come.remove(&number)?;
        let step = self.handle(now(), &request, attempt);
        if let Step::Waits(_) = step {
            self.come.insert(number, request);
        }
        Some(step)
    }

    fn tell(&mut self, _: Duration, id: WatchId) -> crate::tower::Told {
        let Events { events, has_ended } = self.events(now(), id);
        crate::tower::Told { events, has_ended, again_at: self.server.due(id) }
    }

    fn unconverted(&mut self, _: Duration, id: WatchId, attempt: &mut Attempt) -> Vec<WebhookCall> {
        self.server.unconverted(id, attempt)
    }

    fn close(&mut self, id: WatchId) {
        Self::close(self, id);
    }
}

impl Inner {
    fn handle(&mut self, now: Duration, request: &Request, attempt: &mut Attempt) -> Step {
        let before = self.server.revision();
        let step = self.server.attempt(now, request, attempt);
        if let (Some(recorder), Step::Answered(answer)) = (&mut self.recorder, &step) {
            recorder.call(now, request, answer);
        }
        if self.server.revision() != before {
            self.changed.notify_all();
        }
        step
    }

    fn events(&mut self, now: Duration, id: WatchId) -> Events {
        self.server.advance(now);
        let events = self.server.events(id);
        if let Some(recorder) = &mut self.recorder {
            recorder.read(now, id, &events);
        }
        events
    }

    fn close(&mut self, id: WatchId) {
        self.server.close(id);
        if let Some(recorder) = &mut self.recorder {
            recorder.close(id);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A request that panicked has sent no answer; the other requests go on.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handle(&self, request: &Request) -> Answer {
        let mut attempt = Attempt::default();
        loop {
            let step = self.lock().handle(now(), request, &mut attempt);
            self.wake_streams();
            match step {
                Step::Answered(answer) => return answer,
                Step::Waits(calls) => self.call(calls, &mut attempt),
            }
        }
    }

    /// Lets all watches look whether there is something to tell.
    fn wake(&self) {
        self.changed.notify_all();
        self.wake_streams();
    }

    #[cfg(feature = "tls")]
    fn wake_streams(&self) {
        self.streams.wake();
    }

    #[cfg(not(feature = "tls"))]
    fn wake_streams(&self) {}

    /// Calls webhooks, while other requests go on.
    #[cfg(feature = "tls")]
    fn call(&self, calls: Vec<WebhookCall>, attempt: &mut Attempt) {
        webhooks::call(&self.webhooks, calls, attempt);
    }

    #[cfg(not(feature = "tls"))]
    #[allow(clippy::unused_self, reason = "with TLS it has what it needs")]
    fn call(&self, calls: Vec<WebhookCall>, attempt: &mut Attempt) {
        for call in calls {
            let why = "without the feature tls no webhook is called".to_owned();
            attempt.reply(call, WebhookReply::Failed(why));
        }
    }
}

/// A server that listens. It stops when this is dropped.
#[derive(Debug)]
pub struct Face {
    address: SocketAddr,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Face {
    /// Begins to listen.
    ///
    /// # Errors
    ///
    /// The address is not free, or lies beyond loopback and may not.
    pub fn listen(server: Server, listen: &Listen) -> io::Result<Self> {
        if !listen.address.ip().is_loopback() && !listen.beyond_loopback {
            let why =
                "others than this machine could reach it: set `beyond_loopback` to allow that";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        let listener = TcpListener::bind(listen.address)?;
        let address = listener.local_addr()?;
        let changed = Arc::<Condvar>::default();
        let inner = Arc::new(Mutex::new(Inner {
            server,
            recorder: Recorder::within(listen.record),
            changed: Arc::clone(&changed),
            #[cfg(feature = "tls")]
            come: Default::default(),
        }));
        #[cfg(feature = "tls")]
        let webhooks = webhooks::reaching();
        let shared = Arc::new(Shared {
            #[cfg(feature = "tls")]
            streams: crate::tower::Face::calling(Arc::clone(&inner), now(), webhooks.clone()),
            #[cfg(feature = "tls")]
            webhooks,
            inner,
            changed,
            door: Door::default(),
            patience: listen.patience,
            #[cfg(feature = "tls")]
            tls: listen.tls.clone(),
        });
        let named = |name: &str| std::thread::Builder::new().name(name.to_owned());
        let (inner, most) = (Arc::clone(&shared), listen.connections);
        let acceptor = named("apiserver").spawn(move || accept(&listener, &inner, most))?;
        let mut face = Self { address, shared, threads: vec![acceptor] };
        if let Some(controllers) = listen.controllers.clone() {
            let inner = Arc::clone(&face.shared);
            let life = named("controllers").spawn(move || life::live(&inner, controllers))?;
            face.threads.push(life);
        }
        Ok(face)
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Looks at the server, or changes it, e.g. to inject faults.
    pub fn with<R>(&self, action: impl FnOnce(&mut Server) -> R) -> R {
        let result = action(&mut self.shared.lock().server);
        self.shared.wake();
        result
    }

    /// Waits until something holds of the server, which is looked at after every change. Tells whether
    /// that came to be.
    pub fn wait_until(
        &self,
        patience: Duration,
        mut holds: impl FnMut(&mut Server) -> bool,
    ) -> bool {
        let (inner, changed) = (self.shared.lock(), &self.shared.changed);
        let waited = changed.wait_timeout_while(inner, patience, |it| !holds(&mut it.server));
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// How many connections are open.
    pub fn connections(&self) -> usize {
        self.shared.door.open()
    }

    /// Waits until at most `most` connections are open; tells whether that came to be.
    pub fn wait_for_connections(&self, most: usize, patience: Duration) -> bool {
        self.shared.door.wait_for(most, patience)
    }

    /// Tells whether there was more to record than there was room for.
    pub fn recording_is_full(&self) -> bool {
        self.shared.lock().recorder.as_ref().is_some_and(Recorder::is_full)
    }

    /// The recording so far, as one line; none if nothing is recorded.
    pub fn trace(&self, name: &str) -> Option<String> {
        self.shared.lock().recorder.as_ref().map(|recorder| recorder.trace(name))
    }
}

impl Drop for Face {
    fn drop(&mut self) {
        self.shared.door.stop();
        self.shared.wake();
        // The acceptor sleeps until a client comes.
        drop(TcpStream::connect(self.address));
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>, most: usize) {
    for stream in listener.incoming() {
        if shared.door.is_stopped() {
            return;
        }
        let Ok(stream) = stream else {
            // Out of descriptors: the next connection that ends frees one.
            shared.door.wait_for_leaving(Duration::from_secs(1));
            continue;
        };
        if !shared.door.enter(most) {
            drop(wire::refuse(&stream));
            continue;
        }
        let inner = Arc::clone(shared);
        let thread = std::thread::Builder::new().name("apiserver connection".to_owned());
        let spawned = thread.spawn(move || {
            // It is counted down before its socket is closed: a client that saw the end finds room.
            drop(connection::serve(stream, &inner, Open(&inner.door)));
        });
        if spawned.is_err() {
            shared.door.leave();
        }
    }
}

/// Counts a connection down, also when its thread panics.
struct Open<'a>(&'a Door);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Reads the requests in bytes as a connection would: up to the first that is incomplete, too large or
/// no HTTP.
pub fn requests(mut bytes: &[u8]) -> Vec<Request> {
    let mut requests = Vec::new();
    while let Ok(received) = wire::read(&mut bytes, &mut io::sink()) {
        requests.push(received.request);
        if !received.goes_on {
            break;
        }
    }
    requests
}

/// The time as the server wants it.
fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}
