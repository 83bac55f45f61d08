//! The cache and its store as a sequential object that answers calls, with mistakes that can be
//! switched on.

use std::collections::BTreeMap;
use std::time::Duration;

use seatrial_core::runtime::Instant;

use super::book::{Answer, Call, Named};
use crate::trial::mistakes;

mistakes! {
    /// One changed line.
    pub enum Mistake {
        /// A read that skips a stale object of the store drops the mark of a deletion.
        ReadingDropsTheMark,
        /// The store's object is returned, however old it is.
        StoredIsPreferred,
        /// The written object is returned, however old it is.
        WrittenIsPreferred,
        /// A written object is kept although the store has caught up.
        SeenIsNotForgotten,
        /// A written object is forgotten whichever state is seen.
        SeenForgetsTheNewer,
        /// An older state replaces a newer one.
        OlderIsWritten,
        /// A write is remembered although its object was deleted.
        DeletedIsWritten,
        /// A deletion leaves no mark.
        NoMarkIsLeft,
        /// A deletion also forgets a later write of another object with the same name.
        GoneForgetsTheNext,
        /// No written object is forgotten because of its age.
        NothingExpires,
        /// Adding an object blocks until the running comparison ends.
        AddWaitsForTheComparison,
    }
}

use Mistake::*;

/// How long a written object is remembered.
pub(super) const TIME: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Written {
    /// `None` marks a deletion.
    object: Option<Named>,
    uid: u8,
    version: u8,
    until: Instant,
}

/// The content of the store, and the written objects.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Model {
    mistakes: &'static [Mistake],
    stored: BTreeMap<u8, Named>,
    written: BTreeMap<u8, Written>,
}

impl Model {
    pub(super) fn with(mistakes: &'static [Mistake]) -> Self {
        Self { mistakes, ..Self::default() }
    }

    pub(super) fn makes(&self, mistake: Mistake) -> bool {
        self.mistakes.contains(&mistake)
    }

    /// Answers a call.
    pub(super) fn answer(&mut self, call: &Call, now: Instant) -> Answer {
        if !self.makes(NothingExpires) {
            self.written.retain(|_, written| now <= written.until);
        }
        match call {
            Call::Store(object) => drop(self.stored.insert(object.key, *object)),
            Call::Unstore(key) => drop(self.stored.remove(key)),
            Call::Wrote(object) => self.wrote(object, now),
            Call::Seen(object) => self.seen(object),
            Call::Gone(object) => self.gone(object, now),
            Call::Get(key) => return Answer::Read(self.get(*key)),
            Call::Watch | Call::Compare => {}
        }
        Answer::Done
    }

    fn get(&mut self, key: u8) -> Option<Named> {
        let written = self.written.get(&key).copied();
        let Some(stored) = self.stored.get(&key).copied() else { return written?.object };
        let Some(written) = written else { return Some(stored) };
        let is_older = stored.version < written.version || self.makes(WrittenIsPreferred);
        if !is_older || written.object.is_none() && self.makes(ReadingDropsTheMark) {
            self.written.remove(&key);
        }
        let newer = written.object.filter(|_| is_older && !self.makes(StoredIsPreferred));
        newer.or(Some(stored))
    }

    fn wrote(&mut self, object: &Named, now: Instant) {
        if let Some(known) = self.written.get(&object.key) {
            let is_news = known.version <= object.version || self.makes(OlderIsWritten);
            let same = known.version == object.version || known.uid == object.uid;
            let deleted = known.object.is_none() && same && !self.makes(DeletedIsWritten);
            if !is_news || deleted {
                return;
            }
        }
        self.remember(object, Some(*object), now);
    }

    fn seen(&mut self, object: &Named) {
        let known = self.written.get(&object.key);
        let caught_up = known.is_some_and(|known| known.version <= object.version);
        if (caught_up || self.makes(SeenForgetsTheNewer)) && !self.makes(SeenIsNotForgotten) {
            self.written.remove(&object.key);
        }
    }

    fn gone(&mut self, object: &Named, now: Instant) {
        let known = self.written.get(&object.key);
        let next = known.is_some_and(|it| it.version > object.version && it.uid != object.uid);
        if next && !self.makes(GoneForgetsTheNext) {
            return;
        }
        self.remember(object, None, now);
        if self.makes(NoMarkIsLeft) {
            self.written.remove(&object.key);
        }
    }

    fn remember(&mut self, of: &Named, object: Option<Named>, now: Instant) {
        let Named { key, uid, version } = *of;
        self.written.insert(key, Written { object, uid, version, until: now + TIME });
    }
}
