//! The options of an ordered FIFO.

use std::fmt;
use std::num::NonZeroUsize;

use crate::events::SlowHook;
use crate::store::NothingKnown;

/// How lists and resyncs go through the queue (`cache:RF-4`).
#[derive(Clone, Copy, Debug)]
pub enum Mode<N> {
    /// One event per object. Deletions are found by comparing a list with the queue and the
    /// consumer's store, so that store must be changed under the queue's lock.
    Plain {
        /// The consumer's store.
        known: N,
    },
    /// One event per list or resync, so the consumer's store always has the state of one version of
    /// the server. The consumer finds the objects that a list deleted.
    Atomic {
        /// Whether the lock is released while the consumer processes, if the queue is short.
        unlock_while_processing: bool,
        /// Whether bookmarks are events.
        emit_bookmarks: bool,
    },
}

impl<N> Mode<N> {
    pub(super) fn known(&self) -> Option<&N> {
        match self {
            Self::Plain { known } => Some(known),
            Self::Atomic { .. } => None,
        }
    }

    pub(super) fn is_atomic(&self) -> bool {
        matches!(self, Self::Atomic { .. })
    }

    pub(super) fn unlocks(&self) -> bool {
        matches!(self, Self::Atomic { unlock_while_processing: true, .. })
    }

    pub(super) fn emits_bookmarks(&self) -> bool {
        matches!(self, Self::Atomic { emit_bookmarks: true, .. })
    }
}

/// The options of an [`OrderedFifo`](super::OrderedFifo).
pub struct Options<N> {
    /// How lists and resyncs go through the queue.
    pub mode: Mode<N>,
    /// How many events are processed together, at most.
    pub batch_size: NonZeroUsize,
    /// The function that is told of slow processing.
    pub on_slow: Option<SlowHook>,
}

const BATCH_SIZE: NonZeroUsize = NonZeroUsize::new(1000).expect("a thousand is not zero");

/// The options of the reference's informers: lists as one event, processed with the lock released.
impl Default for Options<NothingKnown> {
    fn default() -> Self {
        let mode = Mode::Atomic { unlock_while_processing: true, emit_bookmarks: true };
        Self { mode, batch_size: BATCH_SIZE, on_slow: None }
    }
}

impl<N> Options<N> {
    /// Makes options with one event per object and the consumer's store.
    pub fn plain(known: N) -> Self {
        Self { mode: Mode::Plain { known }, batch_size: BATCH_SIZE, on_slow: None }
    }
}

impl<N> fmt::Debug for Options<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("atomic", &self.mode.is_atomic())
            .field("unlock_while_processing", &self.mode.unlocks())
            .field("emit_bookmarks", &self.mode.emits_bookmarks())
            .field("batch_size", &self.batch_size)
            .finish_non_exhaustive()
    }
}
