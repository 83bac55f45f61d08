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
        /// A read does not make a write the newest one.
        ReadingIsNoUse,
        /// A read makes a write last longer.
        ReadingProlongs,
        /// With too many writes, the newest of the others is forgotten.
        NewerIsForgotten,
        /// Writes are never too many.
        AllAreRemembered,
        /// A listing returns the objects of the store, however old they are.
        ListedAsStored,
        /// A listing lacks the objects that the store does not have yet.
        AddedIsNotListed,
        /// A listing has every written object, under whichever value it is.
        OthersAreListed,
        /// Objects that the store does not have yet are returned although that was not asked for.
        AddedIsAlwaysIncluded,
        /// A deletion of which only the key is known is ignored.
        LostIsRemembered,
        /// Adding an object blocks until the running comparison ends.
        AddWaitsForTheComparison,
    }
}

use Mistake::*;

/// How long a written object is remembered.
pub(super) const TIME: Duration = Duration::from_millis(20);
/// How many written objects are remembered.
pub(super) const CAPACITY: usize = 2;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Written {
    key: u8,
    /// `None` marks a deletion.
    object: Option<Named>,
    uid: u8,
    version: u8,
    until: Instant,
}

/// The content of the store, and the written objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Model {
    mistakes: &'static [Mistake],
    include_adds: bool,
    stored: BTreeMap<u8, Named>,
    /// The least recently used one comes first.
    written: Vec<Written>,
}

impl Model {
    pub(super) fn new(include_adds: bool, mistakes: &'static [Mistake]) -> Self {
        Self { mistakes, include_adds, stored: BTreeMap::new(), written: Vec::new() }
    }

    pub(super) fn makes(&self, mistake: Mistake) -> bool {
        self.mistakes.contains(&mistake)
    }

    /// Answers a call.
    pub(super) fn answer(&mut self, call: &Call, now: Instant) -> Answer {
        match call {
            Call::Store(object) => drop(self.stored.insert(object.key, *object)),
            Call::Unstore(key) => drop(self.stored.remove(key)),
            Call::Wrote(object) => self.wrote(object, now),
            Call::Seen(object) => self.seen(object, now),
            Call::Gone(object) => self.gone(object, now),
            Call::Lost(key) => self.lost(*key),
            Call::Get(key) => return Answer::Read(self.get(*key, now)),
            Call::List(uid) => return Answer::Listed(self.list(*uid, now)),
            Call::Watch | Call::Compare => {}
        }
        Answer::Done
    }

    /// Returns the write to a key, which counts as a use; an expired one is forgotten.
    fn look(&mut self, key: u8, now: Instant) -> Option<Written> {
        let at = self.written.iter().position(|it| it.key == key)?;
        let mut known = self.written.remove(at);
        if known.until < now && !self.makes(NothingExpires) {
            return None;
        }
        if self.makes(ReadingProlongs) {
            known.until = now + TIME;
        }
        let place = if self.makes(ReadingIsNoUse) { at } else { self.written.len() };
        self.written.insert(place, known);
        Some(known)
    }

    fn forget(&mut self, key: u8) {
        self.written.retain(|it| it.key != key);
    }

    fn get(&mut self, key: u8, now: Instant) -> Option<Named> {
        match self.stored.get(&key).copied() {
            Some(stored) => Some(self.newer(stored, now)),
            None if self.include_adds || self.makes(AddedIsAlwaysIncluded) => {
                self.look(key, now)?.object
            }
            None => None,
        }
    }

    /// Returns the newer one of an object of the store and the write to its key.
    fn newer(&mut self, stored: Named, now: Instant) -> Named {
        let Some(written) = self.look(stored.key, now) else { return stored };
        let is_older = stored.version < written.version || self.makes(WrittenIsPreferred);
        if !is_older || written.object.is_none() && self.makes(ReadingDropsTheMark) {
            self.forget(stored.key);
        }
        let newer = written.object.filter(|_| is_older && !self.makes(StoredIsPreferred));
        newer.unwrap_or(stored)
    }

    /// Lists the objects with a uid: those of the store, also if they have another one by now, then
    /// those that the store does not have under it.
    fn list(&mut self, uid: u8, now: Instant) -> Vec<Named> {
        let stored: Vec<Named> = self.stored.values().filter(|it| it.uid == uid).copied().collect();
        let mut listed: Vec<Named> = stored
            .iter()
            .map(|it| if self.makes(ListedAsStored) { *it } else { self.newer(*it, now) })
            .collect();
        if self.include_adds && !self.makes(AddedIsNotListed) {
            let of_the_store = |key: u8| stored.iter().any(|it| it.key == key);
            let all = self.written.iter().map(|it| it.key);
            let added: Vec<u8> = all.filter(|key| !of_the_store(*key)).collect();
            for key in added {
                let object = self.look(key, now).and_then(|written| written.object);
                listed.extend(object.filter(|it| it.uid == uid || self.makes(OthersAreListed)));
            }
        }
        listed
    }

    fn wrote(&mut self, object: &Named, now: Instant) {
        if let Some(known) = self.look(object.key, now) {
            let is_news = known.version <= object.version || self.makes(OlderIsWritten);
            let same = known.version == object.version || known.uid == object.uid;
            let deleted = known.object.is_none() && same && !self.makes(DeletedIsWritten);
            if !is_news || deleted {
                return;
            }
        }
        self.remember(object, Some(*object), now);
    }

    fn seen(&mut self, object: &Named, now: Instant) {
        let known = self.look(object.key, now);
        let caught_up = known.is_some_and(|known| known.version <= object.version);
        if (caught_up || self.makes(SeenForgetsTheNewer)) && !self.makes(SeenIsNotForgotten) {
            self.forget(object.key);
        }
    }

    fn gone(&mut self, object: &Named, now: Instant) {
        let known = self.look(object.key, now);
        let next = known.is_some_and(|it| it.version > object.version && it.uid != object.uid);
        if next && !self.makes(GoneForgetsTheNext) {
            return;
        }
        self.remember(object, None, now);
        if self.makes(NoMarkIsLeft) {
            self.forget(object.key);
        }
    }

    /// An object was deleted, of which only the key is known.
    fn lost(&mut self, key: u8) {
        if !self.makes(LostIsRemembered) {
            self.forget(key);
        }
    }

    fn remember(&mut self, of: &Named, object: Option<Named>, now: Instant) {
        let Named { key, uid, version } = *of;
        self.forget(key);
        if self.written.len() >= CAPACITY && !self.makes(AllAreRemembered) {
            self.written.remove(if self.makes(NewerIsForgotten) { CAPACITY - 1 } else { 0 });
        }
        self.written.push(Written { key, object, uid, version, until: now + TIME });
    }
}
