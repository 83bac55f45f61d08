//! Why an operator ended.

use std::fmt;

use crate::cache::NotSynced;
use crate::election::ConfigError;

/// Why an operator ended that was not asked to.
#[derive(Debug)]
#[non_exhaustive]
pub enum ManagerError {
    /// A cache was not listed in time.
    NotSynced(NotSynced),
    /// The settings of the election are refused.
    Election(ConfigError),
    /// Another replica leads, or may lead.
    LostLeadership,
    /// A part failed or panicked.
    Part {
        /// The name of the part.
        name: String,
        /// Its error.
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Parts did not end within the grace and were aborted.
    StillRan {
        /// Their names.
        parts: String,
    },
}

impl fmt::Display for ManagerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSynced(error) => error.fmt(f),
            Self::Election(error) => error.fmt(f),
            Self::LostLeadership => f.write_str("the leadership was lost"),
            Self::Part { name, cause } => write!(f, "{name} failed: {cause}"),
            Self::StillRan { parts } => write!(f, "did not end in time: {parts}"),
        }
    }
}

impl std::error::Error for ManagerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Part { cause, .. } => Some(&**cause),
            _ => None,
        }
    }
}
