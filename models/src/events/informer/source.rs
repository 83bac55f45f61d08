//! A server of one collection. It lists and watches, refuses some requests, and can take time for a
//! list.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use seatrial_core::cancel::CancelToken;
use seatrial_core::informer::{
    BoxFuture, Event, ListOptions, ListWatch, OpenWatch, Page, SourceError, SourceKind,
    WatchOptions,
};
use seatrial_core::runtime::{Ambient as _, Runtime};
use seatrial_core::store::{Described, Metadata};

use super::book::Entry;
use super::stage::Pen;
use crate::engine::AnyRuntime;
use crate::shared::Lock;

/// An object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Thing {
    pub(super) key: u16,
    pub(super) version: u64,
    /// How often it was transformed.
    pub(super) transformed: u8,
    name: String,
    text: String,
}

pub(super) type Object = Arc<Thing>;

impl Thing {
    fn object(key: u16, version: u64) -> Object {
        let (name, text) = (key.to_string(), version.to_string());
        Arc::new(Self { key, version, transformed: 0, name, text })
    }
}

impl Described for Thing {
    fn metadata(&self) -> Option<Metadata<'_>> {
        let (name, resource_version) = (self.name.as_str(), self.text.as_str());
        Some(Metadata { namespace: "", name, uid: "", resource_version })
    }
}

/// The transformer: it counts how often an object was transformed.
pub(super) fn transformed(object: &Object) -> Object {
    Arc::new(Thing { transformed: object.transformed + 1, ..Thing::clone(object) })
}

/// How the server behaves.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Manners {
    /// How many objects there are at the beginning.
    pub(super) objects: u16,
    /// How many requests are refused.
    pub(super) refuses: u32,
    /// How long a list takes.
    pub(super) slow: Duration,
    /// Whether streams begin with all objects.
    pub(super) streams: bool,
}

#[derive(Default)]
struct State {
    revision: u64,
    objects: BTreeMap<u16, u64>,
    /// The changes: revision, object, and whether the object still exists.
    log: Vec<(u64, u16, bool)>,
    /// Streams that have not come so far have expired.
    expired: u64,
    refuses: u32,
    /// Streams and calls that are open.
    open: u32,
    wakers: Vec<Waker>,
}

struct Inside {
    runtime: AnyRuntime,
    manners: Manners,
    state: Lock<State>,
    pen: Pen,
}

/// The server.
#[derive(Clone)]
pub(super) struct Source(Arc<Inside>);

impl Source {
    pub(super) fn new(pen: &Pen, manners: Manners) -> Self {
        let runtime = pen.runtime().clone();
        let objects = (0..manners.objects).map(|key| (key, u64::from(key) + 1)).collect();
        let (revision, refuses) = (u64::from(manners.objects), manners.refuses);
        let state = runtime.mutex(State { revision, objects, refuses, ..State::default() });
        pen.write(Entry::Begins(manners.objects));
        Self(Arc::new(Inside { runtime, manners, state, pen: pen.again() }))
    }

    fn lock(&self) -> <AnyRuntime as Runtime>::Guard<'_, State> {
        self.0.runtime.lock(&self.0.state)
    }

    pub(super) fn put(&self, key: u16) {
        self.change(key, true);
    }

    pub(super) fn delete(&self, key: u16) {
        self.change(key, false);
    }

    /// Changes an object when all streams have expired, so that only a new list shows it.
    pub(super) fn put_behind_the_streams(&self, key: u16) {
        let mut state = self.lock();
        state.expired = state.revision + 1;
        self.write(state, key, true);
    }

    fn change(&self, key: u16, stays: bool) {
        self.write(self.lock(), key, stays);
    }

    fn write(&self, mut state: <AnyRuntime as Runtime>::Guard<'_, State>, key: u16, stays: bool) {
        state.revision += 1;
        let revision = state.revision;
        state.log.push((revision, key, stays));
        if stays {
            state.objects.insert(key, revision);
        } else {
            state.objects.remove(&key);
        }
        self.0.pen.write(Entry::Has(key, if stays { revision } else { 0 }));
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// How many streams and calls are open.
    pub(super) fn open(&self) -> u32 {
        self.lock().open
    }

    /// Counts a request, and refuses it if it must.
    fn ask(&self) -> Result<Open, SourceError> {
        let mut state = self.lock();
        let refused = state.refuses > 0;
        state.refuses -= u32::from(refused);
        self.0.pen.write(Entry::Asked { refused });
        if refused {
            return Err(SourceError::new(SourceKind::TooManyRequests, "too much to do"));
        }
        state.open += 1;
        drop(state);
        Ok(Open(self.clone()))
    }

    async fn page(self) -> Result<Page<Object>, SourceError> {
        let open = self.ask()?;
        let slow = self.0.manners.slow;
        if !slow.is_zero() {
            let over = self.0.runtime.now() + slow;
            CancelToken::with_deadline(&self.0.runtime, over).wait_async().await;
        }
        let state = open.0.lock();
        let items = state.objects.iter().map(|(key, version)| Thing::object(*key, *version));
        Ok(Page::whole(items.collect(), state.revision.to_string()))
    }

    fn open_stream(
        &self,
        options: &WatchOptions,
    ) -> Result<Box<dyn OpenWatch<Object>>, SourceError> {
        let open = self.ask()?;
        let (mut first, mut at) = (Vec::new(), options.resource_version.parse().unwrap_or(0));
        if options.send_initial_events {
            let state = self.lock();
            at = state.revision;
            let resource_version = at.to_string();
            first.push(Event::Bookmark { resource_version, ends_initial: true });
            let objects = state.objects.iter().rev();
            first.extend(objects.map(|(key, version)| Event::Added(Thing::object(*key, *version))));
        }
        Ok(Box::new(Tail { open, first, at }))
    }
}

/// A stream or a call that is open.
struct Open(Source);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.lock().open -= 1;
    }
}

impl ListWatch<Object> for Source {
    fn list(&self, _: ListOptions) -> BoxFuture<'_, Result<Page<Object>, SourceError>> {
        Box::pin(self.clone().page())
    }

    fn watch(
        &self,
        options: WatchOptions,
    ) -> BoxFuture<'_, Result<Box<dyn OpenWatch<Object>>, SourceError>> {
        Box::pin(async move { self.open_stream(&options) })
    }

    fn streams_lists(&self) -> bool {
        self.0.manners.streams
    }
}

struct Tail {
    open: Open,
    /// The first events, the last one first.
    first: Vec<Event<Object>>,
    at: u64,
}

impl OpenWatch<Object> for Tail {
    fn next(&mut self) -> BoxFuture<'_, Option<Event<Object>>> {
        Box::pin(poll_fn(|context| {
            if let Some(event) = self.first.pop() {
                return Poll::Ready(Some(event));
            }
            let mut state = self.open.0.lock();
            if self.at < state.expired {
                let error = SourceError::new(SourceKind::Expired, "the version is too old");
                return Poll::Ready(Some(Event::Error(error)));
            }
            let next = state.log.iter().find(|(revision, ..)| *revision > self.at).copied();
            let Some((revision, key, stays)) = next else {
                state.wakers.push(context.waker().clone());
                return Poll::Pending;
            };
            self.at = revision;
            let object = Thing::object(key, revision);
            let event = if stays { Event::Modified(object) } else { Event::Deleted(object) };
            Poll::Ready(Some(event))
        }))
    }
}
