//! The state before an event: the store's version, the server's objects, and the waiting clients.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_core::delta_fifo::Delta;
use seatrial_core::informer::fresh::{self, AtLeast, Part, Turn};
use seatrial_core::machine::Step;
use seatrial_core::ordered_fifo::Event as Queued;
use seatrial_core::runtime::Instant;

use super::shelf::{News, Note, Object, Op, Shelf, Wish};
use super::{Event, OwnWrites};
use crate::trial::{self, What};

/// The wait of a client: its wish, and all that it had written when it asked.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) wish: Wish,
    pub(super) until: Instant,
    /// The version that the store must have.
    pub(super) version: u64,
    /// Objects that must be gone: keys and uids.
    pub(super) gone: BTreeMap<String, String>,
}

/// The oldest and the newest refused version of each object.
type Refused = BTreeMap<String, (u64, u64)>;

/// The state before an event, derived from the history.
#[derive(Clone, Debug, Default)]
pub(super) struct Book {
    pub(super) now: Instant,
    /// The version of the store, as the rules were told.
    pub(super) version: u64,
    pub(super) turns: u64,
    pub(super) refused: Refused,
    pub(super) has_synced: bool,
    pub(super) is_over: bool,
    /// Calls that sleep, by their threads.
    pub(super) asleep: BTreeMap<u8, fresh::Op>,
    /// The store's content, and its version.
    pub(super) store: Shelf,
    pub(super) stored: u64,
    /// The objects of the server, each set with the version from which it holds.
    server: Vec<(u64, Vec<Object>)>,
    written: BTreeMap<String, u64>,
    deleted: BTreeMap<String, String>,
    /// The current wait of each thread.
    pub(super) asks: BTreeMap<u8, Asked>,
}

/// Returns the names and versions of those objects that the wish covers.
fn wanted<'a>(objects: impl Iterator<Item = &'a Object>, wish: &Wish) -> BTreeSet<(String, u64)> {
    let key = match wish {
        Wish::OneAtLeast(key, _) | Wish::OneWritten(key) => Some(key),
        Wish::AllAtLeast(_) | Wish::AllWritten => None,
    };
    let is_wanted = |object: &&Object| key.is_none_or(|key| object.name() == key);
    objects.filter(is_wanted).map(|it| (it.name().to_owned(), it.version)).collect()
}

impl Book {
    /// Whether a refused state is missing from a part of the store.
    fn lacks(&self, part: &Part) -> bool {
        let lacks = |(key, (oldest, _)): (&String, &(u64, u64))| {
            *oldest <= part.version && part.key.as_ref().is_none_or(|wanted| wanted == key)
        };
        self.refused.iter().any(lacks)
    }

    /// Whether the rules were told everything that a call waits for.
    pub(super) fn is_told(&self, call: &fresh::Op) -> bool {
        match call {
            fresh::Op::AtLeast(AtLeast { version, part, .. }) => {
                self.version >= *version && !part.as_ref().is_some_and(|part| self.lacks(part))
            }
            fresh::Op::Turn(Turn { after, .. }) => self.turns > *after,
            fresh::Op::WaitForSync(_) => self.has_synced,
            _ => true,
        }
    }

    /// Whether the server had these objects at the version that the client asked for, or later.
    pub(super) fn is_new_enough(&self, asked: &Asked, told: &[Object]) -> bool {
        let told = wanted(told.iter(), &asked.wish);
        let ends = self.server.iter().skip(1).map(|(from, _)| *from).chain([u64::MAX]);
        let mut states = self.server.iter().zip(ends);
        states.any(|((_, all), end)| end > asked.version && wanted(all.iter(), &asked.wish) == told)
    }

    /// Whether the store has everything that a client waits for.
    pub(super) fn is_there(&self, asked: &Asked) -> bool {
        let key = match &asked.wish {
            Wish::OneAtLeast(key, _) | Wish::OneWritten(key) => Some(key.clone()),
            Wish::AllAtLeast(_) | Wish::AllWritten => None,
        };
        let is_gone = |(key, uid): (&String, &String)| {
            self.store.objects.get(key).is_none_or(|it| it.uid != *uid)
        };
        self.stored >= asked.version
            && !self.lacks(&Part { key, version: asked.version })
            && asked.gone.iter().all(is_gone)
    }

    /// Whether the client has written any object.
    pub(super) fn has_written(&self) -> bool {
        !self.written.is_empty()
    }

    fn asked(&self, wish: &Wish, until: Instant) -> Asked {
        let newest = self.written.values().max().copied().unwrap_or_default();
        let (version, gone) = match wish {
            Wish::OneAtLeast(_, version) | Wish::AllAtLeast(version) => (*version, BTreeMap::new()),
            Wish::OneWritten(key) => {
                let gone = self.deleted.get_key_value(key);
                let gone = gone.map(|(key, uid)| (key.clone(), uid.clone()));
                (self.written.get(key).copied().unwrap_or_default(), gone.into_iter().collect())
            }
            Wish::AllWritten => (newest, self.deleted.clone()),
        };
        Asked { wish: wish.clone(), until, version, gone }
    }

    fn stored(&mut self, news: &News) {
        self.store.apply(news);
        match news {
            Queued::ReplacedAll(list) => {
                self.stored = list.resource_version.parse().expect("a version is a number");
            }
            Queued::Bookmark(mark) => {
                let version = mark.resource_version.parse().expect("a version is a number");
                self.stored = self.stored.max(version);
            }
            Queued::Delta(Delta::Deleted(last)) => {
                self.stored = self.stored.max(last.object().map_or(0, |it| it.version));
            }
            Queued::Delta(Delta::Updated(object) | Delta::Added(object)) => {
                self.stored = self.stored.max(object.version);
            }
            Queued::Delta(_) | Queued::SyncAll => {}
        }
    }

    fn told(&mut self, call: &fresh::Op) {
        match call {
            fresh::Op::Advance(to) => {
                self.version = self.version.max(to.0.unwrap_or_default());
                self.turns += 1;
            }
            fresh::Op::Prepare(to) => self.version = self.version.min(to.0.unwrap_or(u64::MAX)),
            fresh::Op::Refuse(states) => {
                for (key, version) in &states.0 {
                    let known = self.refused.entry(key.clone()).or_insert((*version, *version));
                    *known = (known.0.min(*version), known.1.max(*version));
                }
            }
            fresh::Op::Stored(fresh::Stored::List(at)) => {
                self.refused.retain(|_, (_, newest)| *newest > *at);
            }
            fresh::Op::Stored(fresh::Stored::Objects(states)) => {
                for (key, version) in states {
                    if self.refused.get(key).is_some_and(|(_, newest)| newest <= version) {
                        self.refused.remove(key);
                    }
                }
            }
            fresh::Op::Synced(_) => self.has_synced = true,
            fresh::Op::Over(_) => self.is_over = true,
            _ => {}
        }
    }

    fn noted(&mut self, thread: u8, note: &Note) {
        match note {
            Note::Server(version, objects) => self.server.push((*version, objects.clone())),
            Note::Wrote(object) => drop(self.wrote(object)),
            Note::Deleted(object) => {
                let name = self.wrote(object);
                self.deleted.insert(name, object.uid.clone());
            }
            Note::Asks(wish, until) => drop(self.asks.insert(thread, self.asked(wish, *until))),
            Note::Told(..) | Note::GivesUp => drop(self.asks.remove(&thread)),
        }
    }

    fn wrote(&mut self, object: &Object) -> String {
        let newest = self.written.entry(object.name().to_owned()).or_default();
        *newest = object.version.max(*newest);
        object.name().to_owned()
    }
}

impl trial::Ledger<OwnWrites> for Book {
    fn reach(&mut self, event: &Event) {
        self.now = event.at;
    }

    fn apply(&mut self, event: &Event) {
        match &event.what {
            What::Step { op: Op::Fresh(call), outcome: Step::Wait { .. }, .. } => {
                self.asleep.insert(event.thread, call.clone());
            }
            What::Cancel { op: Op::Fresh(_) } => drop(self.asleep.remove(&event.thread)),
            What::Step { op: Op::Fresh(call), .. } => {
                self.asleep.remove(&event.thread);
                self.told(call);
            }
            What::Step { op: Op::Apply(news), .. } => self.stored(news),
            What::Step { op: Op::Note(note), .. } => self.noted(event.thread, note),
            _ => {}
        }
    }
}
