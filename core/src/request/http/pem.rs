//! Certificates and keys, given or in files that are renewed from outside.

use std::path::PathBuf;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::config::{HttpConfig, Trust};
use super::error::ConfigError;

/// The bytes of certificates or of a key. They are overwritten when they are dropped.
pub(super) type Bytes = Arc<Zeroizing<Vec<u8>>>;

/// A certificate chain and its key, in PEM.
pub(super) type Identity = (Bytes, Bytes);

/// A text in PEM, or the file that holds it.
#[derive(Clone)]
pub(super) enum Pem {
    Given(Bytes),
    File(PathBuf),
}

impl Pem {
    pub(super) fn given(pem: impl Into<Vec<u8>>) -> Self {
        Self::Given(Arc::new(Zeroizing::new(pem.into())))
    }

    pub(super) fn read(&self) -> Result<Bytes, ConfigError> {
        match self {
            Self::Given(pem) => Ok(Arc::clone(pem)),
            Self::File(path) => {
                let read = std::fs::read(path).map(|pem| Arc::new(Zeroizing::new(pem)));
                read.map_err(|why| ConfigError::File(path.clone(), why))
            }
        }
    }

    const fn may_change(&self) -> bool {
        matches!(self, Self::File(_))
    }
}

/// What a client trusts and shows at one moment.
#[derive(Clone, PartialEq, Eq, Default)]
pub(super) struct Material {
    pub(super) authorities: Option<Bytes>,
    pub(super) identity: Option<Identity>,
}

impl Material {
    /// Reads the files of a configuration. An issued identity replaces the configured one.
    pub(super) fn read(
        config: &HttpConfig,
        issued: Option<&Identity>,
    ) -> Result<Self, ConfigError> {
        let authorities = match &config.trust {
            Trust::Authorities(pem) => Some(pem.read()?),
            _ => None,
        };
        let identity = match (issued, &config.identity) {
            (Some(issued), _) => Some(issued.clone()),
            (None, Some((chain, key))) => Some((chain.read()?, key.read()?)),
            (None, None) => None,
        };
        Ok(Self { authorities, identity })
    }

    /// Tells whether a configuration has files that are to be read again.
    pub(super) fn may_change(config: &HttpConfig) -> bool {
        let authorities = matches!(&config.trust, Trust::Authorities(pem) if pem.may_change());
        let shown = |(chain, key): &(Pem, Pem)| chain.may_change() || key.may_change();
        authorities || config.identity.as_ref().is_some_and(shown)
    }
}
