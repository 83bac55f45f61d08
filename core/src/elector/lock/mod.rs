//! The lock object that keeps the leader record, and the answers of a store.
//!
//! The elector decides which call to make and with which version ([`Io`](crate::elector::Io)); a
//! [`Lock`] translates that for objects of one kind. It remembers the last object that it received,
//! so that an update sends the whole object with only the election content replaced
//! (`election:LK-2`).

mod awaited;
mod kind;
mod lease;
mod memory;
mod object;
mod retired;
mod slot;
mod version;

use std::fmt;
use std::sync::Arc;
use std::task::Waker;

use crate::cancel::CancelToken;
use crate::runtime::{Instant, Runtime};

use super::record::{Name, Record};

pub use awaited::{AsyncLock, AsyncObjectStore};
pub use kind::{LockKind, LockKindError};
pub use lease::{LeaseLock, LeaseSpec};
pub use memory::{Content, MemoryStore};
pub use object::{Meta, Object, ObjectName, ObjectStore};
pub use retired::{
    ANNOTATION, AnnotationLock, ConfigMap, ConfigMapLock, Endpoints, EndpointsLock, PairLock,
    UNKNOWN_HOLDER,
};
pub use slot::{EventRecorder, Kind, LockEvent};
pub use version::Version;

/// Why a store did not do what it was asked.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The object does not exist.
    NotFound,
    /// The object exists already.
    AlreadyExists,
    /// The object does not have the version that the update names.
    Conflict,
    /// The object violates a rule of the store, or of its encoding.
    Invalid(Arc<str>),
    /// There is no remembered object with a version that could be updated; no call was made
    /// (`election:LK-2`, `LK-4`).
    NotInitialised,
    /// No answer came in time. A write may have been applied, or may yet be (`election:ENV-4`).
    Timeout,
    /// The caller gave up the call. A write may have been applied, or may yet be.
    Cancelled,
    /// Anything else, for example a broken connection. A write may have been applied.
    Other(Arc<str>),
}

impl StoreError {
    /// Tells whether a write with this error may have been applied, now or later
    /// (`election:ENV-4`).
    #[must_use]
    pub const fn may_have_been_applied(&self) -> bool {
        matches!(self, Self::Timeout | Self::Cancelled | Self::Other(_))
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("object not found"),
            Self::AlreadyExists => f.write_str("object exists already"),
            Self::Conflict => f.write_str("object was changed by another"),
            Self::Invalid(why) => write!(f, "object is invalid: {why}"),
            Self::NotInitialised => f.write_str("no object remembered to update"),
            Self::Timeout => f.write_str("timed out"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::Other(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for StoreError {}

/// The content of a lock object, as the elector sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Stored {
    /// The record.
    pub record: Record,
    /// The version of the object.
    pub version: Version,
    /// Distinguishes the object from an earlier one with the same name.
    pub uid: Name,
}

impl Stored {
    /// Makes the answer of a lock.
    #[must_use]
    pub const fn new(record: Record, version: Version, uid: Name) -> Self {
        Self { record, version, uid }
    }
}

/// The limits of a call.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub struct Call<'a> {
    /// When to give up and return [`StoreError::Timeout`]; `None` for the client's own limit.
    pub deadline: Option<Instant>,
    /// Ends the call early, with [`StoreError::Cancelled`].
    pub token: Option<&'a dyn Token>,
}

impl Call<'_> {
    /// Tells whether the call was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.token.is_some_and(Token::is_cancelled)
    }
}

impl fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("deadline", &self.deadline)
            .field("cancelled", &self.is_cancelled())
            .finish()
    }
}

/// A [`CancelToken`] of any runtime.
pub trait Token: Send + Sync {
    /// Tells whether the token has ended.
    fn is_cancelled(&self) -> bool;

    /// Wakes `waker` when the token ends; dropping the result takes the waker back.
    fn on_end(&self, waker: Waker) -> Box<dyn Send + '_>;
}

impl<R: Runtime> Token for CancelToken<R> {
    fn is_cancelled(&self) -> bool {
        self.is_cancelled()
    }

    fn on_end(&self, waker: Waker) -> Box<dyn Send + '_> {
        Box::new(self.on_end(waker))
    }
}

/// A lock object of one kind (`election:LK-1`).
pub trait Lock: Send + 'static {
    /// Reads the record.
    ///
    /// # Errors
    /// [`StoreError`].
    fn get(&mut self, call: Call<'_>) -> Result<Stored, StoreError>;

    /// Creates the lock object.
    ///
    /// # Errors
    /// [`StoreError`].
    fn create(&mut self, record: &Record, call: Call<'_>) -> Result<Stored, StoreError>;

    /// Replaces the record in the remembered object and sends it, if that object still has
    /// `version`.
    ///
    /// # Errors
    /// [`StoreError`].
    fn update(
        &mut self,
        record: &Record,
        version: &Version,
        call: Call<'_>,
    ) -> Result<Stored, StoreError>;

    /// Records, for people to read, what happened to a participant (`election:LK-16`).
    fn record_event(&self, identity: &Name, text: &'static str) {
        let _ = (identity, text);
    }

    /// Returns "namespace/name".
    fn describe(&self) -> String;
}

impl<L: Lock + ?Sized> Lock for Box<L> {
    fn get(&mut self, call: Call<'_>) -> Result<Stored, StoreError> {
        (**self).get(call)
    }

    fn create(&mut self, record: &Record, call: Call<'_>) -> Result<Stored, StoreError> {
        (**self).create(record, call)
    }

    fn update(
        &mut self,
        record: &Record,
        version: &Version,
        call: Call<'_>,
    ) -> Result<Stored, StoreError> {
        (**self).update(record, version, call)
    }

    fn record_event(&self, identity: &Name, text: &'static str) {
        (**self).record_event(identity, text);
    }

    fn describe(&self) -> String {
        (**self).describe()
    }
}
