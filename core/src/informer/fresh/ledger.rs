//! What this client wrote and may not see yet.

use std::collections::BTreeMap;

use super::state::View;

/// What was written of one key.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(in crate::informer) struct Written {
    /// The version of the last write.
    pub(in crate::informer) version: u64,
    /// The object that was deleted last.
    pub(in crate::informer) deleted: Option<Deleted>,
}

/// An object that was deleted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::informer) struct Deleted {
    pub(in crate::informer) uid: String,
    /// The version of its last state, as far as that was known.
    version: u64,
}

/// Writes, by the keys of their objects. Those that are visible are forgotten now and then, so a
/// client that writes and never asks needs no memory without end.
#[derive(Clone, Debug)]
pub(in crate::informer) struct Ledger {
    written: BTreeMap<String, Written>,
    /// The newest version of the store at which a note was forgotten. A store that goes back behind
    /// it may lack what the note was about.
    seen: u64,
    /// The number of writes at which those that are visible are looked for and forgotten.
    full: usize,
    /// So few are no burden.
    few: usize,
}

impl Ledger {
    pub(in crate::informer) fn new(few: usize) -> Self {
        Self { written: BTreeMap::new(), seen: 0, full: few, few }
    }

    /// Takes note of a write: versions of a key never go back, and of two objects of one name the
    /// one with the older version was deleted first.
    pub(in crate::informer) fn note(&mut self, key: String, version: u64, deleted: Option<&str>) {
        let written = self.written.entry(key).or_default();
        written.version = written.version.max(version);
        let is_last = written.deleted.as_ref().is_none_or(|it| it.version <= version);
        if let Some(uid) = deleted.filter(|_| is_last) {
            written.deleted = Some(Deleted { uid: uid.to_owned(), version });
        }
    }

    pub(in crate::informer) fn get(&self, key: &str) -> Option<Written> {
        self.written.get(key).cloned()
    }

    /// Returns the version that a store must have to show all notes that are forgotten.
    pub(in crate::informer) const fn seen(&self) -> u64 {
        self.seen
    }

    /// Returns the newest version that was written, and all deletions.
    pub(in crate::informer) fn all(&self) -> (u64, Vec<(String, String)>) {
        let newest = self.written.values().map(|it| it.version).max().unwrap_or_default();
        let deleted =
            |(key, it): (&String, &Written)| Some((key.clone(), it.deleted.as_ref()?.uid.clone()));
        (newest, self.written.iter().filter_map(deleted).collect())
    }

    /// Forgets what was written of a key, unless that was written anew. A store showed it that is so
    /// far now. One that is being changed may be without a deleted object although its version does not
    /// say so, and be taken back behind that: the note stays until the next look.
    pub(in crate::informer) fn forget(&mut self, key: &str, written: &Written, at: &View) {
        let is_settled = written.deleted.is_none() || !at.changes;
        if is_settled && self.written.get(key) == Some(written) {
            self.written.remove(key);
            self.seen = self.seen.max(at.version);
        }
    }

    /// Returns a copy of all entries when it is time to look for visible ones, which are then
    /// [forgotten](Self::forget).
    pub(in crate::informer) fn look(&mut self) -> Vec<(String, Written)> {
        if self.written.len() < self.full {
            return Vec::new();
        }
        self.full = 2 * self.written.len();
        self.written.iter().map(|(key, it)| (key.clone(), it.clone())).collect()
    }

    /// Says that a look is over.
    pub(in crate::informer) fn looked(&mut self) {
        self.full = (2 * self.written.len()).max(self.few);
    }

    #[cfg(test)]
    pub(in crate::informer) fn len(&self) -> usize {
        self.written.len()
    }
}
