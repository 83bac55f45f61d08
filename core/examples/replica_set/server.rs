//! A server in memory: a collection of objects with versions, lists, watches that lag a little, and
//! a log of changes that it may forget.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use seatrial_core::informer::{
    BoxFuture, Event, ListOptions, ListWatch, Object, OpenWatch, Owner, Page, SourceError,
    SourceKind, WatchOptions,
};
use seatrial_core::runtime::{Ambient, Instant, Runtime, System};
use seatrial_core::store::{Described, Metadata};

/// How long a change takes to reach the watchers.
const LAG: Duration = Duration::from_millis(30);

/// An object of any kind.
#[derive(Clone, Debug)]
pub(crate) struct Thing<S> {
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) version: String,
    /// The number of changes by users: of `spec` and of `deleted`, but not of `ready`.
    pub(crate) generation: i64,
    /// The name and uid of the replica set that controls it.
    pub(crate) owner: Option<(String, String)>,
    pub(crate) spec: S,
    /// How many pods a replica set has.
    pub(crate) ready: usize,
    /// It has the finalizer of its controller, and stays until that is removed.
    pub(crate) guarded: bool,
    /// A user has deleted it.
    pub(crate) deleted: bool,
}

impl<S> Described for Thing<S> {
    fn metadata(&self) -> Option<Metadata<'_>> {
        let (name, uid, resource_version) = (&*self.name, &*self.uid, &*self.version);
        Some(Metadata { namespace: "default", name, uid, resource_version })
    }
}

impl<S> Object for Thing<S> {
    fn generation(&self) -> Option<i64> {
        Some(self.generation)
    }

    fn owners(&self) -> Vec<Owner<'_>> {
        let owner = self.owner.as_ref().map(|(name, uid)| Owner {
            api_version: "apps/v1",
            kind: "ReplicaSet",
            name,
            uid,
            is_controller: true,
        });
        owner.into_iter().collect()
    }
}

/// The type by which objects are passed around.
type Shared<S> = Arc<Thing<S>>;

/// A collection of objects. Copies are the same collection.
pub(crate) struct Server<S>(Arc<Mutex<State<S>>>);

struct State<S> {
    revision: u64,
    /// The number of generated names.
    named: u32,
    objects: BTreeMap<String, Shared<S>>,
    log: Vec<Logged<S>>,
    /// Changes up to this revision are forgotten.
    forgotten: u64,
    watchers: Vec<Waker>,
}

struct Logged<S> {
    revision: u64,
    event: Event<Shared<S>>,
    /// When watchers may see it.
    due: Instant,
}

impl<S> Clone for Server<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: Clone + Send + Sync + 'static> Server<S> {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(State {
            revision: 1,
            named: 0,
            objects: BTreeMap::new(),
            log: Vec::new(),
            forgotten: 0,
            watchers: Vec::new(),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, State<S>> {
        self.0.lock()
    }

    /// Creates an object; an error if there is one with that name.
    pub(crate) fn create(&self, name: &str, spec: S) -> Result<Shared<S>, String> {
        let state = self.lock();
        if state.objects.contains_key(name) {
            return Err(format!("{name} is there already"));
        }
        Ok(Self::add(state, name.to_owned(), None, spec))
    }

    /// Creates an object for its owner, under a name that the server generates.
    pub(crate) fn create_for(&self, owner: (String, String), spec: S) -> Shared<S> {
        let mut state = self.lock();
        let name = format!("{}-{}", owner.0, state.named);
        state.named += 1;
        Self::add(state, name, Some(owner), spec)
    }

    fn add(
        state: MutexGuard<'_, State<S>>,
        name: String,
        owner: Option<(String, String)>,
        spec: S,
    ) -> Shared<S> {
        let uid = format!("uid-{}", state.revision + 1);
        let (version, generation, ready) = (String::new(), 1, 0);
        let (guarded, deleted) = (false, false);
        let thing = Thing { name, uid, version, generation, owner, spec, ready, guarded, deleted };
        Self::change(state, thing, Event::Added)
    }

    /// Changes an object, with that uid if one is given; an error if there is none. A deleted
    /// object is removed with its finalizer.
    pub(crate) fn update(
        &self,
        name: &str,
        uid: Option<&str>,
        change: impl FnOnce(&mut Thing<S>),
    ) -> Result<Shared<S>, String> {
        let state = self.lock();
        let is_meant = |thing: &&Shared<S>| uid.is_none_or(|uid| uid == thing.uid);
        let before = state.objects.get(name).filter(is_meant);
        let before = Thing::clone(before.ok_or_else(|| format!("{name} is not there"))?);
        let mut thing = before.clone();
        change(&mut thing);
        if thing.deleted && thing.guarded && !before.guarded {
            return Err(format!("{name} is deleted, and gets no finalizer"));
        }
        let is_over = thing.deleted && !thing.guarded;
        Ok(Self::change(state, thing, if is_over { Event::Deleted } else { Event::Modified }))
    }

    /// Deletes an object. If it has a finalizer it stays, and shows the deletion.
    pub(crate) fn delete(&self, name: &str) {
        let state = self.lock();
        let Some(thing) = state.objects.get(name) else { return };
        let mut thing = Thing::clone(thing);
        thing.generation += i64::from(!thing.deleted);
        thing.deleted = true;
        let event = if thing.guarded { Event::Modified } else { Event::Deleted };
        Self::change(state, thing, event);
    }

    fn change(
        mut state: MutexGuard<'_, State<S>>,
        mut thing: Thing<S>,
        event: fn(Shared<S>) -> Event<Shared<S>>,
    ) -> Shared<S> {
        state.revision += 1;
        let revision = state.revision;
        thing.version = revision.to_string();
        let thing = Arc::new(thing);
        let event = event(Arc::clone(&thing));
        if matches!(event, Event::Deleted(_)) {
            state.objects.remove(&thing.name);
        } else {
            state.objects.insert(thing.name.clone(), Arc::clone(&thing));
        }
        state.log.push(Logged { revision, event, due: System::new().now() + LAG });
        Self::wake(state);
        thing
    }

    /// Forgets all changes: clients that have not seen them must list.
    pub(crate) fn compact(&self) {
        let mut state = self.lock();
        state.forgotten = state.revision;
        state.log.clear();
        Self::wake(state);
    }

    /// Returns the name of an object, if there is one.
    pub(crate) fn any(&self) -> Option<String> {
        self.lock().objects.keys().next().cloned()
    }

    /// Counts the objects.
    pub(crate) fn len(&self) -> usize {
        self.lock().objects.len()
    }

    fn wake(mut state: MutexGuard<'_, State<S>>) {
        let watchers = std::mem::take(&mut state.watchers);
        drop(state);
        watchers.into_iter().for_each(Waker::wake);
    }
}

impl<S: Clone + Send + Sync + 'static> ListWatch<Shared<S>> for Server<S> {
    fn list(&self, _: ListOptions) -> BoxFuture<'_, Result<Page<Shared<S>>, SourceError>> {
        let state = self.lock();
        let items = state.objects.values().cloned().collect();
        let page = Page::whole(items, state.revision.to_string());
        Box::pin(std::future::ready(Ok(page)))
    }

    fn watch(
        &self,
        options: WatchOptions,
    ) -> BoxFuture<'_, Result<Box<dyn OpenWatch<Shared<S>>>, SourceError>> {
        let seen = options.resource_version.parse().unwrap_or_default();
        let watch = Watch { server: self.clone(), seen, timer: None };
        Box::pin(std::future::ready(Ok(Box::new(watch) as Box<dyn OpenWatch<_>>)))
    }

    fn streams_lists(&self) -> bool {
        false
    }
}

struct Watch<S> {
    server: Server<S>,
    seen: u64,
    /// Wakes the reader when the next change may be seen.
    timer: Option<<System as Runtime>::Timer>,
}

impl<S: Clone + Send + Sync + 'static> OpenWatch<Shared<S>> for Watch<S> {
    fn next(&mut self) -> BoxFuture<'_, Option<Event<Shared<S>>>> {
        Box::pin(std::future::poll_fn(|context| {
            let (system, mut state) = (System::new(), self.server.lock());
            if state.forgotten > self.seen {
                let error = SourceError::new(SourceKind::Expired, "that version is forgotten");
                return Poll::Ready(Some(Event::Error(error)));
            }
            match state.log.iter().find(|logged| logged.revision > self.seen) {
                Some(next) if next.due <= system.now() => {
                    self.seen = next.revision;
                    Poll::Ready(Some(next.event.clone()))
                }
                Some(next) => {
                    self.timer = Some(system.wake_at(next.due, context.waker().clone()));
                    state.watchers.push(context.waker().clone()); // it may be forgotten by then
                    Poll::Pending
                }
                None => {
                    state.watchers.push(context.waker().clone());
                    Poll::Pending
                }
            }
        }))
    }
}
