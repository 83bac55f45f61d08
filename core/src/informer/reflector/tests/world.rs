//! A server that misbehaves in every way that a client must survive, and a run of a reflector
//! against it: without threads, on its own clock (`cache` section 23).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::informer::list_watch::{
    Event, ListOptions, Page, SourceError, SourceKind, WatchOptions,
};
use crate::informer::reflector::{Config, Delivery, Got, Reflector, Want};
use crate::polling::ExponentialDelays;
use crate::runtime::{Ambient, Instant, Manual};
use crate::store::{Described, Metadata};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Thing {
    pub(super) name: &'static str,
    pub(super) version: String,
}

pub(super) type Object = Arc<Thing>;

impl Described for Thing {
    fn metadata(&self) -> Option<Metadata<'_>> {
        let (name, resource_version) = (self.name, self.version.as_str());
        Some(Metadata { namespace: "", name, uid: "", resource_version })
    }
}

pub(super) const NAMES: [&str; 3] = ["a", "b", "c"];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Added,
    Modified,
    Deleted,
}

/// Everything that ever happened, and how much of it the server has forgotten.
pub(super) struct Server {
    log: Vec<(u64, Kind, &'static str)>,
    revision: u64,
    compacted: u64,
}

impl Server {
    fn new() -> Self {
        Self { log: Vec::new(), revision: 10, compacted: 0 }
    }

    /// The objects at a revision, with the revisions of their last changes.
    pub(super) fn at(&self, revision: u64) -> BTreeMap<&'static str, u64> {
        let mut objects = BTreeMap::new();
        for (at, kind, name) in self.log.iter().filter(|(at, ..)| *at <= revision) {
            if *kind == Kind::Deleted {
                objects.remove(name)
            } else {
                objects.insert(*name, *at)
            };
        }
        objects
    }

    fn change(&mut self, random: u64) {
        let name = NAMES[(random % 3) as usize];
        let exists = self.at(self.revision).contains_key(name);
        self.revision += 1 + random / 3 % 2; // other collections take revisions, too
        let kind = match (exists, random / 6 % 2) {
            (false, _) => Kind::Added,
            (true, 0) => Kind::Modified,
            (true, _) => Kind::Deleted,
        };
        self.log.push((self.revision, kind, name));
    }
}

struct Open {
    /// The rest of the existing objects.
    initial: Vec<Event<Object>>,
    at: u64,
}

/// A record of the run, for later checks.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) lists: Vec<(u64, ListOptions)>,
    pub(super) watches: Vec<(u64, WatchOptions)>,
    pub(super) view: BTreeMap<&'static str, u64>,
    pub(super) failures: u32,
    pub(super) sleeps: u32,
    pub(super) resyncs: u32,
}

pub(super) struct World {
    pub(super) clock: Manual,
    pub(super) server: Server,
    pub(super) machine: Reflector<Object>,
    pub(super) seen: Seen,
    /// How often the server may still misbehave.
    trouble: u32,
    changes: u32,
    streams: bool,
    open: Option<Open>,
}

fn error(kind: SourceKind) -> SourceError {
    SourceError::new(kind, format!("{kind:?}"))
}

fn number(version: &str) -> u64 {
    version.parse().expect("a version is a number")
}

impl World {
    pub(super) fn new(seed: u64, config: Config, trouble: u32, changes: u32) -> Self {
        let clock = Manual::seeded(seed);
        let mut server = Server::new();
        for _ in 0..clock.entropy() % 4 {
            server.change(clock.entropy());
        }
        let (initial, max) = (Duration::from_millis(800), Duration::from_secs(30));
        let reset = Duration::from_secs(120);
        let delays = ExponentialDelays::new(initial, max, reset, 2.0, 1.0, clock.now());
        let machine = Reflector::new(config, true, delays);
        let (seen, streams) = (Seen::default(), !clock.entropy().is_multiple_of(4));
        Self { clock, server, machine, seen, trouble, changes, streams, open: None }
    }

    fn below(&self, options: u64) -> u64 {
        self.clock.entropy() % options
    }

    /// Whether the server misbehaves now.
    fn is_bad(&mut self) -> bool {
        let bad = self.trouble > 0 && self.below(3) == 0;
        self.trouble -= u32::from(bad);
        bad
    }

    fn stir(&mut self) {
        if self.changes > 0 && self.below(2) == 0 {
            self.changes -= 1;
            let random = self.clock.entropy();
            self.server.change(random);
            if self.below(4) == 0 && self.trouble > 0 {
                self.trouble -= 1;
                self.server.compacted = self.server.revision - self.below(2);
            }
        }
    }

    /// Runs until nothing more will change and everything was told; this must happen at some time.
    pub(super) fn run(&mut self) {
        let mut want = self.machine.begin(&self.clock);
        for _ in 0..10_000 {
            self.stir();
            let idle = matches!(want, Want::Next { .. })
                && self.open.as_ref().is_some_and(|open| open.initial.is_empty())
                && self.open.as_ref().map(|open| open.at) == Some(self.server.revision);
            if idle && self.trouble == 0 && self.changes == 0 {
                return;
            }
            let got = self.answer(want);
            want = self.machine.next(got, &self.clock);
        }
        panic!("it never comes to rest");
    }

    pub(super) fn answer(&mut self, want: Want<Object>) -> Got<Object> {
        if matches!(want, Want::List(_) | Want::Watch(_) | Want::Sleep { .. }) {
            self.open = None;
        }
        match want {
            Want::List(options) => {
                self.seen.lists.push((self.clock.now().as_nanos(), options.clone()));
                Got::Listed(self.list(&options))
            }
            Want::Watch(options) => {
                self.seen.watches.push((self.clock.now().as_nanos(), options.clone()));
                Got::Opened(self.watch(&options))
            }
            Want::Next { resync } => self.next(resync),
            Want::Deliver(delivery) => {
                self.deliver(delivery);
                Got::Delivered(Ok(()))
            }
            Want::Sleep { until, failed } => {
                self.seen.failures += u32::from(failed.is_some());
                let pause = until.since(self.clock.now());
                assert!(pause >= Duration::from_millis(800), "a pause has a length: {pause:?}");
                self.seen.sleeps += 1;
                self.clock.advance(until.since(self.clock.now()));
                Got::Slept
            }
        }
    }

    pub(super) fn clock_seconds(&self) -> u64 {
        self.clock.now().as_nanos() / 1_000_000_000
    }

    fn any_error(&self) -> SourceError {
        use SourceKind::{Eof, Internal, Other, Refused, TooManyRequests};
        error([Refused, TooManyRequests, Internal, Eof, Other][self.below(5) as usize])
    }

    fn list(&mut self, options: &ListOptions) -> Result<Page<Object>, SourceError> {
        if self.is_bad() {
            return Err(self.any_error());
        }
        let newest = self.server.revision;
        let (revision, start) = match options.continue_token.split_once(' ') {
            Some((revision, start)) => (number(revision), start),
            None => match options.resource_version.as_str() {
                "" => (newest, ""),
                "0" if self.is_bad() => (10, ""), // a cache that lags
                "0" => (newest, ""),
                version if number(version) > newest => return Err(error(SourceKind::TooLarge)),
                _ if self.is_bad() => return Err(error(SourceKind::TooLarge)),
                version if number(version) < self.server.compacted && self.below(2) == 0 => {
                    return Err(error(SourceKind::Expired));
                }
                _ => (newest, ""),
            },
        };
        if !start.is_empty() && (revision < self.server.compacted || self.is_bad()) {
            return Err(error(SourceKind::Expired));
        }
        let all = self.server.at(revision);
        let mut items = all.iter().filter(|(name, _)| **name >= start);
        let limit = if options.limit == 0 { usize::MAX } else { options.limit as usize };
        let page = items.by_ref().take(limit).map(|(name, at)| thing(name, *at)).collect();
        let page = Page::whole(page, revision.to_string());
        Ok(match items.next() {
            Some((next, _)) => page.followed_by(format!("{revision} {next}")),
            None => page,
        })
    }

    fn watch(&mut self, options: &WatchOptions) -> Result<(), SourceError> {
        if options.send_initial_events && !self.streams {
            return Err(error(SourceKind::Other));
        }
        if self.is_bad() {
            let expired = self.below(2) == 0;
            return Err(if expired { error(SourceKind::Expired) } else { self.any_error() });
        }
        let newest = self.server.revision;
        let (initial, at) = match options.resource_version.as_str() {
            version if options.send_initial_events => {
                if !version.is_empty() && number(version) > newest {
                    return Err(error(SourceKind::TooLarge));
                }
                let all = self.server.at(newest);
                let mut events: Vec<_> =
                    all.iter().map(|(name, at)| Event::Added(thing(name, *at))).collect();
                let end =
                    Event::Bookmark { resource_version: newest.to_string(), ends_initial: true };
                events.push(end);
                (events, newest)
            }
            version if number(version) < self.server.compacted => {
                (vec![Event::Error(error(SourceKind::Expired))], newest)
            }
            version => (vec![], number(version)),
        };
        self.open = Some(Open { initial, at });
        Ok(())
    }

    fn next(&mut self, resync: Option<Instant>) -> Got<Object> {
        if self.is_bad() {
            let choice = self.below(6);
            let open = self.open.as_mut().expect("a stream is open");
            return match choice {
                0 | 1 => {
                    self.clock.advance(Duration::from_secs(choice * 2));
                    Got::Event(None)
                }
                2 => Got::Event(Some(Event::Error(error(SourceKind::Expired)))),
                3 => Got::Event(Some(Event::Error(self.any_error()))),
                4 => Got::Event(Some(Event::Foreign("a table".to_owned()))),
                // A late bookmark: changes since then are told again after a break.
                _ if open.initial.is_empty() => Got::Event(Some(Event::Bookmark {
                    resource_version: open.at.to_string(),
                    ends_initial: false,
                })),
                _ => Got::Event(None),
            };
        }
        let passed = Duration::from_secs(self.below(20));
        let open = self.open.as_mut().expect("a stream is open");
        if !open.initial.is_empty() {
            return Got::Event(Some(open.initial.remove(0)));
        }
        match self.server.log.iter().find(|(at, ..)| *at > open.at) {
            Some((at, kind, name)) => {
                open.at = *at;
                let object = thing(name, *at);
                Got::Event(Some(match kind {
                    Kind::Added => Event::Added(object),
                    Kind::Modified => Event::Modified(object),
                    Kind::Deleted => Event::Deleted(object),
                }))
            }
            None => {
                self.clock.advance(passed);
                if resync.is_some_and(|due| due <= self.clock.now()) {
                    return Got::ResyncDue;
                }
                let resource_version = self.server.revision.to_string();
                open.at = self.server.revision;
                Got::Event(Some(Event::Bookmark { resource_version, ends_initial: false }))
            }
        }
    }

    fn deliver(&mut self, delivery: Delivery<Object>) {
        let view = &mut self.seen.view;
        match delivery {
            Delivery::Replace(objects, version) => {
                let listed = objects.iter().map(|it| (it.name, number(&it.version))).collect();
                assert_eq!(listed, self.server.at(number(&version)), "a list is one state");
                *view = listed;
            }
            Delivery::Add(object) | Delivery::Update(object) => {
                view.insert(object.name, number(&object.version));
            }
            Delivery::Delete(object) => drop(view.remove(object.name)),
            Delivery::Bookmark(_) => {}
            Delivery::Resync => self.seen.resyncs += 1,
        }
    }
}

fn thing(name: &'static str, version: u64) -> Object {
    Arc::new(Thing { name, version: version.to_string() })
}
