//! The rules of a feed: changes on their way to one who is told (`cache` section 18).

use std::collections::VecDeque;

use crate::machine::Channel;

/// Where those sleep who wait for a change.
pub const READERS: Channel = 0;
/// Room for this many changes is kept.
const KEPT: usize = 1024;
/// Where those sleep who wait until all of the first list was told.
pub const SYNC: Channel = 1;

/// Why no change comes any more.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Over {
    /// The informer has stopped, or the subscription was given up.
    Stopped,
    /// The reader was slower than its limit allows: changes were lost, so nothing more is told.
    /// Subscribe again to begin with what is there then.
    Lagged,
}

impl std::fmt::Display for Over {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Stopped => "the informer has stopped",
            Self::Lagged => "the reader fell behind its limit: subscribe again",
        })
    }
}

impl std::error::Error for Over {}

/// Changes that wait for one reader, and whether it has seen the first list.
#[derive(Clone, Debug)]
pub struct Feed<C> {
    pub(super) waiting: VecDeque<Told<C>>,
    /// How many of them do not count for the first list.
    pub(super) later: usize,
    /// How many of those may wait.
    pub(super) limit: usize,
    /// Changes of the first list that wait or are being looked at (`cache:SY-1`).
    pub(super) unfinished: usize,
    /// The informer has said that the first list is complete (`cache:SY-4`).
    pub(super) is_complete: bool,
    /// It was complete and all of it looked at; it never goes back (`cache:SY-3`).
    pub(super) has_synced: bool,
    pub(super) over: Option<Over>,
}

/// A change, and whether it counts for the first list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told<C> {
    /// The change.
    pub change: C,
    /// Whether it counts for the first list.
    pub initial: bool,
}

impl<C> Feed<C> {
    /// A feed that begins with these changes. Of those that come after the first list at most
    /// `limit` wait.
    #[must_use]
    pub fn new(first: Vec<C>, is_complete: bool, limit: usize) -> Self {
        let told = |change| Told { change, initial: true };
        let waiting: VecDeque<_> = first.into_iter().map(told).collect();
        let unfinished = waiting.len();
        let (over, has_synced) = (None, is_complete && unfinished == 0);
        Self { waiting, later: 0, limit, unfinished, is_complete, has_synced, over }
    }

    /// Latches; true if it did so now. After the end it latches no more (`cache:SI-40`).
    pub(super) fn latch(&mut self) -> bool {
        let is_seen = self.is_complete && self.unfinished == 0 && self.over.is_none();
        let now = !self.has_synced && is_seen;
        self.has_synced |= now;
        now
    }

    /// Gives memory back that a burst took (`cache:PL-12`).
    pub(super) fn shrink(&mut self) {
        if self.waiting.capacity() > KEPT && self.waiting.len() < self.waiting.capacity() / 4 {
            self.waiting.shrink_to(self.waiting.capacity() / 2);
        }
    }

    /// Ends the feed and gives out what waits, which nobody is told any more (`cache:PL-13`).
    pub(super) fn end(&mut self, why: Over) -> VecDeque<Told<C>> {
        self.over.get_or_insert(why);
        self.later = 0;
        std::mem::take(&mut self.waiting)
    }
}
