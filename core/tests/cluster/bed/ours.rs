//! The simulated server behind TLS.

use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use seatrial_sim::apiserver::{Answer, Options, Request, Server};
use seatrial_sim::http::{Face, Listen};
use serde_json::Value;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;

use super::{Address, PATIENCE, now};

/// Begins to serve an empty cluster.
pub(super) fn serve(tokio: &Runtime, begins_at: Duration) -> (Face, Address) {
    let server = Server::new(&Options { begins_at, ..Options::default() });
    let face = Face::listen(server, &Listen::default()).expect("a port is free");
    let behind = face.address();
    let (acceptor, authority) = trusted();
    let listener = tokio.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
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
    (face, Address::local(port, authority))
}

pub(super) fn ask(face: &Face, now: Duration, request: &Request) -> Value {
    let answer = face.with(|server| server.handle(now, request));
    let Answer::Response(response) = answer else { panic!("{answer:?}") };
    assert!(response.status < 300, "{response:?}");
    response.json().expect("JSON").clone()
}

/// Whether it came to hold, and what was said last.
pub(super) fn wait_for(
    face: &Face,
    request: &Request,
    mut holds: impl FnMut(&Value) -> bool,
) -> (bool, Option<Value>) {
    let mut last = None;
    let came = face.wait_until(PATIENCE, |server| {
        let Answer::Response(response) = server.handle(now(), request) else { return false };
        last = response.json().cloned();
        last.as_ref().is_some_and(&mut holds)
    });
    (came, last)
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
