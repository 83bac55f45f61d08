//! The rules of a feed: changes on their way to one reader (`cache` section 18).

use std::collections::VecDeque;

use crate::machine::Channel;

/// Callers that wait for a change sleep here.
pub const READERS: Channel = 0;
/// A smaller buffer than this is not shrunk.
const KEPT: usize = 1024;
/// Callers that wait until the whole first list is handled sleep here.
pub const SYNC: Channel = 1;

/// Why no more changes come.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum FeedError {
    /// The informer has stopped, or the subscription was dropped.
    Stopped,
    /// The reader was slower than its limit allows. Changes were lost, so nothing more is told.
    /// Subscribe again to begin with the objects that are there then.
    Lagged,
}

impl std::fmt::Display for FeedError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Stopped => "the informer has stopped",
            Self::Lagged => "the reader fell behind its limit: subscribe again",
        })
    }
}

impl std::error::Error for FeedError {}

/// Changes that wait for one reader, and whether it has seen the first list.
#[derive(Clone, Debug)]
pub struct Feed<C> {
    pub(super) waiting: VecDeque<Told<C>>,
    /// How many of them do not belong to the first list.
    pub(super) later: usize,
    /// The maximum of `later`.
    pub(super) limit: usize,
    /// Changes of the first list that wait or are being handled (`cache:SY-1`).
    pub(super) unfinished: usize,
    /// The informer has said that the first list is complete (`cache:SY-4`).
    pub(super) is_complete: bool,
    /// The first list was complete and all of it handled. This never goes back (`cache:SY-3`).
    pub(super) has_synced: bool,
    pub(super) over: Option<FeedError>,
}

/// A change, and whether it belongs to the first list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told<C> {
    /// The change.
    pub change: C,
    /// Whether it belongs to the first list.
    pub initial: bool,
}

impl<C> Feed<C> {
    /// Makes a feed that begins with these changes. Of the changes after the first list, at most
    /// `limit` wait.
    #[must_use]
    pub fn new(first: Vec<C>, is_complete: bool, limit: usize) -> Self {
        let told = |change| Told { change, initial: true };
        let waiting: VecDeque<_> = first.into_iter().map(told).collect();
        let unfinished = waiting.len();
        let (over, has_synced) = (None, is_complete && unfinished == 0);
        Self { waiting, later: 0, limit, unfinished, is_complete, has_synced, over }
    }

    /// Latches `has_synced`; true if it did so now. Once the feed is over, it never latches
    /// (`cache:SI-40`).
    pub(super) fn latch(&mut self) -> bool {
        let is_seen = self.is_complete && self.unfinished == 0 && self.over.is_none();
        let now = !self.has_synced && is_seen;
        self.has_synced |= now;
        now
    }

    /// Gives back memory that a burst took (`cache:PL-12`).
    pub(super) fn shrink(&mut self) {
        if self.waiting.capacity() > KEPT && self.waiting.len() < self.waiting.capacity() / 4 {
            self.waiting.shrink_to(self.waiting.capacity() / 2);
        }
    }

    /// Ends the feed and returns the waiting changes, which are not told any more (`cache:PL-13`).
    pub(super) fn end(&mut self, why: FeedError) -> VecDeque<Told<C>> {
        self.over.get_or_insert(why);
        self.later = 0;
        std::mem::take(&mut self.waiting)
    }
}
