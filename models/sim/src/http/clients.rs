//! Who a client is: one with a certificate that the authority of clients has signed, one with a token,
//! a stranger, or nobody.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme, crypto,
};

use crate::apiserver::{Failure, Response};

/// Paths that are open to everybody.
const OPEN: [&str; 5] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

/// The clients that a server knows.
#[derive(Clone, Debug)]
pub(super) struct Clients {
    verifier: Arc<dyn ClientCertVerifier>,
    tokens: Tokens,
}

/// No error and no log shows a token.
#[derive(Clone, Default)]
struct Tokens(BTreeSet<String>);

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tokens", self.0.len())
    }
}

/// What a connection says about its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    /// There is no certificate.
    Nobody,
    Known,
    /// The certificate is signed by somebody else, or is no longer valid.
    Stranger,
}

impl Clients {
    /// Knows the clients that one of the authorities, in PEM, has signed, and those with one of the tokens.
    pub(super) fn new(
        authorities: &[u8],
        tokens: impl IntoIterator<Item = String>,
        provider: Arc<crypto::CryptoProvider>,
    ) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(authorities) {
            let certificate = certificate.map_err(|error| error.to_string())?;
            roots.add(certificate).map_err(|error| error.to_string())?;
        }
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        let verifier = verifier.build().map_err(|error| error.to_string())?;
        Ok(Self { verifier, tokens: Tokens(tokens.into_iter().collect()) })
    }

    pub(super) fn verifier(&self) -> Arc<dyn ClientCertVerifier> {
        Arc::new(Asks(Arc::clone(&self.verifier)))
    }

    /// Who has shown these certificates.
    pub(super) fn caller(&self, certificates: Option<&[CertificateDer<'_>]>) -> Caller {
        let Some([certificate, others @ ..]) = certificates else { return Caller::Nobody };
        match self.verifier.verify_client_cert(certificate, others, UnixTime::now()) {
            Ok(_) => Caller::Known,
            Err(_) => Caller::Stranger,
        }
    }

    /// Why a request is not carried out. Who is known may do everything; nobody may look whether the
    /// server is there.
    pub(super) fn refusal(
        &self,
        caller: Caller,
        (method, path): (&str, &str),
        authorization: Option<&str>,
    ) -> Option<Response> {
        let token = authorization.and_then(|it| it.strip_prefix("Bearer "));
        if caller == Caller::Known || token.is_some_and(|it| self.tokens.0.contains(it.trim())) {
            return None;
        }
        if caller == Caller::Stranger || token.is_some() {
            return Some(Failure::new(401, "Unauthorized", "Unauthorized").response());
        }
        if OPEN.contains(&path) {
            return None;
        }
        let verb = method.to_ascii_lowercase();
        let why = format!("forbidden: User \"system:anonymous\" cannot {verb} path \"{path}\"");
        Some(Failure::new(403, "Forbidden", why).response())
    }
}

/// Asks for a certificate and takes any, as a real server does: a stranger is told so by an answer,
/// not by a connection that breaks. That the client has the key is proved here.
#[derive(Debug)]
struct Asks(Arc<dyn ClientCertVerifier>);

impl ClientCertVerifier for Asks {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
