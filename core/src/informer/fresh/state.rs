//! How far a store is: what waits for versions and for the first list looks here.

use std::fmt;

use crate::machine::{Channel, Cx, Step};
use crate::runtime::Instant;

/// Where those sleep who wait for a version.
pub const NEWS: Channel = 0;
/// Where those sleep who wait for the first list.
pub const SYNC: Channel = 1;

/// How far a store is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fresh {
    pub(super) view: View,
    /// The first list is in the store.
    pub(super) has_synced: bool,
    /// The store does not change any more.
    pub(super) is_over: bool,
}

/// How far a store was at a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct View {
    /// It has all changes up to this version.
    pub version: u64,
    /// How often something came.
    pub turns: u64,
    /// How often a list went back to an older version.
    pub returns: u64,
}

/// Why a version, or what was written, cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NotVisible {
    /// The store was behind until the time was over.
    Behind {
        /// The version that was asked for.
        wanted: u64,
        /// The version that the store had.
        seen: u64,
    },
    /// An object that was deleted was in the store until the time was over.
    StillThere {
        /// The uid of the object.
        uid: String,
    },
    /// The informer has stopped before.
    Stopped,
    /// The version asked for is not a number, so it cannot be compared.
    NotANumber(String),
}

impl fmt::Display for NotVisible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Behind { wanted, seen } => {
                write!(f, "the store is at version {seen}, before {wanted}")
            }
            Self::StillThere { uid } => write!(f, "the store still has the object {uid}"),
            Self::Stopped => f.write_str("the informer has stopped"),
            Self::NotANumber(version) => write!(f, "resource version {version:?} is no number"),
        }
    }
}

impl std::error::Error for NotVisible {}

impl Fresh {
    /// Waits until a condition holds, the time is over or nothing comes any more.
    pub(super) fn wait(
        &self,
        holds: bool,
        until: Instant,
        cx: &mut Cx<'_>,
        wanted: u64,
    ) -> Step<Result<View, NotVisible>> {
        if holds {
            Step::Done(Ok(self.view))
        } else if self.is_over {
            Step::Done(Err(NotVisible::Stopped))
        } else if cx.now() >= until {
            Step::Done(Err(NotVisible::Behind { wanted, seen: self.view.version }))
        } else {
            Step::Wait { on: NEWS, until: limit(until) }
        }
    }
}

/// A time to wait until, if there is one.
pub(super) fn limit(until: Instant) -> Option<Instant> {
    (until != Instant::NEVER).then_some(until)
}
