//! A simulated API server behind TLS, and clients of it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use seatrial_core::request::Client;
use seatrial_core::request::http::{HttpConfig, HttpTransport, Token};
use seatrial_core::runtime::System;
use seatrial_sim::apiserver::{Answer, Fault, Options, Point, Request, Server, Trouble};
use seatrial_sim::http::{Face, Listen};
use serde_json::Value;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;

pub(crate) type Http = Client<System, HttpTransport>;

/// How long to wait for what must come.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Cluster {
    face: Face,
    address: SocketAddr,
    authority: String,
    tokio: Runtime,
}

/// Threads for connections.
pub(crate) fn tokio() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().expect("a runtime")
}

impl Cluster {
    pub(crate) fn start() -> Self {
        let begins_at = now();
        let server = Server::new(&Options { begins_at, ..Options::default() });
        let face = Face::listen(server, &Listen::default()).expect("a port is free");
        let (tokio, behind) = (tokio(), face.address());
        let (acceptor, authority) = trusted();
        let listener = tokio.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        tokio.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let mut outside = acceptor.accept(stream).await?;
                    let mut inside = TcpStream::connect(behind).await?;
                    copy_bidirectional(&mut outside, &mut inside).await
                });
            }
        });
        Self { face, address, authority, tokio }
    }

    /// Where it is, and the authority to trust.
    pub(crate) fn host_and_authority(&self) -> (String, &str) {
        (format!("https://localhost:{}", self.address.port()), &self.authority)
    }

    pub(crate) fn client(&self) -> Http {
        let (host, authority) = self.host_and_authority();
        client(&self.tokio, &host, authority)
    }

    /// What the server says to a request that no network carries.
    pub(crate) fn ask(&self, request: &Request) -> Value {
        let answer = self.face.with(|server| server.handle(now(), request));
        let Answer::Response(response) = answer else { panic!("{answer:?}") };
        assert!(response.status < 300, "{response:?}");
        response.json().expect("JSON").clone()
    }

    pub(crate) fn get(&self, target: &str) -> Value {
        self.ask(&Request::new("GET", target))
    }

    pub(crate) fn post(&self, target: &str, body: &Value) -> Value {
        self.ask(&Request::new("POST", target).json(body))
    }

    pub(crate) fn revision(&self) -> u64 {
        self.face.with(|server| server.revision())
    }

    /// Waits until something holds of what the server says to a request.
    pub(crate) fn wait_for(&self, request: &Request, mut holds: impl FnMut(&Value) -> bool) {
        let mut last = None;
        let came = self.face.wait_until(PATIENCE, |server| {
            let Answer::Response(response) = server.handle(now(), request) else { return false };
            last = response.json().cloned();
            last.as_ref().is_some_and(&mut holds)
        });
        assert!(came, "not within {PATIENCE:?}: {last:?}");
    }

    /// Waits until no connection is open.
    pub(crate) fn wait_for_silence(&self) -> bool {
        self.face.wait_for_connections(0, PATIENCE)
    }

    /// How many connections are open.
    pub(crate) fn connections(&self) -> usize {
        self.face.connections()
    }

    /// Strikes the next request of that method on that resource.
    pub(crate) fn strike(&self, method: &str, resource: &str, what: Trouble) {
        let at = Point::of(method, resource);
        self.face.with(|server| server.inject(Fault { at, after: 0, times: 1, what }));
    }
}

/// A client of a server, on a runtime; its threads need not be the runtime's.
pub(crate) fn client(tokio: &Runtime, host: &str, authority: &str) -> Http {
    let config = HttpConfig::new(host).expect("an address").authorities(authority);
    let config = config.token(Token::new("secret"));
    let _inside = tokio.enter();
    config.client(&System::new()).expect("the authority is one").with_limiter(None)
}

fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is after 1970")
}

/// TLS for `localhost`, and the authority that vouches for it.
pub(crate) fn trusted() -> (TlsAcceptor, String) {
    let mut params = CertificateParams::new(vec![]).expect("no names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let authority = CertifiedIssuer::self_signed(params, key).expect("an authority");
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    let certificate = params.signed_by(&key, &authority).expect("a certificate").pem();
    let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).expect("PEM")];
    let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).expect("PEM");
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .expect("they fit")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("they fit");
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    (TlsAcceptor::from(Arc::new(config)), authority.pem())
}
