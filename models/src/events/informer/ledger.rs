//! The state before an event: of the server, of each handler, and of the run.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use seatrial_core::runtime::Instant;

use super::book::{Complaint, Entry, Number, Told};
use super::{Event, Informer};
use crate::events::fixtures::entry;
use crate::trial;

/// The state of a handler.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub(super) wants: Option<Duration>,
    pub(super) accepted: bool,
    /// The version of each object that the handler was told last.
    pub(super) objects: BTreeMap<u16, u64>,
    /// The objects that the server had when the handler was added.
    pub(super) first: BTreeSet<u16>,
    /// Objects of which a call has returned without a panic.
    pub(super) seen: BTreeSet<u16>,
    /// The object of the current call, and when the call began.
    pub(super) call: Option<(u16, Instant)>,
    /// The duration of its last call.
    pub(super) took: Duration,
    /// The number of its calls.
    pub(super) calls: u64,
    /// The time of its last panic.
    pub(super) panicked: Option<Instant>,
    /// The number of its panics, and of the reports about them.
    pub(super) panics: u32,
    pub(super) panics_reported: u32,
    /// Whether its last call was slow while many changes waited, and no report has come yet.
    pub(super) owes_slow: bool,
    /// When it was last shown unchanged objects, and when it was added.
    pub(super) shown: Option<Instant>,
    pub(super) since: Option<Instant>,
    /// Whether its removal has begun, is over, and was waited for; then the calls that began after
    /// it.
    pub(super) leaves: bool,
    pub(super) removed: bool,
    pub(super) awaited: bool,
    pub(super) calls_behind: u32,
    pub(super) gone: bool,
    /// Whether a caller waits until the handler has synced.
    pub(super) awaits_sync: bool,
}

/// The state before an event.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// The objects of the server, by key.
    pub(super) server: BTreeMap<u16, u64>,
    /// The last version of each object that the server deleted, also if there is a new one.
    pub(super) deleted: BTreeMap<u16, u64>,
    /// When the server last changed.
    pub(super) changed: Option<Instant>,
    pub(super) handlers: BTreeMap<Number, Known>,
    /// The objects that the server had when the first run began.
    pub(super) first: BTreeSet<u16>,
    pub(super) began: Option<Instant>,
    /// The number of refused requests in a row, and the time of the last one.
    pub(super) failures: u32,
    pub(super) failed: Option<Instant>,
    pub(super) has_failed: bool,
    pub(super) stops: Option<Instant>,
    pub(super) stopped: bool,
    /// When the last call of a handler ended.
    pub(super) last_return: Option<Instant>,
    /// The newest stored version of each object, and how often it was stored after the end.
    pub(super) stored: BTreeMap<u16, u64>,
    pub(super) stored_behind: BTreeMap<u16, u32>,
    pub(super) index_panicked: bool,
    /// Objects in versions that an index function refused.
    pub(super) refused: BTreeSet<(u16, u64)>,
    pub(super) run_panicked: bool,
    /// How many runs were accepted.
    pub(super) runs: u32,
    pub(super) open: u32,
}

impl Known {
    fn called(&mut self, key: u16, told: &Told, at: Instant) {
        match told {
            Told::Added { version, .. } => drop(self.objects.insert(key, *version)),
            Told::Updated { old, new } => {
                if old == new {
                    self.shown = Some(at);
                }
                self.objects.insert(key, *new);
            }
            Told::Deleted => drop(self.objects.remove(&key)),
        }
        self.calls += 1;
        self.calls_behind += u32::from(self.removed);
        self.call = Some((key, at));
    }

    fn returned(&mut self, well: bool, at: Instant, server: usize) {
        if let Some((key, since)) = self.call.take() {
            self.took = at.since(since);
            if well {
                self.seen.insert(key);
            } else {
                (self.panicked, self.panics) = (Some(at), self.panics + 1);
            }
        }
        let waiting = (server as u64).saturating_sub(self.calls);
        self.owes_slow = self.took >= Duration::from_millis(100) && waiting > 1024;
    }

    /// Whether the handler must be told every change.
    pub(super) fn listens(&self) -> bool {
        self.accepted && !self.leaves && !self.gone
    }
}

impl Seen {
    fn of_handler(&mut self, number: Number, entry: &Entry, at: Instant) {
        let of = self.handlers.entry(number).or_default();
        match entry {
            Entry::Adds(_, wants) => {
                of.first = self.server.keys().copied().collect();
                (of.wants, of.since) = (*wants, Some(at));
            }
            Entry::Added(_, accepted) => of.accepted = *accepted,
            Entry::Calls { key, told, .. } => of.called(*key, told, at),
            Entry::Returns(_, well) => {
                of.returned(*well, at, self.server.len());
                self.last_return = Some(at);
            }
            Entry::Reported(_, Complaint::Panicked) => of.panics_reported += 1,
            Entry::Reported(_, Complaint::Slow) => of.owes_slow = false,
            Entry::Gone(..) => of.gone = true,
            Entry::AwaitsSync(_) => of.awaits_sync = true,
            Entry::Synced(..) => of.awaits_sync = false,
            Entry::Removes(_) => of.leaves = true,
            Entry::Removed(_, waited) => (of.removed, of.awaited) = (true, of.awaited || *waited),
            _ => {}
        }
    }

    /// Whether the store accepts an object in the state that the server has now.
    pub(super) fn accepts(&self, key: u16) -> bool {
        let version = self.server.get(&key);
        version.is_none_or(|version| !self.refused.contains(&(key, *version)))
    }

    fn stored(&mut self, key: u16, version: u64) {
        let newest = self.stored.entry(key).or_default();
        if version > *newest {
            *newest = version;
            if self.stopped {
                *self.stored_behind.entry(key).or_default() += 1;
            }
        }
    }
}

impl trial::Ledger<Informer> for Seen {
    fn apply(&mut self, event: &Event) {
        let Some(entry) = entry(event) else { return };
        let at = event.at;
        match entry {
            Entry::Has(key, version) => {
                match version {
                    0 => self.deleted.extend(self.server.remove_entry(key)),
                    version => drop(self.server.insert(*key, *version)),
                }
                self.changed = Some(at);
            }
            Entry::Begins(count) => {
                self.server = (0..*count).map(|key| (key, u64::from(key) + 1)).collect();
            }
            Entry::Asked { refused: true } => {
                (self.failures, self.failed) = (self.failures + 1, Some(at));
                self.has_failed = true;
            }
            Entry::Asked { refused: false } => (self.failures, self.failed) = (0, None),
            Entry::Stored(key, version) => self.stored(*key, *version),
            Entry::IndexPanics => self.index_panicked = true,
            Entry::IndexRefuses(key, version) => drop(self.refused.insert((*key, *version))),
            Entry::RunPanicked => self.run_panicked = true,
            Entry::Runs if self.began.is_none() => {
                self.began = Some(at);
                self.first = self.server.keys().copied().collect();
            }
            Entry::Ran(accepted) => self.runs += u32::from(*accepted),
            Entry::Stops => self.stops = Some(at),
            Entry::Stopped => self.stopped = true,
            Entry::Open(open) => self.open = *open,
            Entry::Adds(number, _)
            | Entry::Added(number, _)
            | Entry::Calls { number, .. }
            | Entry::Returns(number, _)
            | Entry::Reported(number, _)
            | Entry::Gone(number, _)
            | Entry::AwaitsSync(number)
            | Entry::Synced(number, _)
            | Entry::Removes(number)
            | Entry::Removed(number, _) => self.of_handler(*number, entry, at),
            Entry::Runs => {}
        }
    }
}
