//! The state before an event: the members that callers got, and the starts and ends.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_core::runtime::Instant;

use super::book::{Entry, Name, Number};
use super::{Event, Registry};
use crate::events::fixtures::entry;
use crate::trial;

/// The state of a member.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub(super) name: Option<Name>,
    /// Whether it was in the registry at a start.
    pub(super) is_started: bool,
    pub(super) runs: bool,
    pub(super) lists: bool,
    pub(super) ended: bool,
    pub(super) gone: bool,
    /// Whether its removal has begun.
    pub(super) leaves: bool,
}

/// A caller that waits for first lists.
#[derive(Clone, Debug)]
pub(super) struct Awaits {
    pub(super) until: Instant,
    /// The members in the registry when the wait began.
    pub(super) all: BTreeSet<Number>,
    /// The names of the members that had their lists by then.
    pub(super) had: BTreeSet<Name>,
}

/// The state before an event, derived from the history.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) members: BTreeMap<Number, Known>,
    /// The member with each name, if a caller has got it.
    pub(super) named: BTreeMap<Name, Number>,
    /// The open requests of each thread, the innermost last; true if the registry was over before.
    pub(super) gets: BTreeMap<u8, Vec<bool>>,
    pub(super) awaits: BTreeMap<u8, Awaits>,
    /// The member that each thread is removing.
    pub(super) removes: BTreeMap<u8, Option<Number>>,
    /// Threads that are stopping all members.
    pub(super) stops: BTreeSet<u8>,
    /// How often a stop of all members has begun,
    pub(super) ends: u32,
    /// and whether one is over.
    pub(super) is_over: bool,
    pub(super) is_dropped: bool,
    pub(super) has_removed: bool,
    pub(super) has_panicked: bool,
}

impl Seen {
    /// Returns a member that runs.
    pub(super) fn running(&self) -> Option<Number> {
        self.members.iter().find(|(_, it)| it.runs && !it.ended).map(|(number, _)| *number)
    }

    /// Returns a member that still has an owner.
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
            Entry::Started => {}
        }
    }
}
