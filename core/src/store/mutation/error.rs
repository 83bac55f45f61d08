//! Why a mutation cache cannot answer.

use std::error::Error;
use std::fmt;

use crate::store::KeyError;
use crate::store::indexed::IndexError;

/// A resource version is not a number, so versions cannot be compared. A
/// [`MutationCache`](super::MutationCache) needs a server with numeric versions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotANumber(pub String);

impl fmt::Display for NotANumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "resource version {:?} is no number", self.0)
    }
}

impl Error for NotANumber {}

/// Why objects could not be read by index.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The index cannot answer.
    Index(IndexError),
    /// Versions cannot be compared.
    Version(NotANumber),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(error) => error.fmt(f),
            Self::Version(error) => error.fmt(f),
        }
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Index(error) => error.source(),
            Self::Version(error) => error.source(),
        }
    }
}

impl From<IndexError> for ReadError {
    fn from(error: IndexError) -> Self {
        Self::Index(error)
    }
}

impl From<NotANumber> for ReadError {
    fn from(error: NotANumber) -> Self {
        Self::Version(error)
    }
}

/// Why an overlay did not accept an object.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// It has no key.
    Key(KeyError),
    /// Versions cannot be compared.
    Version(NotANumber),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(error) => error.fmt(f),
            Self::Version(error) => error.fmt(f),
        }
    }
}

impl Error for WriteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Key(error) => error.source(),
            Self::Version(error) => error.source(),
        }
    }
}

impl From<KeyError> for WriteError {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

impl From<NotANumber> for WriteError {
    fn from(error: NotANumber) -> Self {
        Self::Version(error)
    }
}
