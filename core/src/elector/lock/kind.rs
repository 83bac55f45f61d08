//! Lock kinds by name (`election:LK-5`).

use std::fmt;
use std::str::FromStr;

/// A kind of lock, by its name in configuration files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockKind {
    /// `leases`, the current one.
    Leases,
    /// `endpoints`, retired.
    Endpoints,
    /// `configmaps`, retired.
    ConfigMaps,
    /// `endpointsleases`, retired: for the migration from Endpoints to Leases.
    EndpointsLeases,
    /// `configmapsleases`, retired: for the migration from ConfigMaps to Leases.
    ConfigMapsLeases,
}

impl LockKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [
        Self::Leases,
        Self::Endpoints,
        Self::ConfigMaps,
        Self::EndpointsLeases,
        Self::ConfigMapsLeases,
    ];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Leases => "leases",
            Self::Endpoints => "endpoints",
            Self::ConfigMaps => "configmaps",
            Self::EndpointsLeases => "endpointsleases",
            Self::ConfigMapsLeases => "configmapsleases",
        }
    }

    /// Returns the replacement of a retired kind; `None` for the current one.
    #[must_use]
    pub const fn replacement(self) -> Option<Self> {
        match self {
            Self::Leases => None,
            Self::EndpointsLeases | Self::ConfigMapsLeases => Some(Self::Leases),
            Self::Endpoints => Some(Self::EndpointsLeases),
            Self::ConfigMaps => Some(Self::ConfigMapsLeases),
        }
    }

    /// Reads a name, and refuses a retired kind.
    ///
    /// # Errors
    /// The kind is retired or unknown.
    pub fn current(name: &str) -> Result<Self, LockKindError> {
        let kind: Self = name.parse()?;
        match kind.replacement() {
            None => Ok(kind),
            Some(replacement) => Err(LockKindError::Retired { kind, replacement }),
        }
    }
}

/// Reads a name, retired kinds included.
impl FromStr for LockKind {
    type Err = LockKindError;

    fn from_str(name: &str) -> Result<Self, LockKindError> {
        let known = Self::ALL.into_iter().find(|kind| kind.name() == name);
        known.ok_or_else(|| LockKindError::Unknown(name.to_owned()))
    }
}

impl fmt::Display for LockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a lock kind is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LockKindError {
    /// It is retired.
    Retired {
        /// The kind.
        kind: LockKind,
        /// The kind to migrate to.
        replacement: LockKind,
    },
    /// No kind has this name.
    Unknown(String),
}

impl fmt::Display for LockKindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Retired { kind, replacement } => {
                write!(f, "the lock kind {kind} is retired: migrate to {replacement}")
            }
            Self::Unknown(name) => write!(f, "unknown lock kind {name:?}: use leases"),
        }
    }
}

impl std::error::Error for LockKindError {}
