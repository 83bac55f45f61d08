//! Versions of stored objects.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// The version of a stored object. Versions can only be tested for equality, unless the store
/// promises more ([`Versions::Ordered`](crate::elector::Versions::Ordered)).
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Version {
    /// A version written as a number.
    Number(u64),
    /// Any other version.
    Text(Arc<str>),
}

impl Version {
    /// Makes a version from its text. A number keeps no text, so it needs no memory of its own.
    #[must_use]
    pub fn new(text: &str) -> Self {
        match text.parse::<u64>() {
            Ok(number) if number.to_string() == text => Self::Number(number),
            _ => Self::Text(Arc::from(text)),
        }
    }

    /// Tells whether there is no version: the object was never stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) if text.is_empty())
    }

    /// Compares two versions of a store that orders them; `None` if they are not numbers.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{self}")
    }
}
