//! Who a client is: one with a certificate that the authority of clients has signed, one with a token,
//! a stranger, or nobody. What they may do is decided here, or by the server behind.

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

use super::subject;
use super::trust::{Authorities, Purpose};
use crate::apiserver::{Failure, Response, User};

/// Paths that are open to everybody.
const OPEN: [&str; 5] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

/// The clients that a server knows.
#[derive(Clone, Debug)]
pub(super) struct Clients {
    /// Names the authorities to clients, and looks whether a client has its key.
    asks: Arc<dyn ClientCertVerifier>,
    authorities: Authorities,
    provider: Arc<crypto::CryptoProvider>,
    /// None: the server behind knows tokens, and decides.
    tokens: Option<Tokens>,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    /// There is no certificate.
    Nobody,
    Known(Arc<User>),
    /// The certificate is signed by somebody else, or is no longer valid.
    Stranger,
}

impl Clients {
    /// Knows the clients that one of the authorities, in PEM, has signed, and those with one of the tokens.
    /// Without tokens the server behind decides who may do what.
    pub(super) fn new(
        authorities: &[u8],
        tokens: Option<BTreeSet<String>>,
        provider: Arc<crypto::CryptoProvider>,
    ) -> Result<Self, String> {
        let authorities =
            CertificateDer::pem_slice_iter(authorities).collect::<Result<Vec<_>, _>>();
        let authorities = authorities.map_err(|error| error.to_string())?;
        let mut roots = RootCertStore::empty();
        for certificate in &authorities {
            roots.add(certificate.clone()).map_err(|error| error.to_string())?;
        }
        let asks =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let asks = asks.build().map_err(|error| error.to_string())?;
        let authorities = Authorities { certificates: authorities, purpose: Purpose::Client };
        Ok(Self { asks, authorities, provider, tokens: tokens.map(Tokens) })
    }

    pub(super) fn verifier(&self) -> Arc<dyn ClientCertVerifier> {
        Arc::new(Asks(Arc::clone(&self.asks)))
    }

    /// Whether an authority that may sign now, which may change while the server runs, has signed it.
    fn is_signed(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> bool {
        let (roots, provider) = (self.authorities.roots(now), Arc::clone(&self.provider));
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        // Without any authority there is no verifier.
        verifier.build().is_ok_and(|it| it.verify_client_cert(certificate, others, now).is_ok())
    }

    /// Who has shown these certificates.
    pub(super) fn caller(&self, certificates: Option<&[CertificateDer<'_>]>) -> Caller {
        let Some([certificate, others @ ..]) = certificates else { return Caller::Nobody };
        let now = UnixTime::now();
        if self.authorities.has(certificate, now) || self.is_signed(certificate, others, now) {
            subject::user(certificate).map_or(Caller::Nobody, |it| Caller::Known(Arc::new(it)))
        } else {
            Caller::Stranger
        }
    }

    /// The user of a request, if the certificate names one, or why it is not carried out. Unless the server
    /// decides, who is known may do everything, and nobody may look whether the server is there.
    pub(super) fn admit(
        &self,
        caller: &Caller,
        (method, path): (&str, &str),
        authorization: Option<&str>,
    ) -> Result<Option<Arc<User>>, Response> {
        let token = authorization.and_then(|it| it.strip_prefix("Bearer "));
        let is_stranger = *caller == Caller::Stranger;
        if let Caller::Known(user) = caller {
            return Ok(Some(Arc::clone(user)));
        }
        let is_known = match &self.tokens {
            // Behind a certificate that is not known a token may be.
            None => !is_stranger || token.is_some(),
            Some(tokens) => token.is_some_and(|it| tokens.0.contains(it.trim())),
        };
        if is_known {
            return Ok(None);
        }
        if is_stranger || token.is_some() {
            return Err(Failure::new(401, "Unauthorized", "Unauthorized").response());
        }
        if OPEN.contains(&path) {
            return Ok(None);
        }
        let verb = method.to_ascii_lowercase();
        let why = format!("forbidden: User \"system:anonymous\" cannot {verb} path \"{path}\"");
        Err(Failure::new(403, "Forbidden", why).response())
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
