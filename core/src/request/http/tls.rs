//! The authorities that a client trusts, and its own certificate.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use super::config::HttpConfig;
use super::error::ConfigError;

pub(super) fn client_config(config: &HttpConfig) -> Result<ClientConfig, ConfigError> {
    let mut trusted = RootCertStore::empty();
    if let Some(pem) = &config.authorities {
        for certificate in certificates("authority", pem)? {
            let added = trusted.add(certificate);
            added.map_err(|why| ConfigError::Certificate("authority", why.to_string()))?;
        }
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|why| ConfigError::Certificate("set of protocols", why.to_string()))?
        .with_root_certificates(trusted);
    let Some((chain, key)) = &config.identity else { return Ok(builder.with_no_client_auth()) };
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
