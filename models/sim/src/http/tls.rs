//! TLS: with a given certificate, or with an authority and a certificate of its own for every server.

use std::cell::RefCell;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{IpAddr, TcpStream};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};
use tokio_rustls::TlsAcceptor;

use super::clients::{Caller, Clients};
use super::{Shared, h2};
use crate::apiserver::{Response, User};

/// The certificate and the configuration with which a server speaks TLS.
#[derive(Clone)]
pub struct Tls {
    /// For HTTP/1.1 alone.
    config: Arc<ServerConfig>,
    /// For HTTP/2 as well, as the client prefers.
    with_http2: Arc<ServerConfig>,
    speaks_http2: bool,
    /// How many requests a connection of HTTP/2 has before it says goodbye.
    pub(super) requests: Option<u64>,
    authority: String,
    /// Without them nobody is asked who they are.
    clients: Option<Arc<Clients>>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("authority", &self.authority).finish_non_exhaustive()
    }
}

fn refused(error: impl fmt::Display) -> io::Error {
    io::Error::other(format!("no certificate can be made: {error}"))
}

fn unusable(what: &str, error: impl fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{what} cannot be used: {error}"))
}

/// By its name: a program that has two providers has no default one.
pub(super) fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// An authority, a certificate of it for `localhost` and these names, and its key, all in PEM.
pub(crate) fn issue(names: impl IntoIterator<Item = String>) -> io::Result<[String; 3]> {
    let key = || KeyPair::generate().map_err(refused);
    let mut params = CertificateParams::new(vec![]).map_err(refused)?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(rcgen::DnType::CommonName, "simulated cluster");
    let authority = CertifiedIssuer::self_signed(params, key()?).map_err(refused)?;
    let names: Vec<_> = std::iter::once("localhost".to_owned()).chain(names).collect();
    let (params, own) = (CertificateParams::new(names).map_err(refused)?, key()?);
    let certificate = params.signed_by(&own, &authority).map_err(refused)?;
    Ok([authority.pem(), certificate.pem(), own.serialize_pem()])
}

impl Tls {
    /// Makes an authority and a certificate for `localhost` and an address. Both are new each time,
    /// and only clients that are given the authority trust them.
    ///
    /// # Errors
    ///
    /// There is no randomness to make keys from.
    pub fn generate(address: IpAddr) -> io::Result<Self> {
        let [authority, chain, key] = issue([address.to_string()])?;
        Ok(Self { authority, ..Self::with_certificate(&chain, &key)? })
    }

    /// Speaks with a certificate and its key, in PEM. Others may follow the certificate, up to its
    /// authority.
    ///
    /// # Errors
    ///
    /// They cannot be read, or do not belong together.
    pub fn with_certificate(chain: &str, key: &str) -> io::Result<Self> {
        let certificates = CertificateDer::pem_slice_iter(chain.as_bytes());
        let certificates = certificates.collect::<Result<Vec<_>, _>>();
        let certificates = certificates.map_err(|error| unusable("the certificate", error))?;
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes())
            .map_err(|error| unusable("the key", error))?;
        Self::with(certificates, key, chain.to_owned())
            .map_err(|error| unusable("the certificate", error))
    }

    fn with(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
        authority: String,
    ) -> Result<Self, rustls::Error> {
        let config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        let (config, with_http2) = by_protocol(config);
        let (speaks_http2, requests, clients) = (true, None, None);
        Ok(Self { config, with_http2, speaks_http2, requests, authority, clients })
    }

    /// Asks clients who they are. Everything is open to those with a certificate that one of the
    /// authorities (in PEM) has signed and to those with one of the tokens; certificates and tokens that
    /// are not known are answered with 401. A client with neither may only ask for health and version.
    ///
    /// # Errors
    ///
    /// The authorities are no certificates.
    pub fn for_clients(
        self,
        authorities: &str,
        tokens: impl IntoIterator<Item = String>,
    ) -> io::Result<Self> {
        self.asking(authorities, Some(tokens.into_iter().collect()))
    }

    /// Asks clients for a certificate that one of the authorities (in PEM) has signed, and leaves it to the
    /// server what its user may do, as one does that is told to
    /// [`authorize`](crate::apiserver::Server::authorize). Other certificates are answered with 401.
    ///
    /// # Errors
    ///
    /// The authorities are no certificates.
    pub fn identifying(self, authorities: &str) -> io::Result<Self> {
        self.asking(authorities, None)
    }

    fn asking(
        mut self,
        authorities: &str,
        tokens: Option<std::collections::BTreeSet<String>>,
    ) -> io::Result<Self> {
        let clients = Clients::new(authorities.as_bytes(), tokens, provider())
            .map_err(|error| unusable("the authority of clients", error))?;
        let config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(refused)?
            .with_client_cert_verifier(clients.verifier())
            .with_cert_resolver(Arc::clone(&self.config.cert_resolver));
        (self.config, self.with_http2) = by_protocol(config);
        self.clients = Some(Arc::new(clients));
        Ok(self)
    }

    /// Speaks HTTP/1.1 alone, as behind a proxy that does.
    #[must_use]
    pub fn without_http2(mut self) -> Self {
        self.speaks_http2 = false;
        self
    }

    /// Says goodbye (`GOAWAY`) to each connection of HTTP/2 after this many requests. What is under way
    /// goes on. A real server does so at random, with `--goaway-chance`.
    #[must_use]
    pub fn goaway_after(mut self, requests: u64) -> Self {
        self.requests = Some(requests);
        self
    }

    /// The certificate of the authority, in PEM: clients must trust it.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Greets clients that may want HTTP/2; `h2` is agreed upon then.
    #[cfg(feature = "drive")]
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.with_http2))
    }

    /// The certificate and its key, for a server of your own that speaks HTTP/1.1.
    pub fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config)
    }

    /// Greets a client. If it wants HTTP/2, this serves it to the end, and is none. Else the socket
    /// comes back, and blocks again.
    pub(super) fn greet(
        &self,
        socket: TcpStream,
        shared: &Shared,
    ) -> io::Result<Option<(TcpStream, Session)>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let greeted = runtime.block_on(async {
            socket.set_nonblocking(true)?;
            let socket = tokio::net::TcpStream::from_std(socket)?;
            let config = if self.speaks_http2 { &self.with_http2 } else { &self.config };
            let accepted = TlsAcceptor::from(Arc::clone(config)).accept(socket);
            let stream = tokio::time::timeout(shared.patience, accepted).await??;
            let certificates = stream.get_ref().1.peer_certificates();
            let caller = self.clients.as_ref().map(|it| it.caller(certificates));
            let gate = self.clients.clone().zip(caller).map(Gate);
            if stream.get_ref().1.alpn_protocol() == Some(HTTP2) {
                h2::serve(stream, shared, gate).await;
                return Ok(None);
            }
            let (socket, connection) = stream.into_inner();
            let session = Session { connection: RefCell::new(connection), gate };
            Ok::<_, io::Error>(Some((socket.into_std()?, session)))
        })?;
        // Whatever is still under way ends here.
        drop(runtime);
        if let Some((socket, _)) = &greeted {
            socket.set_nonblocking(false)?;
        }
        Ok(greeted)
    }
}

/// The name of HTTP/2 in the greeting.
const HTTP2: &[u8] = b"h2";

/// The configuration for HTTP/1.1 alone, and the one for both.
fn by_protocol(mut config: ServerConfig) -> (Arc<ServerConfig>, Arc<ServerConfig>) {
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let mut with_http2 = config.clone();
    with_http2.alpn_protocols.insert(0, HTTP2.to_vec());
    (Arc::new(config), Arc::new(with_http2))
}

/// Decides about the requests of one connection.
#[derive(Clone)]
pub(super) struct Gate((Arc<Clients>, Caller));

impl Gate {
    /// The user of a request, if that is known, or the answer to one that is not carried out.
    pub(super) fn admit(
        &self,
        request: (&str, &str),
        authorization: Option<&str>,
    ) -> Result<Option<Arc<User>>, Response> {
        let Self((clients, caller)) = self;
        clients.admit(caller, request, authorization)
    }
}

/// The TLS of one connection.
pub(super) struct Session {
    connection: RefCell<ServerConnection>,
    /// Without it everything is open.
    pub(super) gate: Option<Gate>,
}

impl Session {
    pub(super) fn read(
        &self,
        socket: &mut (impl Read + Write),
        into: &mut [u8],
    ) -> io::Result<usize> {
        rustls::Stream::new(&mut *self.connection.borrow_mut(), socket).read(into)
    }

    pub(super) fn write(&self, mut socket: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
        rustls::Stream::new(&mut *self.connection.borrow_mut(), &mut socket).write(bytes)
    }

    pub(super) fn flush(&self, mut socket: &TcpStream) -> io::Result<()> {
        rustls::Stream::new(&mut *self.connection.borrow_mut(), &mut socket).flush()
    }

    /// Says that nothing follows.
    pub(super) fn finish(&self, mut socket: &TcpStream) -> io::Result<()> {
        let mut connection = self.connection.borrow_mut();
        connection.send_close_notify();
        connection.write_tls(&mut socket).map(drop)
    }

    /// Takes in what has come, without waiting; tells whether the client has said goodbye.
    pub(super) fn has_left(&self, mut socket: &TcpStream) -> bool {
        let mut connection = self.connection.borrow_mut();
        while connection.wants_read() {
            match connection.read_tls(&mut socket) {
                Ok(0) => return true,
                Ok(_) => match connection.process_new_packets() {
                    Ok(state) if state.peer_has_closed() => return true,
                    Ok(_) => {}
                    Err(_) => return true,
                },
                Err(error) => return error.kind() != io::ErrorKind::WouldBlock,
            }
        }
        false
    }
}
