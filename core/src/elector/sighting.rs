//! The states of the lock that an elector has seen, and when (`election:LE-8`, `LE-21`).

use std::collections::VecDeque;
use std::sync::Arc;

use crate::runtime::Instant;

use super::lock::{Stored, Version};
use super::record::{Name, Record};

/// How many distinct states of the lock the strict profile remembers (`election:CX-12`).
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

/// Distinguishes the states of the lock in the classic profile: the "raw bytes" of the rules.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) enum Raw {
    /// Nothing was seen yet, or an object without a record.
    #[default]
    Nothing,
    /// The record as JSON, that is, with whole seconds (`election:LK-13`). It is kept as a record,
    /// because comparing records has the same result and needs no text.
    Json(Record),
    /// The text of an annotation (`election:LK-19`).
    Text(Arc<str>),
}

impl Raw {
    /// Tells whether the fetched object has the same state, by the rules of the classic profile.
    pub(super) fn is_still(&self, stored: &Stored) -> bool {
        match (self, &stored.text) {
            (Self::Text(seen), Some(text)) => seen == text,
            (Self::Nothing, Some(text)) => text.is_empty(),
            (Self::Json(record), None) => record.same_json(&stored.record),
            _ => false,
        }
    }

    pub(super) fn of(stored: &Stored) -> Self {
        match &stored.text {
            Some(text) => Self::Text(Arc::clone(text)),
            None => Self::Json(stored.record.clone()),
        }
    }
}

/// One state of the lock, and when it was first seen.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Sighting {
    uid: Name,
    version: Version,
    seen: Observed,
}

/// The last few distinct states of the lock (strict).
///
/// A lagging replica may show an old state after a newer one, and then the newer one again. Each
/// state counts from its *first* sighting; otherwise a dead leader would seem alive for ever
/// (`election:CX-12`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Sightings(VecDeque<Sighting>);

impl Sightings {
    /// Returns the first sighting of a fetched state, which may be this one.
    pub(super) fn see(&mut self, stored: &Stored, now: Instant) -> &Observed {
        let is = |old: &Sighting| old.version == stored.version && old.uid == stored.uid;
        let known = match self.0.back() {
            Some(last) if is(last) => Some(self.0.len() - 1), // by far the usual case
            _ => self.0.iter().rposition(is),
        };
        let index = known.unwrap_or_else(|| {
            if self.0.len() == REMEMBERED {
                self.0.pop_front();
            }
            self.0.push_back(Sighting {
                uid: stored.uid.clone(),
                version: stored.version.clone(),
                seen: Observed { record: stored.record.clone(), at: now },
            });
            self.0.len() - 1
        });
        &self.0[index].seen
    }
}
