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
    for certificate in certificates("authority", &config.authorities)? {
        let added = trusted.add(certificate);
        added.map_err(|why| ConfigError::Certificate("authority", why.to_string()))?;
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|why| ConfigError::Certificate("set of protocols", why.to_string()))?
        .with_root_certificates(trusted);
    let Some((chain, key)) = &config.identity else { return Ok(builder.with_no_client_auth()) };
    let chain = certificates("client certificate", chain)?;
    let key = PrivateKeyDer::from_pem_slice(key)
        .map_err(|why| ConfigError::Certificate("client key", why.to_string()))?;
    builder
        .with_client_auth_cert(chain, key)
        .map_err(|why| ConfigError::Certificate("client certificate", why.to_string()))
}

fn certificates(
    which: &'static str,
    pem: &[u8],
) -> Result<Vec<CertificateDer<'static>>, ConfigError> {
    CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|why| ConfigError::Certificate(which, why.to_string()))
}
