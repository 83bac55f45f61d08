//! The events in the queue.

use std::sync::Arc;

use super::Delta;

/// One event, in the order of arrival.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event<K, O> {
    /// A change of one object.
    Delta(Delta<K, O>),
    /// A complete list: objects that are not in it are gone.
    ReplacedAll(Arc<Snapshot<O>>),
    /// Every object of the consumer must be shown again.
    SyncAll,
    /// The server has sent everything up to a version.
    Bookmark(Arc<Bookmark>),
}

/// A complete list and the version at which it was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot<O> {
    /// The version of the list.
    pub resource_version: String,
    /// The objects.
    pub objects: Vec<O>,
}

/// A version up to which the server has sent everything.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bookmark {
    /// The version.
    pub resource_version: String,
}

impl<K, O> Event<K, O> {
    /// Returns the change of one object; `None` for other events, which are never in a batch with
    /// others (`cache:RF-18`).
    pub fn delta(&self) -> Option<&Delta<K, O>> {
        match self {
            Self::Delta(delta) => Some(delta),
            Self::ReplacedAll(_) | Self::SyncAll | Self::Bookmark(_) => None,
        }
    }
}

impl<K, O> From<Delta<K, O>> for Event<K, O> {
    fn from(delta: Delta<K, O>) -> Self {
        Self::Delta(delta)
    }
}
