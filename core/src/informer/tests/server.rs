//! A server in memory: lists, watches, and faults that a test injects.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::task::{Poll, Waker};

use parking_lot::Mutex;

use crate::informer::{
    BoxFuture, Event, ListOptions, ListWatch, OpenWatch, Page, SourceError, SourceKind,
    WatchOptions,
};
use crate::store::{Described, Metadata};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Thing {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) uid: String,
}

pub(super) type Object = Arc<Thing>;

impl Described for Thing {
    fn metadata(&self) -> Option<Metadata<'_>> {
        let (name, resource_version) = (self.name.as_str(), self.version.as_str());
        Some(Metadata { namespace: "", name, uid: &self.uid, resource_version })
    }
}

/// An object as it comes over a network: an equal copy.
fn copied(object: &Object) -> Object {
    Arc::new(Thing::clone(object))
}

/// A change of an object, or its deletion.
#[derive(Clone)]
struct Entry {
    revision: u64,
    stays: bool,
    object: Object,
}

#[derive(Default)]
struct State {
    revision: u64,
    log: Vec<Entry>,
    cut: u64,
    /// Changes after this revision are not told.
    held: Option<u64>,
    refuses: bool,
    streams: Streams,
    wakers: Vec<Waker>,
    requests: u64,
    open: i64,
}

/// Whether a watch can begin with all objects.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Streams {
    #[default]
    No,
    Yes,
    /// They come, except for the first one.
    Lying,
    /// They come, but the end of them is not marked.
    Endless,
}

impl State {
    fn at(&self, revision: u64) -> BTreeMap<&str, &Object> {
        let mut objects = BTreeMap::new();
        for entry in self.log.iter().filter(|entry| entry.revision <= revision) {
            if entry.stays {
                objects.insert(&*entry.object.name, &entry.object);
            } else {
                objects.remove(&*entry.object.name);
            }
        }
        objects
    }

    fn shown(&self) -> u64 {
        self.held.unwrap_or(u64::MAX).min(self.revision)
    }
}

#[derive(Clone, Default)]
pub(super) struct Server(Arc<Mutex<State>>);

impl Server {
    pub(super) fn put(&self, name: &str) -> Object {
        self.change(name, true)
    }

    pub(super) fn delete(&self, name: &str) -> Object {
        self.change(name, false)
    }

    fn change(&self, name: &str, stays: bool) -> Object {
        let mut state = self.0.lock();
        state.revision += 1;
        let revision = state.revision;
        let before = state.at(revision).get(name).map(|it| it.uid.clone());
        let uid = before.unwrap_or_else(|| format!("{name} of {revision}"));
        let (name, version) = (name.to_owned(), revision.to_string());
        let object = Arc::new(Thing { name, version, uid });
        state.log.push(Entry { revision, stays, object: Arc::clone(&object) });
        Self::wake(state);
        object
    }

    fn wake(mut state: parking_lot::MutexGuard<'_, State>) {
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Ends all open streams, even those that have told everything, and forgets the changes that
    /// they have not told.
    pub(super) fn forget(&self) {
        let mut state = self.0.lock();
        state.revision += 1; // something else was changed
        state.cut = state.revision;
        Self::wake(state);
    }

    /// Tells only changes up to a revision; with `None`, all.
    pub(super) fn hold(&self, at: Option<u64>) {
        let mut state = self.0.lock();
        state.held = at;
        Self::wake(state);
    }

    pub(super) fn revision(&self) -> u64 {
        self.0.lock().revision
    }

    pub(super) fn refuse(&self, refuses: bool) {
        self.0.lock().refuses = refuses;
    }

    pub(super) fn stream(&self, streams: Streams) {
        self.0.lock().streams = streams;
    }

    pub(super) fn requests(&self) -> u64 {
        self.0.lock().requests
    }

    /// The number of open streams.
    pub(super) fn open(&self) -> i64 {
        self.0.lock().open
    }

    pub(super) fn objects(&self) -> Vec<(String, u64)> {
        let state = self.0.lock();
        let objects = state.at(u64::MAX).into_values();
        objects.map(|it| (it.name.clone(), it.version.parse().unwrap())).collect()
    }
}

impl ListWatch<Object> for Server {
    fn list(&self, _: ListOptions) -> BoxFuture<'_, Result<Page<Object>, SourceError>> {
        let mut state = self.0.lock();
        state.requests += 1;
        let answer = if state.refuses {
            Err(SourceError::new(SourceKind::Refused, "nobody listens"))
        } else {
            let items = state.at(state.shown()).into_values().map(copied).collect();
            Ok(Page::whole(items, state.shown().to_string()))
        };
        Box::pin(std::future::ready(answer))
    }

    fn watch(
        &self,
        options: WatchOptions,
    ) -> BoxFuture<'_, Result<Box<dyn OpenWatch<Object>>, SourceError>> {
        let mut state = self.0.lock();
        state.requests += 1;
        state.open += 1;
        let mut at = options.resource_version.parse().unwrap_or(0);
        let mut initial = VecDeque::new();
        if options.send_initial_events {
            at = state.shown();
            let skipped = usize::from(state.streams == Streams::Lying);
            initial.extend(state.at(at).into_values().skip(skipped).map(copied).map(Event::Added));
            if state.streams != Streams::Endless {
                let resource_version = at.to_string();
                initial.push_back(Event::Bookmark { resource_version, ends_initial: true });
            }
        }
        let stream = Tail { server: self.clone(), initial, at };
        Box::pin(std::future::ready(Ok(Box::new(stream) as Box<dyn OpenWatch<Object>>)))
    }

    fn streams_lists(&self) -> bool {
        self.0.lock().streams != Streams::No
    }
}

struct Tail {
    server: Server,
    initial: VecDeque<Event<Object>>,
    at: u64,
}

impl Drop for Tail {
    fn drop(&mut self) {
        self.server.0.lock().open -= 1;
    }
}

impl OpenWatch<Object> for Tail {
    fn next(&mut self) -> BoxFuture<'_, Option<Event<Object>>> {
        Box::pin(std::future::poll_fn(|context| {
            if let Some(event) = self.initial.pop_front() {
                return Poll::Ready(Some(event));
            }
            let mut state = self.server.0.lock();
            if state.cut > self.at {
                let expired = SourceError::new(SourceKind::Expired, "too old");
                return Poll::Ready(Some(Event::Error(expired)));
            }
            let shown = state.shown();
            let mut next = state.log.iter().filter(|entry| entry.revision <= shown);
            let Some(entry) = next.find(|entry| entry.revision > self.at).cloned() else {
                state.wakers.push(context.waker().clone());
                return Poll::Pending;
            };
            self.at = entry.revision;
            let object = entry.object;
            let event = if entry.stays { Event::Modified(object) } else { Event::Deleted(object) };
            Poll::Ready(Some(event))
        }))
    }
}
