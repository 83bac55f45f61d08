//! TLS: an authority and a certificate of its own for every server.

use std::cell::RefCell;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{IpAddr, TcpStream};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};

/// The certificate and the configuration with which a server speaks TLS.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
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
        Ok(Self { config: Arc::new(config), authority: authority.pem() })
    }

    /// The certificate of the authority, in PEM: clients must trust it.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The certificate and its key, for a server of your own.
    pub fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config)
    }

    pub(super) fn session(&self) -> io::Result<Session> {
        let connection = ServerConnection::new(Arc::clone(&self.config)).map_err(refused)?;
        Ok(Session(RefCell::new(connection)))
    }
}

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
