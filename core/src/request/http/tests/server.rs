//! A server on loopback that does to its clients what a test says.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::request::http::HttpConfig;

/// An authority that a test trusts.
pub(super) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(super) fn new() -> Self {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(super) fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for a name, in PEM, with its key; one that ended long ago if `expired`.
    pub(super) fn certify(&self, name: &str, expired: bool) -> (String, String) {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        if expired {
            params.not_after = rcgen::date_time_ymd(2001, 1, 1);
        }
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        (certificate.pem(), key.serialize_pem())
    }
}

/// Where a server listens, and how many connections it had.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    pub(super) connections: Arc<AtomicUsize>,
    pub(super) authority: Authority,
}

pub(super) type Stream = TlsStream<TcpStream>;

impl Server {
    /// Serves each connection by `serve`, which is told how many there were before.
    pub(super) async fn start<F, S>(serve: S) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
        S: Fn(usize, Stream) -> F + Send + 'static,
    {
        Self::with(&[b"http/1.1"], false, serve).await
    }

    pub(super) async fn with<F, S>(protocols: &[&[u8]], expired: bool, serve: S) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
        S: Fn(usize, Stream) -> F + Send + 'static,
    {
        let authority = Authority::new();
        let (certificate, key) = authority.certify("localhost", expired);
        let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(ring)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
        config.alpn_protocols = protocols.iter().map(|it| it.to_vec()).collect();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let number = count.fetch_add(1, Ordering::SeqCst);
                if let Ok(stream) = acceptor.accept(stream).await {
                    tokio::spawn(serve(number, stream));
                }
            }
        });
        Self { address, connections, authority }
    }

    /// How to reach it.
    pub(super) fn config(&self) -> HttpConfig {
        let host = format!("https://localhost:{}", self.address.port());
        HttpConfig::new(&host).unwrap().authorities(self.authority.pem())
    }
}

/// Reads the head of a request; `None` once the client has gone.
pub(super) async fn head(stream: &mut Stream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8(head).unwrap())
}

/// Writes, and does not mind that the client has gone.
pub(super) async fn say(stream: &mut Stream, bytes: impl AsRef<[u8]>) {
    drop(stream.write_all(bytes.as_ref()).await);
    drop(stream.flush().await);
}

/// An answer with a body.
pub(super) fn whole(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len())
}
