//! The steps of a reflector, and the answers to them.

use std::fmt;

use crate::informer::list_watch::{Event, ListOptions, Page, SourceError, WatchOptions};
use crate::runtime::Instant;
use crate::store::Cause;

/// The next step of a reflector.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Want<O> {
    /// Ask for a list, then answer [`Got::Listed`]. An open stream ends.
    List(ListOptions),
    /// Open a stream, then answer [`Got::Opened`]. A stream that is already open ends.
    Watch(WatchOptions),
    /// Wait for the next event of the open stream, or until a resync is due if there is one; then
    /// answer [`Got::Event`] or [`Got::ResyncDue`].
    Next {
        /// When a resync is due.
        resync: Option<Instant>,
    },
    /// Give something to the consumer, then answer [`Got::Delivered`].
    Deliver(Delivery<O>),
    /// Sleep, then answer [`Got::Slept`]. An open stream ends.
    Sleep {
        /// When the sleep is over.
        until: Instant,
        /// The reason, if it is to be reported (`cache:RE-31`).
        failed: Option<ReflectorError>,
    },
}

/// Input for the consumer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Delivery<O> {
    /// All existing objects, at a version.
    Replace(Vec<O>, String),
    /// A new object.
    Add(O),
    /// A changed object.
    Update(O),
    /// The last state of an object.
    Delete(O),
    /// Everything up to a version was seen.
    Bookmark(String),
    /// Show everything again, if the consumer wants that.
    Resync,
}

/// The answer to a [`Want`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Got<O> {
    /// A page, or an error.
    Listed(Result<Page<O>, SourceError>),
    /// A stream is open, or an error.
    Opened(Result<(), SourceError>),
    /// An event; `None` is the end of the stream.
    Event(Option<Event<O>>),
    /// A resync is due.
    ResyncDue,
    /// The consumer took it, or refused it with this error.
    Delivered(Result<(), Cause>),
    /// The sleep is over.
    Slept,
}

/// An event of a stream that the consumer does not have.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Skipped {
    /// The consumer refused a change: perhaps a transformer failed. The change is lost until its
    /// object changes again or all is listed anew (`cache:RE-25`).
    Refused {
        /// The key of the object.
        key: String,
        /// The version of the object.
        resource_version: String,
        /// The reason.
        cause: Cause,
    },
    /// It is not an object of the kind asked for (`cache:RE-23`).
    Foreign(String),
    /// An object without metadata (`cache:RE-23`).
    NoMetadata,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { key, resource_version, .. } => {
                write!(f, "the consumer refuses {key:?} at version {resource_version:?}")
            }
            Self::Foreign(what) => write!(f, "a stream told what is none of the objects: {what}"),
            Self::NoMetadata => f.write_str("a stream told an object without metadata"),
        }
    }
}

impl std::error::Error for Skipped {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Refused { cause, .. } => Some(&**cause),
            _ => None,
        }
    }
}

/// Why a reflector begins anew.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ReflectorError {
    /// The objects cannot be listed.
    List(SourceError),
    /// No stream can be opened.
    Watch(SourceError),
    /// The consumer refuses the list.
    Replace(Cause),
    /// The source, the transformer or another function that an informer calls panicked, with this
    /// message if it has one.
    Panicked(Option<String>),
}

impl fmt::Display for ReflectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List(_) => f.write_str("failed to list"),
            Self::Watch(_) => f.write_str("failed to watch"),
            Self::Replace(_) => f.write_str("the consumer refuses the list"),
            Self::Panicked(None) => f.write_str("the informer panicked"),
            Self::Panicked(Some(message)) => write!(f, "the informer panicked: {message}"),
        }
    }
}

impl std::error::Error for ReflectorError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::List(error) | Self::Watch(error) => Some(error),
            Self::Replace(cause) => Some(&**cause),
            Self::Panicked(_) => None,
        }
    }
}
