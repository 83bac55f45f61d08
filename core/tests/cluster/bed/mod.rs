//! A server to test against, and clients of it: the simulated one behind TLS, or a real one that was
//! started for it.
//!
//! A real one is told of by `SEATRIAL_CLUSTER_HOST`, `SEATRIAL_CLUSTER_AUTHORITY` (PEM) and
//! `SEATRIAL_CLUSTER_TOKEN`. Its namespace `default` is emptied by every test, so they must run one after
//! the other (`--test-threads 1`), and nothing else may use it. Faults cannot be asked of it: there, a test
//! that only goes on in spite of them goes on without them.

mod ours;
mod theirs;

use std::env;
use std::time::{Duration, SystemTime};

use seatrial_core::request::Client;
use seatrial_core::request::http::{HttpConfig, HttpTransport, Token};
use seatrial_core::runtime::System;
use seatrial_sim::apiserver::{Fault, Point, Request, Trouble};
use seatrial_sim::http::{Face, Tls};
use serde_json::Value;
use tokio::runtime::Runtime;

pub(crate) use ours::{HTTP1, tls};

pub(crate) type Http = Client<System, HttpTransport>;

/// How long to wait for what must come.
const PATIENCE: Duration = Duration::from_secs(30);

/// How a server is reached.
#[derive(Clone)]
pub(crate) struct Address {
    host: String,
    authority: String,
    token: String,
}

const HOST: &str = "SEATRIAL_CLUSTER_HOST";
const AUTHORITY: &str = "SEATRIAL_CLUSTER_AUTHORITY";
const TOKEN: &str = "SEATRIAL_CLUSTER_TOKEN";

impl Address {
    /// A port of this machine, and the authority to trust. Ours takes every token.
    pub(crate) fn local(port: u16, authority: &str) -> Self {
        let (host, authority) = (format!("https://localhost:{port}"), authority.to_owned());
        Self { host, authority, token: "secret".to_owned() }
    }

    /// What the environment tells.
    pub(crate) fn given() -> Option<Self> {
        let host = env::var(HOST).ok()?;
        let told = |name: &str| env::var(name).unwrap_or_else(|why| panic!("{name}: {why}"));
        Some(Self { host, authority: told(AUTHORITY), token: told(TOKEN) })
    }

    /// The environment that tells a process of it.
    pub(crate) fn environment(&self) -> [(&str, &str); 3] {
        [(HOST, &self.host), (AUTHORITY, &self.authority), (TOKEN, &self.token)]
    }

    /// Its port.
    pub(crate) fn port(&self) -> u16 {
        let port = self.host.rsplit(':').next().and_then(|it| it.parse().ok());
        port.expect("an address has a port")
    }

    /// The same server, were it there.
    pub(crate) fn at_port(&self, port: u16) -> Self {
        let host = self.host.rsplit_once(':').map_or(&*self.host, |(host, _)| host);
        Self { host: format!("{host}:{port}"), ..self.clone() }
    }

    /// A client, on a runtime; its threads need not be the runtime's.
    pub(crate) fn client(&self, tokio: &Runtime) -> Http {
        self.client_with(tokio, |config| config)
    }

    /// The same, with other settings.
    pub(crate) fn client_with(
        &self,
        tokio: &Runtime,
        settings: impl FnOnce(HttpConfig) -> HttpConfig,
    ) -> Http {
        let config = HttpConfig::new(&self.host).expect("an address").authorities(&*self.authority);
        let config = settings(config.token(Token::new(&*self.token)));
        let _inside = tokio.enter();
        config.client(&System::new()).expect("the authority is one").with_limiter(None)
    }
}

/// Threads for connections.
pub(crate) fn tokio() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().expect("a runtime")
}

enum Place {
    Ours(Face),
    Theirs(Box<Http>),
}

pub(crate) struct Cluster {
    place: Place,
    pub(crate) address: Address,
    tokio: Runtime,
}

impl Cluster {
    /// An empty one.
    pub(crate) fn start() -> Self {
        Self::over(tls())
    }

    /// As [`start`](Self::start), with its TLS, if it is ours.
    pub(crate) fn over(tls: Tls) -> Self {
        let tokio = tokio();
        let (place, address) = if let Some(address) = Address::given() {
            let client = address.client(&tokio);
            theirs::empty(&client);
            (Place::Theirs(Box::new(client)), address)
        } else {
            let (face, address) = ours::serve(tls);
            (Place::Ours(face), address)
        };
        Self { place, address, tokio }
    }

    pub(crate) fn client(&self) -> Http {
        self.address.client(&self.tokio)
    }

    /// What the server says to a request. No network carries it to ours.
    pub(crate) fn ask(&self, request: &Request) -> Value {
        match &self.place {
            Place::Ours(face) => ours::ask(face, request),
            Place::Theirs(client) => theirs::ask(client, request),
        }
    }

    pub(crate) fn get(&self, target: &str) -> Value {
        self.ask(&Request::new("GET", target))
    }

    pub(crate) fn post(&self, target: &str, body: &Value) -> Value {
        self.ask(&Request::new("POST", target).json(body))
    }

    pub(crate) fn revision(&self) -> u64 {
        match &self.place {
            Place::Ours(face) => face.with(|server| server.revision()),
            Place::Theirs(client) => theirs::revision(client),
        }
    }

    /// Waits until something holds of what the server says to a request.
    pub(crate) fn wait_for(&self, request: &Request, holds: impl FnMut(&Value) -> bool) {
        let (came, last) = match &self.place {
            Place::Ours(face) => ours::wait_for(face, request, holds),
            Place::Theirs(client) => theirs::wait_for(client, request, holds),
        };
        assert!(came, "not within {PATIENCE:?}: {last:?}");
    }

    /// Waits until no connection is open.
    pub(crate) fn wait_for_silence(&self) -> bool {
        self.ours().wait_for_connections(0, PATIENCE)
    }

    /// How many connections are open.
    pub(crate) fn connections(&self) -> usize {
        self.ours().connections()
    }

    fn ours(&self) -> &Face {
        let Place::Ours(face) = &self.place else { panic!("a real server does not tell that") };
        face
    }

    /// Strikes the next request of that method on that resource, of ours.
    pub(crate) fn strike(&self, method: &str, resource: &str, what: Trouble) {
        if let Place::Ours(face) = &self.place {
            let at = Point::of(method, resource);
            face.with(|server| server.inject(Fault { at, after: 0, times: 1, what }));
        }
    }
}

fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is after 1970")
}
