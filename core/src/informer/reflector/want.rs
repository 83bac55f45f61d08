//! What a reflector wants, and what it is told.

use std::fmt;

use crate::informer::list_watch::{Event, ListOptions, Page, SourceError, WatchOptions};
use crate::runtime::Instant;
use crate::store::Cause;

/// What a reflector wants next.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Want<O> {
    /// A list, then [`Got::Listed`]. A stream that is open ends.
    List(ListOptions),
    /// A stream, then [`Got::Opened`]. One that is open ends.
    Watch(WatchOptions),
    /// The next event of the stream that is open, until a resync is due if one will be; then
    /// [`Got::Event`] or [`Got::ResyncDue`].
    Next {
        /// When a resync is due.
        resync: Option<Instant>,
    },
    /// Something is given to the consumer, then [`Got::Delivered`].
    Deliver(Delivery<O>),
    /// Sleep, then [`Got::Slept`]. A stream that is open ends.
    Sleep {
        /// When the sleep is over.
        until: Instant,
        /// Why: for the error handler, if it is to be told (`cache:RE-31`).
        failed: Option<Failed>,
    },
}

/// What the consumer is given.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Delivery<O> {
    /// All objects there are, at a version.
    Replace(Vec<O>, String),
    /// A new object.
    Add(O),
    /// A changed object.
    Update(O),
    /// The last state of an object.
    Delete(O),
    /// Everything up to a version was seen.
    Bookmark(String),
    /// Everything is to be shown once more, if the consumer wants that.
    Resync,
}

/// The answer to what a reflector wanted.
#[derive(Debug)]
#[non_exhaustive]
pub enum Got<O> {
    /// A page, or why there is none.
    Listed(Result<Page<O>, SourceError>),
    /// A stream is open, or why there is none.
    Opened(Result<(), SourceError>),
    /// An event; `None` is the end of the stream.
    Event(Option<Event<O>>),
    /// A resync is due.
    ResyncDue,
    /// The consumer took it, or why not.
    Delivered(Result<(), Cause>),
    /// The sleep is over.
    Slept,
}

/// Something that a stream told and the consumer does not have.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Skipped {
    /// The consumer refused a change: a transformer failed, perhaps. The change is lost until its
    /// object changes again or all is listed anew (`cache:RE-25`).
    Refused {
        /// The key of the object.
        key: String,
        /// The version of the object.
        resource_version: String,
        /// Why.
        cause: Cause,
    },
    /// It makes no sense: it is no object of the kind that was asked for (`cache:RE-23`).
    Foreign(String),
    /// An object that does not say who it is (`cache:RE-23`).
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
pub enum Failed {
    /// The objects cannot be listed.
    List(SourceError),
    /// No stream can be opened.
    Watch(SourceError),
    /// The consumer refuses the list.
    Replace(Cause),
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List(_) => f.write_str("failed to list"),
            Self::Watch(_) => f.write_str("failed to watch"),
            Self::Replace(_) => f.write_str("the consumer refuses the list"),
        }
    }
}

impl std::error::Error for Failed {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::List(error) | Self::Watch(error) => Some(error),
            Self::Replace(cause) => Some(&**cause),
        }
    }
}
