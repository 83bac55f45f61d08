//! A server on loopback whose behaviour a test defines.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
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

    /// Makes a certificate for a name, in PEM, with its key.
    pub(super) fn certify(&self, name: &str, valid: Valid) -> (String, String) {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        match valid {
            Valid::Now => {}
            Valid::NoMore => params.not_after = rcgen::date_time_ymd(2001, 1, 1),
            Valid::NotYet => params.not_before = rcgen::date_time_ymd(4001, 1, 1),
        }
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        (certificate.pem(), key.serialize_pem())
    }
}

/// The validity of a certificate.
#[derive(Clone, Copy)]
pub(super) enum Valid {
    Now,
    NoMore,
    NotYet,
}

/// The protocol and the certificates of a server.
pub(super) struct Terms<'a> {
    /// HTTP/1.1, or HTTP/2.
    pub(super) protocols: &'a [&'a [u8]],
    /// The name in its certificate, and the validity of that.
    pub(super) name: &'a str,
    pub(super) valid: Valid,
    /// The authority of its clients' certificates; if `None`, they need no certificate.
    pub(super) clients: Option<&'a Authority>,
}

impl Default for Terms<'_> {
    fn default() -> Self {
        let (protocols, name): (&[&[u8]], _) = (&[b"http/1.1"], "localhost");
        Self { protocols, name, valid: Valid::Now, clients: None }
    }
}

impl Terms<'_> {
    fn acceptor(&self, authority: &Authority) -> TlsAcceptor {
        let (certificate, key) = authority.certify(self.name, self.valid);
        let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&ring));
        let builder = builder.with_safe_default_protocol_versions().unwrap();
        let builder = match self.clients {
            None => builder.with_no_client_auth(),
            Some(clients) => {
                let mut roots = RootCertStore::empty();
                let pem = clients.pem();
                roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
                let wants = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), ring);
                builder.with_client_cert_verifier(wants.build().unwrap())
            }
        };
        let mut config = builder.with_single_cert(chain, key).unwrap();
        config.alpn_protocols = self.protocols.iter().map(|it| it.to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }
}

/// The address of a server, and how many connections it had.
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
        Self::on(Terms::default(), serve).await
    }

    /// As [`start`](Self::start), with these terms.
    pub(super) async fn on<F, S>(terms: Terms<'_>, serve: S) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
        S: Fn(usize, Stream) -> F + Send + 'static,
    {
        let authority = Authority::new();
        let acceptor = terms.acceptor(&authority);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let number = count.fetch_add(1, Ordering::SeqCst);
                match acceptor.accept(stream).into_fallible().await {
                    Ok(stream) => drop(tokio::spawn(serve(number, stream))),
                    // Closing a connection with unread bytes would take back what the server has
                    // sent.
                    Err((_, mut stream)) => drop(tokio::spawn(async move {
                        while let Ok(1..) = stream.read(&mut [0; 1024]).await {}
                    })),
                }
            }
        });
        Self { address, connections, authority }
    }

    /// Returns the configuration of a client for it.
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

/// Writes, and ignores that the client may be gone.
pub(super) async fn say(stream: &mut Stream, bytes: impl AsRef<[u8]>) {
    drop(stream.write_all(bytes.as_ref()).await);
    drop(stream.flush().await);
}

/// Returns an answer with a body.
pub(super) fn whole(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len())
}
