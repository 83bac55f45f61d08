//! TLS: an authority and a certificate of its own for every server.

use std::cell::RefCell;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{IpAddr, TcpStream};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};
use tokio_rustls::TlsAcceptor;

use super::{Shared, h2};

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
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("authority", &self.authority).finish_non_exhaustive()
    }
}

fn refused(error: impl fmt::Display) -> io::Error {
    io::Error::other(format!("no certificate can be made: {error}"))
}

impl Tls {
    /// Makes an authority and a certificate for `localhost` and an address. Both are new each time,
    /// and only clients that are given the authority trust them.
    ///
    /// # Errors
    ///
    /// There is no randomness to make keys from.
    pub fn generate(address: IpAddr) -> io::Result<Self> {
        let key = || KeyPair::generate().map_err(refused);
        let mut params = CertificateParams::new(vec![]).map_err(refused)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, "simulated cluster");
        let authority = CertifiedIssuer::self_signed(params, key()?).map_err(refused)?;
        let names = vec!["localhost".to_owned(), address.to_string()];
        let (params, own) = (CertificateParams::new(names).map_err(refused)?, key()?);
        let certificate = params.signed_by(&own, &authority).map_err(refused)?;
        let chain = vec![CertificateDer::from(certificate.der().to_vec())];
        let own = PrivateKeyDer::try_from(own.serialize_der()).map_err(refused)?;
        // By its name: a program that has two providers has no default one.
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(ring)
            .with_safe_default_protocol_versions()
            .map_err(refused)?
            .with_no_client_auth()
            .with_single_cert(chain, own)
            .map_err(refused)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let mut with_http2 = config.clone();
        with_http2.alpn_protocols.insert(0, HTTP2.to_vec());
        let (config, with_http2) = (Arc::new(config), Arc::new(with_http2));
        let authority = authority.pem();
        Ok(Self { config, with_http2, speaks_http2: true, requests: None, authority })
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
            if stream.get_ref().1.alpn_protocol() == Some(HTTP2) {
                h2::serve(stream, shared).await;
                return Ok(None);
            }
            let (socket, connection) = stream.into_inner();
            let session = Session(RefCell::new(connection));
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

/// The TLS of one connection.
pub(super) struct Session(RefCell<ServerConnection>);

impl Session {
    pub(super) fn read(
        &self,
        socket: &mut (impl Read + Write),
        into: &mut [u8],
    ) -> io::Result<usize> {
        rustls::Stream::new(&mut *self.0.borrow_mut(), socket).read(into)
    }

    pub(super) fn write(&self, mut socket: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
        rustls::Stream::new(&mut *self.0.borrow_mut(), &mut socket).write(bytes)
    }

    pub(super) fn flush(&self, mut socket: &TcpStream) -> io::Result<()> {
        rustls::Stream::new(&mut *self.0.borrow_mut(), &mut socket).flush()
    }

    /// Says that nothing follows.
    pub(super) fn finish(&self, mut socket: &TcpStream) -> io::Result<()> {
        let mut connection = self.0.borrow_mut();
        connection.send_close_notify();
        connection.write_tls(&mut socket).map(drop)
    }

    /// Takes in what has come, without waiting; tells whether the client has said goodbye.
    pub(super) fn has_left(&self, mut socket: &TcpStream) -> bool {
        let mut connection = self.0.borrow_mut();
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
