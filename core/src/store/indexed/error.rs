//! Why a call on an indexed store failed.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::store::EnqueueError;
use crate::store::{Cause, KeyError};

/// Why an object was not stored. Nothing has changed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// It has no key.
    Key(KeyError),
    /// The transformer refused it.
    Transform(Cause),
    /// An index function failed, which is a bug of the program (`cache:IX-8`).
    Index(IndexFailed),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(error) => error.fmt(f),
            Self::Transform(_) => f.write_str("transforming the object"),
            Self::Index(error) => error.fmt(f),
        }
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Key(error) => error.source(),
            Self::Transform(cause) => Some(&**cause),
            Self::Index(error) => error.source(),
        }
    }
}

impl From<KeyError> for StoreError {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

impl From<EnqueueError> for StoreError {
    fn from(error: EnqueueError) -> Self {
        match error {
            EnqueueError::Key(error) => Self::Key(error),
            EnqueueError::Transform(cause) => Self::Transform(cause),
        }
    }
}

impl From<IndexFailed> for StoreError {
    fn from(error: IndexFailed) -> Self {
        Self::Index(error)
    }
}

/// The function of an index failed.
#[derive(Clone, Debug)]
pub struct IndexFailed {
    /// The index.
    pub index: Arc<str>,
    /// The error of its function.
    pub cause: Cause,
}

impl fmt::Display for IndexFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unable to calculate an index entry on index {:?}", self.index)
    }
}

impl Error for IndexFailed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.cause)
    }
}

/// Why an index could not be read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum IndexError {
    /// There is no index of that name.
    Unknown(String),
    /// Its function failed on the object that was passed (`cache:IX-9`).
    Failed(IndexFailed),
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "Index with name {name} does not exist"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl Error for IndexError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unknown(_) => None,
            Self::Failed(error) => error.source(),
        }
    }
}

/// Why indices were not added. None of them was added (`cache:IX-14`).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AddIndexersError {
    /// A name is in use.
    Conflict,
    /// A function failed on a stored object.
    Failed(IndexFailed),
}

impl fmt::Display for AddIndexersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict => f.write_str("indexer conflict"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl Error for AddIndexersError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Conflict => None,
            Self::Failed(error) => error.source(),
        }
    }
}

/// Entries of a transaction were skipped; the others took effect (`cache:ST-17`). If an index
/// function failed, none took effect.
#[derive(Clone, Debug)]
pub struct TransactionError {
    /// The numbers of the entries that took effect.
    pub successful: Vec<usize>,
    /// How many entries there were.
    pub total: usize,
    /// Why the other entries were skipped, in their order.
    pub errors: Vec<StoreError>,
}

impl fmt::Display for TransactionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failed = self.total - self.successful.len();
        write!(f, "failed to execute ({failed}/{}) transactions", self.total)
    }
}

impl Error for TransactionError {
    /// Returns the first of the errors.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.errors.first().map(|first| first as _)
    }
}
