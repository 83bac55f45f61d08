//! How far a store is: callers that wait for a version or for the first list look here.

use std::collections::BTreeMap;
use std::fmt;

use crate::machine::{Channel, Cx, Step};
use crate::runtime::Instant;

/// Callers that wait for a version sleep here.
pub const NEWS: Channel = 0;
/// Callers that wait for the first list sleep here.
pub const SYNC: Channel = 1;

/// How far a store is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fresh {
    pub(super) view: View,
    /// The states that the store refused, by key, although it has newer versions of other objects.
    pub(super) refused: BTreeMap<String, Versions>,
    /// The first list is in the store.
    pub(super) has_synced: bool,
    /// The store does not change any more.
    pub(super) is_over: bool,
    /// A list is about to take the store back to an older version.
    pub(super) goes_back: bool,
}

/// The versions of an object that were refused since the object was last stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Versions {
    pub(super) oldest: u64,
    pub(super) newest: u64,
}

/// The objects that a reader wants to see, and up to which version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// The key of one object; `None` for all of them.
    pub key: Option<String>,
    /// The version.
    pub version: u64,
}

/// How far a store was at a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct View {
    /// It has all changes up to this version.
    pub version: u64,
    /// How often something new came.
    pub epoch: u64,
    /// How often a list was about to go back to an older version, or had gone back.
    pub rollbacks: u64,
    /// That count when a list last was about to go back.
    pub last_rollback: u64,
    /// Whether it lacks a state that was refused.
    pub has_rejected: bool,
    /// Whether it is being changed: a read may then be older or newer than the version.
    pub is_applying: bool,
}

/// Why a version, or a write, cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NotVisibleError {
    /// The store was still behind when the time ran out.
    Behind {
        /// The version that was asked for.
        wanted: u64,
        /// The version that the store had.
        seen: u64,
    },
    /// A deleted object was still in the store when the time ran out.
    StillThere {
        /// The uid of the object.
        uid: String,
    },
    /// The store, or a transformer, refused a state of the object that is no newer than the version
    /// asked for, and nothing newer was stored before the time ran out.
    Refused {
        /// The key of the object.
        key: String,
    },
    /// The informer has stopped.
    Stopped,
    /// The version asked for is not a number, so it cannot be compared.
    NotANumber(String),
}

impl fmt::Display for NotVisibleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Behind { wanted, seen } => {
                write!(f, "the store is at version {seen}, before {wanted}")
            }
            Self::StillThere { uid } => write!(f, "the store still has the object {uid}"),
            Self::Refused { key } => write!(f, "a state of {key:?} was refused"),
            Self::Stopped => f.write_str("the informer has stopped"),
            Self::NotANumber(version) => write!(f, "resource version {version:?} is no number"),
        }
    }
}

impl std::error::Error for NotVisibleError {}

impl Fresh {
    /// Waits until nothing is missing, the time runs out, or the informer stops.
    pub(super) fn wait(
        &self,
        missing: Option<NotVisibleError>,
        until: Instant,
        cx: &mut Cx<'_>,
    ) -> Step<Result<View, NotVisibleError>> {
        match missing {
            None => Step::Done(Ok(self.view)),
            Some(_) if self.is_over => Step::Done(Err(NotVisibleError::Stopped)),
            Some(missing) if cx.now() >= until => Step::Done(Err(missing)),
            Some(_) => Step::Wait { on: NEWS, until: limit(until) },
        }
    }

    pub(super) fn behind(&self, wanted: u64) -> NotVisibleError {
        NotVisibleError::Behind { wanted, seen: self.view.version }
    }

    /// Returns the key of an object in the part that lacks a state.
    pub(super) fn lacking(&self, part: &Part) -> Option<&String> {
        let lacks = |(_, it): &(&String, &Versions)| it.oldest <= part.version;
        match &part.key {
            Some(key) => self.refused.get_key_value(key).filter(lacks),
            None => self.refused.iter().find(lacks),
        }
        .map(|(key, _)| key)
    }
}

/// The end of a wait; `None` if it never ends.
pub(super) fn limit(until: Instant) -> Option<Instant> {
    (until != Instant::NEVER).then_some(until)
}
