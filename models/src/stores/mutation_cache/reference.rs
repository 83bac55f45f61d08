//! The cache and its store as a sequential object that answers calls, with mistakes that can be
//! switched on.

use std::collections::BTreeMap;
use std::time::Duration;

use seatrial_core::runtime::Instant;

use super::book::{Answer, Call, Named};
use crate::stores::fixtures::Sequential;

/// How long a written object is remembered.
pub(super) const TIME: Duration = Duration::from_millis(20);
/// How many written objects are remembered.
pub(super) const CAPACITY: usize = 2;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Written {
    key: u8,
    /// `None` marks a deletion.
    object: Option<Named>,
    uid: u8,
    version: u8,
    until: Instant,
}

/// The content of the store, and the written objects.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Model {
    mistake: &'static str,
    include_adds: bool,
    stored: BTreeMap<u8, Named>,
    /// The least recently used one comes first.
    written: Vec<Written>,
}

impl Model {
    pub(super) fn new(include_adds: bool, mistake: &'static str) -> Self {
        Self { mistake, include_adds, stored: BTreeMap::new(), written: Vec::new() }
    }

    pub(super) fn makes(&self, mistake: &str) -> bool {
        self.mistake == mistake
    }
}

impl Sequential<Call, Answer> for Model {
    fn answer(&mut self, call: &Call, now: Instant) -> Answer {
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
}

impl Model {
    /// Returns the write to a key, which counts as a use; an expired one is forgotten.
    fn look(&mut self, key: u8, now: Instant) -> Option<Written> {
        let at = self.written.iter().position(|it| it.key == key)?;
        let mut known = self.written.remove(at);
        if known.until < now && !self.makes("nothing_expires") {
            return None;
        }
        if self.makes("reading_prolongs") {
            known.until = now + TIME;
        }
        let place = if self.makes("reading_is_no_use") { at } else { self.written.len() };
        self.written.insert(place, known);
        Some(known)
    }

    fn forget(&mut self, key: u8) {
        self.written.retain(|it| it.key != key);
    }

    fn get(&mut self, key: u8, now: Instant) -> Option<Named> {
        match self.stored.get(&key).copied() {
            Some(stored) => Some(self.newer(stored, now)),
            None if self.include_adds || self.makes("added_is_always_included") => {
                self.look(key, now)?.object
            }
            None => None,
        }
    }

    /// Returns the newer one of an object of the store and the write to its key.
    fn newer(&mut self, stored: Named, now: Instant) -> Named {
        let Some(written) = self.look(stored.key, now) else { return stored };
        let is_older = stored.version < written.version || self.makes("written_is_preferred");
        if !is_older || written.object.is_none() && self.makes("reading_drops_the_mark") {
            self.forget(stored.key);
        }
        let newer = written.object.filter(|_| is_older && !self.makes("stored_is_preferred"));
        newer.unwrap_or(stored)
    }

    /// Lists the objects with a uid: those of the store, also if they have another one by now, then
    /// those that the store does not have under it.
    fn list(&mut self, uid: u8, now: Instant) -> Vec<Named> {
        let stored: Vec<Named> = self.stored.values().filter(|it| it.uid == uid).copied().collect();
        let mut listed: Vec<Named> = stored
            .iter()
            .map(|it| if self.makes("listed_as_stored") { *it } else { self.newer(*it, now) })
            .collect();
        if self.include_adds && !self.makes("added_is_not_listed") {
            let of_the_store = |key: u8| stored.iter().any(|it| it.key == key);
            let all = self.written.iter().map(|it| it.key);
            let added: Vec<u8> = all.filter(|key| !of_the_store(*key)).collect();
            for key in added {
                let object = self.look(key, now).and_then(|written| written.object);
                listed.extend(object.filter(|it| it.uid == uid || self.makes("others_are_listed")));
            }
        }
        listed
    }

    fn wrote(&mut self, object: &Named, now: Instant) {
        if let Some(known) = self.look(object.key, now) {
            let is_news = known.version <= object.version || self.makes("older_is_written");
            let same = known.version == object.version || known.uid == object.uid;
            let deleted = known.object.is_none() && same && !self.makes("deleted_is_written");
            if !is_news || deleted {
                return;
            }
        }
        self.remember(object, Some(*object), now);
    }

    fn seen(&mut self, object: &Named, now: Instant) {
        let known = self.look(object.key, now);
        let caught_up = known.is_some_and(|known| known.version <= object.version);
        if (caught_up || self.makes("seen_forgets_the_newer"))
            && !self.makes("seen_is_not_forgotten")
        {
            self.forget(object.key);
        }
    }

    fn gone(&mut self, object: &Named, now: Instant) {
        let known = self.look(object.key, now);
        let next = known.is_some_and(|it| it.version > object.version && it.uid != object.uid);
        if next && !self.makes("gone_forgets_the_next") {
            return;
        }
        self.remember(object, None, now);
        if self.makes("no_mark_is_left") {
            self.forget(object.key);
        }
    }

    /// An object was deleted, of which only the key is known.
    fn lost(&mut self, key: u8) {
        if !self.makes("lost_is_remembered") {
            self.forget(key);
        }
    }

    fn remember(&mut self, of: &Named, object: Option<Named>, now: Instant) {
        let Named { key, uid, version } = *of;
        self.forget(key);
        if self.written.len() >= CAPACITY && !self.makes("all_are_remembered") {
            self.written.remove(if self.makes("newer_is_forgotten") { CAPACITY - 1 } else { 0 });
        }
        self.written.push(Written { key, object, uid, version, until: now + TIME });
    }
}
