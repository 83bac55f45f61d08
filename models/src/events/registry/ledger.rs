//! What is known before an event: who got which member, what was started, what has ended.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_core::runtime::Instant;

use super::book::{Entry, Name, Number};
use super::{Event, Registry};
use crate::trial::{self, What};

/// What is known of a member.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub(super) name: Option<Name>,
    /// It was there when something was started.
    pub(super) is_started: bool,
    pub(super) runs: bool,
    pub(super) lists: bool,
    pub(super) ended: bool,
    pub(super) gone: bool,
    /// It is being removed, or was.
    pub(super) leaves: bool,
}

/// Somebody who waits for first lists.
#[derive(Clone, Debug)]
pub(super) struct Awaits {
    pub(super) until: Instant,
    /// Those that were there when it began.
    pub(super) all: BTreeSet<Number>,
    /// The names of those that had their lists already.
    pub(super) had: BTreeSet<Name>,
}

/// What is known before an event.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) members: BTreeMap<Number, Known>,
    /// Which member has which name, as far as somebody got it.
    pub(super) named: BTreeMap<Name, Number>,
    /// What threads ask for, the last inside the others, and whether all was over before.
    pub(super) gets: BTreeMap<u8, Vec<bool>>,
    pub(super) awaits: BTreeMap<u8, Awaits>,
    /// What threads remove.
    pub(super) removes: BTreeMap<u8, Option<Number>>,
    /// Threads that are stopping all.
    pub(super) stops: BTreeSet<u8>,
    /// The end of all was asked for, so often,
    pub(super) ends: u32,
    /// and has come.
    pub(super) is_over: bool,
    pub(super) is_dropped: bool,
    pub(super) has_removed: bool,
    pub(super) has_panicked: bool,
}

/// Returns what was written down with an event.
pub(super) fn entry(event: &Event) -> Option<&Entry> {
    match &event.what {
        What::Step { op, .. } => Some(op),
        _ => None,
    }
}

impl Seen {
    /// Returns a member that runs.
    pub(super) fn running(&self) -> Option<Number> {
        self.members.iter().find(|(_, it)| it.runs && !it.ended).map(|(number, _)| *number)
    }

    /// Returns a member that somebody has still.
    pub(super) fn held(&self) -> Option<Number> {
        self.members.iter().find(|(_, it)| !it.gone).map(|(number, _)| *number)
    }

    fn of(&mut self, number: Number) -> &mut Known {
        self.members.entry(number).or_default()
    }

    fn awaits(&self, until: Instant) -> Awaits {
        let all: BTreeSet<_> = self.named.values().copied().collect();
        let had = |number| self.members.get(number).filter(|it| it.lists).and_then(|it| it.name);
        Awaits { until, had: all.iter().filter_map(had).collect(), all }
    }

    fn got(&mut self, thread: u8, name: Name, number: Option<Number>) {
        self.gets.entry(thread).or_default().pop();
        if let Some(number) = number {
            self.named.insert(name, number);
            self.of(number).name = Some(name);
        }
    }

    fn starts(&mut self) {
        for number in self.named.values() {
            self.members.entry(*number).or_default().is_started = true;
        }
    }

    fn removes(&mut self, thread: u8, name: Name) {
        let number = self.named.remove(name);
        if let Some(number) = number {
            self.of(number).leaves = true;
        }
        self.removes.insert(thread, number);
        self.has_removed = true;
    }
}

impl trial::Ledger<Registry> for Seen {
    fn apply(&mut self, event: &Event) {
        let (Some(entry), thread) = (entry(event), event.thread) else { return };
        match entry {
            Entry::Gets(_) => self.gets.entry(thread).or_default().push(self.is_over),
            Entry::Got(name, number) => self.got(thread, name, *number),
            Entry::Starts => self.starts(),
            Entry::AwaitsSync(until) => drop(self.awaits.insert(thread, self.awaits(*until))),
            Entry::Synced(_) => drop(self.awaits.remove(&thread)),
            Entry::Removes(name) => self.removes(thread, name),
            Entry::Removed(name, _) => {
                self.removes.remove(&thread);
                self.named.remove(name);
            }
            Entry::ShutsDown => {
                self.stops.insert(thread);
                self.ends += 1;
            }
            Entry::ShutDown { .. } => {
                self.stops.remove(&thread);
                self.is_over = true;
            }
            Entry::Dropped => self.is_dropped = true,
            Entry::Runs(number) => self.of(*number).runs = true,
            Entry::Lists(number) => self.of(*number).lists = true,
            Entry::Panics(_) => self.has_panicked = true,
            Entry::Ends(number) => self.of(*number).ended = true,
            Entry::Gone(number) => self.of(*number).gone = true,
            Entry::Which | Entry::Started => {}
        }
    }
}
