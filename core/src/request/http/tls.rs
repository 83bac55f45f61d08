//! The authorities that a client trusts, and its own certificate.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::config::{HttpConfig, Trust};
use super::error::ConfigError;
use super::pem::Material;

pub(super) fn client_config(
    config: &HttpConfig,
    material: &Material,
) -> Result<ClientConfig, ConfigError> {
    let bad = |why: Error| ConfigError::Certificate("authority", why.to_string());
    let mut trusted = RootCertStore::empty();
    if let Some(pem) = &material.authorities {
        for certificate in certificates("authority", pem)? {
            trusted.add(certificate).map_err(bad)?;
        }
    }
    #[cfg(feature = "kubeconfig")]
    if matches!(config.trust, Trust::System) {
        let found = rustls_native_certs::load_native_certs();
        if found.certs.is_empty() {
            let why = found
                .errors
                .first()
                .map_or_else(|| "there are none".to_owned(), |why| why.to_string());
            return Err(ConfigError::Certificate("set of the system's authorities", why));
        }
        // As every client does: some systems have certificates that are too old to be read.
        trusted.add_parsable_certificates(found.certs);
    }
    let provider = ring::default_provider();
    let anyone = Anyone(provider.signature_verification_algorithms);
    let builder = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .map_err(|why| ConfigError::Certificate("set of protocols", why.to_string()))?;
    let builder = match config.trust {
        Trust::Anyone => builder.dangerous().with_custom_certificate_verifier(Arc::new(anyone)),
        _ => builder.with_root_certificates(trusted),
    };
    let Some((chain, key)) = &material.identity else { return Ok(builder.with_no_client_auth()) };
    let key = PrivateKeyDer::from_pem_slice(key)
        .map_err(|why| ConfigError::Certificate("client key", why.to_string()))?;
    let chain = certificates("client certificate", chain)?;
    builder
        .with_client_auth_cert(chain, key)
        .map_err(|why| ConfigError::Certificate("client certificate", why.to_string()))
}

/// Reads certificates. Other texts in PEM, such as keys, are skipped, but something must be there:
/// without authorities nobody is trusted, which would be noticed by the first call alone.
fn certificates(
    which: &'static str,
    pem: &[u8],
) -> Result<Vec<CertificateDer<'static>>, ConfigError> {
    let bad = |why: String| ConfigError::Certificate(which, why);
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|why| bad(why.to_string()))?;
    if found.is_empty() { Err(bad("it has no certificate in PEM".to_owned())) } else { Ok(found) }
}

/// Accepts every certificate of a server. The server must have its key nevertheless.
#[derive(Debug)]
struct Anyone(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
