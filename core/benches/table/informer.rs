//! The informer: a source that answers at once, ten handlers that count.
//!
//! *Plain* is a map under a lock, and a channel and a thread for each handler.

use std::future::{pending, ready};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use parking_lot::Mutex;
use seatrial_core::cancel::CancelToken;
use seatrial_core::informer::{
    BoxFuture, Change, Event, Informer, ListOptions, ListWatch, ObjectChange, OpenWatch, Page,
    SourceError, SourceKind, WatchOptions,
};
use seatrial_core::runtime::{Ambient as _, Instant, Runtime as _, System};
use seatrial_core::store::{Described, Metadata};

use crate::Measure;
use crate::measure::{per_item, prepared_duel, wall};
use crate::plain::{HashMap, Same};
use crate::row::Row;

pub(crate) const ROWS: &[Measure] = &[
    Measure::new("informer", "200,000 changes to 10 handlers", changes),
    Measure::new("informer", "relist of 100,000, nothing changed", relist),
];

const CHANGES: usize = 200_000;
const HANDLERS: usize = 10;
const CHANGING: usize = 1_000;
const LISTED: usize = 100_000;

#[derive(Debug)]
struct Thing {
    name: String,
    version: String,
}

type Object = Arc<Thing>;

impl Described for Thing {
    fn metadata(&self) -> Option<Metadata<'_>> {
        let Self { name, version } = self;
        Some(Metadata { namespace: "default", name, uid: name, resource_version: version })
    }
}

fn thing(number: usize, version: usize) -> Object {
    Arc::new(Thing { name: format!("object-{number:08}"), version: version.to_string() })
}

fn things(count: usize) -> Vec<Object> {
    (0..count).map(|number| thing(number, 1)).collect()
}

/// The states that come by the watch.
fn updates() -> Vec<Object> {
    (0..CHANGES).map(|number| thing(number % CHANGING, number + 2)).collect()
}

/// Serves its lists and then its watches, and nothing more.
struct Source {
    system: System,
    lists: Mutex<Vec<Vec<Object>>>,
    watches: Mutex<Vec<Vec<Event<Object>>>>,
    /// When the last list was served.
    listed: Mutex<Instant>,
}

/// Takes the next one, and leaves the others.
fn next<T>(of: &Mutex<Vec<Vec<T>>>) -> Vec<T> {
    of.lock().pop().unwrap_or_default()
}

impl ListWatch<Object> for Source {
    fn list(&self, _: ListOptions) -> BoxFuture<'_, Result<Page<Object>, SourceError>> {
        let page = Page::whole(next(&self.lists), "1");
        *self.listed.lock() = self.system.now();
        Box::pin(ready(Ok(page)))
    }

    fn watch(
        &self,
        _: WatchOptions,
    ) -> BoxFuture<'_, Result<Box<dyn OpenWatch<Object>>, SourceError>> {
        let events = Events(next(&self.watches).into_iter());
        Box::pin(ready(Ok(Box::new(events) as Box<dyn OpenWatch<Object>>)))
    }

    fn streams_lists(&self) -> bool {
        false
    }
}

struct Events(std::vec::IntoIter<Event<Object>>);

impl OpenWatch<Object> for Events {
    fn next(&mut self) -> BoxFuture<'_, Option<Event<Object>>> {
        match self.0.next() {
            Some(event) => Box::pin(ready(Some(event))),
            None => Box::pin(pending()),
        }
    }
}

/// Runs an informer until its handlers have seen enough. Returns how long after the last list all
/// of them had.
fn followed(
    source: Source,
    handlers: usize,
    enough: impl Fn(&ObjectChange<Object>, usize) -> bool + Clone + Send + 'static,
) -> Duration {
    let (system, source) = (source.system, Arc::new(source));
    let informer = Arc::new(Informer::new(&system, Arc::clone(&source) as _));
    let (done, all_done) = channel();
    for _ in 0..handlers {
        let (done, enough, mut seen) = (done.clone(), enough.clone(), 0);
        let handler = move |change: ObjectChange<Object>| {
            seen += 1;
            if enough(black_box(&change), seen) {
                let _ = done.send(system.now());
            }
        };
        assert!(informer.handle(handler).is_ok());
    }
    let token = CancelToken::new(&system);
    let running = system.spawn("informer", {
        let token = token.clone();
        move || assert!(informer.run(&token).is_ok())
    });
    let last = all_done.iter().take(handlers).max();
    token.cancel();
    assert!(system.join(running).is_ok());
    let listed = *source.listed.lock();
    last.map_or(Duration::ZERO, |last| last.since(listed))
}

fn source(lists: Vec<Vec<Object>>, watches: Vec<Vec<Event<Object>>>) -> Source {
    let (system, listed) = (System::new(), Mutex::new(Instant::ZERO));
    Source { system, lists: Mutex::new(lists), watches: Mutex::new(watches), listed }
}

fn changes(part: &'static str, row: &'static str) -> Row {
    let ours = || {
        let events = updates().into_iter().map(Event::Modified).collect();
        let source = source(vec![things(CHANGING)], vec![events]);
        followed(source, HANDLERS, |_, seen| seen == CHANGING + CHANGES)
    };
    let plain = || {
        let (first, later) = (things(CHANGING), updates());
        wall(|| Plain::default().tell(first.into_iter().chain(later)))
    };
    Row::new(part, row, prepared_duel(HANDLERS * CHANGES, ours, plain)).goal(per_item(4.5))
}

fn relist(part: &'static str, row: &'static str) -> Row {
    let marker = || Event::Added(thing(LISTED, 2));
    let ours = || {
        let gone = SourceError::new(SourceKind::Expired, "the version is too old");
        // The last one is served first.
        let watches = vec![vec![marker()], vec![Event::Error(gone)]];
        let source = source(vec![things(LISTED), things(LISTED)], watches);
        let is_marker = |change: &ObjectChange<Object>, _| matches!(change, Change::Added { object, .. } if object.version == "2");
        followed(source, 1, is_marker)
    };
    let plain = || {
        let plain = Plain::default();
        plain.replace(things(LISTED));
        let again = things(LISTED);
        wall(|| assert_eq!(plain.replace(again), 0))
    };
    Row::new(part, row, prepared_duel(LISTED, ours, plain))
}

/// A map under a lock.
#[derive(Default)]
struct Plain(Mutex<HashMap<String, Object, Same>>);

impl Plain {
    /// Stores every state, and reports it to handlers on their own threads.
    fn tell(&self, states: impl Iterator<Item = Object>) {
        std::thread::scope(|scope| {
            let handlers: Vec<Sender<(Object, Option<Object>)>> = (0..HANDLERS)
                .map(|_| {
                    let (told, changes) = channel();
                    scope.spawn(move || changes.iter().for_each(|change| drop(black_box(change))));
                    told
                })
                .collect();
            for object in states {
                let mut stored = self.0.lock();
                let old = stored.insert(object.name.clone(), Arc::clone(&object));
                drop(stored);
                for handler in &handlers {
                    assert!(handler.send((Arc::clone(&object), old.clone())).is_ok());
                }
            }
        });
    }

    /// Replaces the content by a list. Returns how many objects of it are new or changed.
    fn replace(&self, list: Vec<Object>) -> usize {
        let mut stored = self.0.lock();
        let mut old = std::mem::take(&mut *stored);
        let mut changed = 0;
        for object in list {
            let before = old.remove(&object.name);
            changed += usize::from(before.is_none_or(|before| before.version != object.version));
            stored.insert(object.name.clone(), object);
        }
        changed
    }
}
