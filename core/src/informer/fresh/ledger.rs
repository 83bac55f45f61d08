//! Writes of this client that it may not see yet.

use std::collections::BTreeMap;

use super::state::View;

/// The last writes to one key.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(in crate::informer) struct Written {
    /// The version of the last write.
    pub(in crate::informer) version: u64,
    /// The object that was deleted last.
    pub(in crate::informer) deleted: Option<Deleted>,
    /// How often a list had gone back, or was about to, when the last of them was noted.
    rollbacks: u64,
}

impl Written {
    /// Tells whether a list has gone back since it was noted, to a state without it: the server may
    /// have lost it. A write that was noted since then is only not visible yet.
    fn is_lost(&self, at: &View) -> bool {
        self.rollbacks < at.last_rollback && self.version > at.version
    }
}

/// An object that was deleted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::informer) struct Deleted {
    pub(in crate::informer) uid: String,
    /// The version of its last state, as far as the client knew.
    version: u64,
}

/// Writes, by the keys of their objects. Visible ones are forgotten now and then, so that a client
/// that writes and never reads does not use more and more memory.
#[derive(Clone, Debug)]
pub(in crate::informer) struct Ledger {
    written: BTreeMap<String, Written>,
    /// The newest version of the store at which a note was forgotten. A store that goes back to an
    /// older version may lack the write of that note.
    seen: u64,
    /// At this number of writes, visible ones are looked for and forgotten.
    full: usize,
    /// The least value of `full`: so few notes need little memory.
    few: usize,
    /// How often a list had gone back when lost writes were forgotten last.
    rollbacks: u64,
}

impl Ledger {
    pub(in crate::informer) fn new(few: usize) -> Self {
        Self { written: BTreeMap::new(), seen: 0, full: few, few, rollbacks: 0 }
    }

    /// Notes a write, with the store at `at`. The version of a key goes back only after a list has.
    /// Of two deleted objects with the same name, the one with the newer version was deleted last.
    pub(in crate::informer) fn note(
        &mut self,
        key: String,
        version: u64,
        deleted: Option<&str>,
        at: &View,
    ) {
        let written = self.written.entry(key).or_default();
        if written.is_lost(at) {
            *written = Written::default();
        }
        written.rollbacks = written.rollbacks.max(at.rollbacks); // it may be noted late
        written.version = written.version.max(version);
        let is_last = written.deleted.as_ref().is_none_or(|it| it.version <= version);
        if let Some(uid) = deleted.filter(|_| is_last) {
            written.deleted = Some(Deleted { uid: uid.to_owned(), version });
        }
    }

    pub(in crate::informer) fn get(&self, key: &str) -> Option<Written> {
        self.written.get(key).cloned()
    }

    /// Returns the version that a store needs to show all forgotten notes.
    pub(in crate::informer) const fn seen(&self) -> u64 {
        self.seen
    }

    /// Returns the newest written version, and all deletions.
    pub(in crate::informer) fn all(&self) -> (u64, Vec<(String, String)>) {
        let newest = self.written.values().map(|it| it.version).max().unwrap_or_default();
        let deleted =
            |(key, it): (&String, &Written)| Some((key.clone(), it.deleted.as_ref()?.uid.clone()));
        (newest, self.written.iter().filter_map(deleted).collect())
    }

    /// Forgets the writes to a key, unless it was written again since. The store showed them at
    /// `at`. While the store is being changed, it may lack a deleted object although its version
    /// does not say so yet, and a list may still bring the object back: then the note stays until
    /// the next look.
    pub(in crate::informer) fn forget(&mut self, key: &str, written: &Written, at: &View) {
        let is_settled = written.deleted.is_none() || !at.is_applying;
        if is_settled && self.written.get(key) == Some(written) {
            self.written.remove(key);
            self.seen = self.seen.max(at.version);
        }
    }

    /// Forgets the writes that a store lacks at `at`, if a list has gone back since this was last
    /// asked: the server may have lost them. Tells whether a list has.
    pub(in crate::informer) fn forget_lost(&mut self, at: &View) -> bool {
        if std::mem::replace(&mut self.rollbacks, at.rollbacks) == at.rollbacks {
            return false;
        }
        self.written.retain(|_, it| !it.is_lost(at));
        self.seen = self.seen.min(at.version);
        true
    }

    /// Returns a copy of all entries when it is time to look for visible ones. The caller then
    /// [forgets](Self::forget) those.
    pub(in crate::informer) fn look(&mut self) -> Vec<(String, Written)> {
        if self.written.len() < self.full {
            return Vec::new();
        }
        self.full = 2 * self.written.len();
        self.written.iter().map(|(key, it)| (key.clone(), it.clone())).collect()
    }

    /// Ends a look, and sets the size for the next one.
    pub(in crate::informer) fn looked(&mut self) {
        self.full = (2 * self.written.len()).max(self.few);
    }

    #[cfg(test)]
    pub(in crate::informer) fn len(&self) -> usize {
        self.written.len()
    }
}
