//! Calls webhooks over HTTPS.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use ::http::Uri;
use ::http::header::{HOST, HeaderValue};
use hyper_util::rt::TokioIo;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme, client, crypto,
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::tls::provider;
use super::trust::{Authorities, Purpose};
use crate::apiserver::{Attempt, WebhookCall, WebhookReply};
use crate::tower::{Caller, Webhooks, post, received};

/// The ports of services on this machine, by name and namespace.
pub(crate) type Services = BTreeMap<(String, String), u16>;

/// Reaches whatever listens.
pub(super) fn reaching() -> Webhooks {
    Webhooks::reaching(caller(Services::new()))
}

/// Reaches whatever listens, and these services.
pub(crate) fn caller(services: Services) -> Caller {
    let services = Arc::new(services);
    Arc::new(move |call| {
        let services = Arc::clone(&services);
        Box::pin(async move { ask(&call, &services).await.unwrap_or_else(WebhookReply::Failed) })
    })
}

/// Makes calls from a thread that has nothing else to do.
pub(super) fn call(webhooks: &Webhooks, calls: Vec<WebhookCall>, attempt: &mut Attempt) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime {
        Ok(runtime) => {
            runtime.block_on(webhooks.call(calls, attempt));
            // A name that is still looked up after the timeout is not waited for.
            runtime.shutdown_background();
        }
        Err(error) => {
            for call in calls {
                attempt.reply(call, WebhookReply::Failed(error.to_string()));
            }
        }
    }
}

async fn ask(call: &WebhookCall, services: &Services) -> Result<WebhookReply, String> {
    // There is no network of a cluster in which a service would have an address.
    let (host, port) = match &call.to.service {
        None => (call.to.host.as_str(), call.to.port),
        Some(service) => match services.get(service) {
            Some(port) => ("127.0.0.1", *port),
            None => return Err(format!("service {:?} not found", service.0)),
        },
    };
    let socket = TcpStream::connect((host, port)).await.map_err(|error| match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            format!("dial tcp {host}:{port}: connect: connection refused")
        }
        _ => format!("dial tcp {host}:{port}: {error}"),
    })?;
    let name = ServerName::try_from(call.to.host.clone()).map_err(|error| error.to_string())?;
    let config = trusting(&call.authorities).map_err(|error| untrusted(&error))?;
    let stream = TlsConnector::from(Arc::new(config)).connect(name, socket).await;
    let stream = TokioIo::new(stream.map_err(|error| {
        let inner = error.get_ref().and_then(|it| it.downcast_ref::<Error>());
        inner.map_or_else(|| format!("tls: {error}"), untrusted)
    })?);
    let shaken = hyper::client::conn::http1::handshake(stream).await;
    let (mut sender, connection) = shaken.map_err(|error| error.to_string())?;
    let connection = tokio::spawn(connection);
    let mut request = post(call)?;
    let authority = request.uri().authority().map_or("", |it| it.as_str());
    let authority = HeaderValue::from_str(authority).map_err(|error| error.to_string())?;
    request.headers_mut().insert(HOST, authority);
    // To a server that is no proxy the path alone is sent.
    let path = request.uri().path_and_query().map_or("/", |it| it.as_str());
    *request.uri_mut() = path.parse::<Uri>().map_err(|error| error.to_string())?;
    let response = sender.send_request(request).await.map_err(|_| "EOF".to_owned())?;
    let reply = received(response).await;
    connection.abort();
    reply
}

/// Trusts these authorities, in PEM, and certificates that one of them has signed, and no others.
fn trusting(authorities: &[u8]) -> Result<ClientConfig, Error> {
    let certificates = CertificateDer::pem_slice_iter(authorities).flatten().collect();
    let authorities = Authorities { certificates, purpose: Purpose::Server };
    let config =
        ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()?;
    let trusts = Arc::new(Trusts { authorities, provider: provider() });
    Ok(config.dangerous().with_custom_certificate_verifier(trusts).with_no_client_auth())
}

#[derive(Debug)]
struct Trusts {
    authorities: Authorities,
    provider: Arc<crypto::CryptoProvider>,
}

impl ServerCertVerifier for Trusts {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        status: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.authorities.has(certificate, now) {
            client::verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
            return Ok(ServerCertVerified::assertion());
        }
        let (roots, provider) = (self.authorities.roots(now), Arc::clone(&self.provider));
        let signed = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
        // Without any authority there is no verifier.
        let signed = signed.map_err(|_| CertificateError::UnknownIssuer)?;
        signed.verify_server_cert(certificate, others, name, status, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Why a certificate is not accepted, in the words of the reference where it has some.
fn untrusted(error: &Error) -> String {
    match error {
        Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => "tls: failed to verify certificate: x509: certificate signed by unknown authority"
            .to_owned(),
        _ => format!("tls: {error}"),
    }
}
