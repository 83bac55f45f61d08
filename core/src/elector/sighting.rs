//! The states of the lock that an elector has seen, and when (`election:LE-8`, `LE-21`).

use std::collections::VecDeque;

use crate::runtime::Instant;

use super::lock::{Stored, Version};
use super::record::{Name, Record};

/// How many distinct states of the lock are remembered (`election:CX-12`).
const REMEMBERED: usize = 8;

/// The record that the elector relies on, and the local time from which its lease counts. Both are
/// written and read together (`election:LE-9`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Observed {
    /// The record.
    pub record: Record,
    /// When it was observed.
    pub at: Instant,
}

impl Observed {
    /// Makes a record that was observed then.
    #[must_use]
    pub const fn new(record: Record, at: Instant) -> Self {
        Self { record, at }
    }
}

/// One state of the lock; the default one is the absence of the lock object.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Sighting {
    uid: Name,
    version: Option<Version>,
    record: Record,
    /// Whether it can follow the state that was seen before it.
    follows: bool,
}

/// The last few distinct states of the lock.
///
/// A lagging replica may show an old state after a newer one, and then the newer one again. So a
/// lease counts from the last time at which a state was seen for the *first* time; otherwise a dead
/// leader would seem alive for ever (`election:CX-12`).
///
/// A store may also go back to an older state, for example when it is restored. It gives away the
/// old versions again, so two states are the same only if their records are, too. And what an old
/// state says is outdated: perhaps another has led since then.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Sightings {
    states: VecDeque<Sighting>,
    /// When a state was last seen for the first time.
    newest: Instant,
    /// Whether the state that was read last is the one that was seen first last, and follows its
    /// predecessor. Otherwise the store may have gone back.
    current: bool,
    /// Whether there has been a state since the last read, which was not read.
    overtaken: bool,
}

impl Sightings {
    /// Notes a fetched state.
    pub(super) fn see(&mut self, stored: &Stored, now: Instant) {
        let is = |old: &Sighting| {
            old.version.as_ref() == Some(&stored.version)
                && old.uid == stored.uid
                && old.record == stored.record
        };
        self.note(is, now, |last| Sighting {
            uid: stored.uid.clone(),
            version: Some(stored.version.clone()),
            record: stored.record.clone(),
            follows: last.is_none_or(|last| match last.version {
                None => last.follows, // the object has been created
                Some(_) => {
                    last.uid == stored.uid && last.record.transitions <= stored.record.transitions
                }
            }),
        });
    }

    /// Notes that there is no lock object; `is_known` says whether there has ever been one.
    pub(super) fn see_none(&mut self, is_known: bool, now: Instant) {
        let is = |old: &Sighting| old.version.is_none();
        self.note(is, now, |last| Sighting {
            follows: last.is_none() && !is_known,
            ..Sighting::default()
        });
    }

    fn note(
        &mut self,
        is: impl Fn(&Sighting) -> bool,
        now: Instant,
        make: impl FnOnce(Option<&Sighting>) -> Sighting,
    ) {
        let is_known = self.states.iter().rev().any(&is);
        if !is_known || self.overtaken {
            let mut state = make(self.states.back());
            state.follows &= !is_known;
            self.states.retain(|old| !is(old));
            if state.version.is_some() {
                // If the object is gone after this state, that is news.
                self.states.retain(|old| old.version.is_some());
            }
            if self.states.len() == REMEMBERED {
                self.states.pop_front();
            }
            self.states.push_back(state);
            self.newest = now;
            self.overtaken = false;
        }
        self.current = self.states.back().is_some_and(|last| last.follows && is(last));
    }

    /// Notes that the store has left every state that was read: it has accepted a write of this
    /// elector, or refused one because of another's. If such a state is read again, the store has
    /// gone back at a time that is not known, perhaps from the lease of a leader. So it counts from
    /// then.
    pub(super) fn was_overtaken(&mut self) {
        self.overtaken = true;
    }

    /// Returns the time from which a lease counts that another may hold.
    pub(super) fn newest(&self) -> Instant {
        self.newest
    }

    /// Tells whether the state that was read last can be relied on: nothing newer was seen.
    pub(super) fn is_current(&self) -> bool {
        self.current
    }
}
