//! The informer: a reflector, a queue, a store, and their readers.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

use crate::cancel::CancelToken;
use crate::monitor::Monitor;
use crate::ordered_fifo::{Batch, Event, Options, OrderedFifo};
use crate::runtime::{Atomic, Runtime, System};
use crate::slab::Line;
use crate::store::Intake;
use crate::store::indexed::{VersionOf, metadata_version};
use crate::store::{Cause, Described, Handle, IndexedStore, metadata_key};

use super::apply::{ApplyError, Change};
use super::builder::{Builder, Built};
use super::feed::{Complete, End, Feed, Push, Shared, Subscription};
use super::fresh::{Fresh, Visible};
use super::handler::Crew;
use super::list_watch::ListWatch;
use super::partly::apply_what_can_be;
use super::readers::{Readers, Stage, Wants, is_wanted, mark, resync_if_due};
use super::reflector::known::stored;
use super::reflector::{Config, Driver, Hooks, Skipped};

/// How many changes are told at a time, so that the changes of a long list are not all in memory
/// twice.
const PART: usize = 1024;
/// Up to this number of notes none is looked for to forget.
const FEW_NOTES: usize = 64;

/// A change of an object whose key is a string.
pub type ObjectChange<O> = Change<String, O>;

/// A store that follows a collection of a server, and tells readers of its changes (client-go
/// `SharedIndexInformer`). Shared by reference or in an `Arc`.
///
/// ```
/// # use std::sync::Arc;
/// # use seatrial_core::cancel::CancelToken;
/// # use seatrial_core::informer::{Change, Informer, ListWatch};
/// # use seatrial_core::runtime::System;
/// # use seatrial_core::store::{Described, Handle};
/// fn follow<O: Handle + Described + std::fmt::Debug>(source: Arc<dyn ListWatch<O>>) {
///     let system = System::new();
///     let informer = Arc::new(Informer::new(&system, source));
///     let mut changes = informer.subscribe();
///     let token = CancelToken::new(&system);
///     let running = std::thread::spawn({
///         let (informer, token) = (Arc::clone(&informer), token.clone());
///         move || informer.run(&token)
///     });
///     if let Ok(Change::Added { object, .. }) = changes.next() {
///         println!("{object:?}, and {} in the store", informer.store().len());
///     }
///     token.cancel();
///     running.join().unwrap().unwrap();
/// }
/// ```
pub struct Informer<O: Handle + Described, R: Runtime = System> {
    pub(super) runtime: R,
    pub(super) store: Arc<IndexedStore<String, O, R>>,
    queue: OrderedFifo<String, O, crate::store::NothingKnown, R>,
    reflector: Driver<O, R>,
    config: Config,
    readers: Arc<R::Mutex<Readers<O, R>>>,
    /// Whether the first list is in the store, and whether the informer has stopped: not zero if so.
    /// They change under the lock of the readers, and are read without it, because a long list holds
    /// it for long.
    synced: R::Atomic,
    stopped: R::Atomic,
    /// How far the store is, and the writes of this client.
    pub(super) visible: Visible<R>,
    pub(super) handlers: R::Mutex<Crew<R>>,
    refused: Refused,
}

/// A function that is told which objects the store refused.
pub type Refused = Arc<dyn Fn(&ApplyError) + Send + Sync>;

/// An informer runs once, and this one runs or ran already (`cache:SI-9`, `SI-10`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AlreadyRun;

impl fmt::Display for AlreadyRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an informer runs once: make another one")
    }
}

impl std::error::Error for AlreadyRun {}

impl<O: Handle + Described, R: Runtime> Informer<O, R> {
    /// Makes an informer with default settings.
    pub fn new(runtime: &R, source: Arc<dyn ListWatch<O>>) -> Self {
        Self::with(runtime, source, Config::default(), Hooks::default(), Arc::new(|_| ()))
    }

    /// Makes an informer with settings and hooks of the reflector, and a function that is told
    /// which objects the store refused because an index function failed.
    pub fn with(
        runtime: &R,
        source: Arc<dyn ListWatch<O>>,
        config: Config,
        hooks: Hooks,
        refused: Refused,
    ) -> Self {
        Self::builder(runtime, source).config(config).hooks(hooks).refused(refused).build()
    }

    /// Begins an informer with custom settings.
    pub fn builder(runtime: &R, source: Arc<dyn ListWatch<O>>) -> Builder<O, R> {
        Builder::new(runtime, source)
    }

    pub(super) fn built(runtime: &R, builder: Built<O>) -> Self {
        let Built { source, config, mut hooks, refused, transform, check } = builder;
        let plain =
            Intake::new(runtime, |object: &O| -> Result<String, Cause> { metadata_key(object) });
        // Only the queue transforms objects, so each is transformed once (`cache:INV-26`).
        let transforms = transform.is_some();
        let intake = match transform {
            None => plain.clone(),
            Some(transform) => plain.clone().with_transform(move |object| transform(object)),
        };
        let version_of: VersionOf<O> = Arc::new(metadata_version);
        let store = IndexedStore::with_intake(runtime, plain, Some(version_of));
        let store = Arc::new(store);
        // A transformer must not see an object again, and the check needs the objects as received.
        let known = (!transforms && check.is_none()).then(|| stored(&store));
        let readers = Arc::new(runtime.mutex(Readers::new(config.resync)));
        hooks.should_resync = resync_if_due(runtime, &readers, hooks.should_resync);
        let visible = Visible::new(runtime, Fresh::default(), FEW_NOTES);
        hooks.skipped = noted(visible.refuser(), hooks.skipped);
        Self {
            runtime: runtime.clone(),
            store,
            queue: OrderedFifo::with_options(runtime, intake, Options::default()),
            reflector: Driver::new(runtime, source, config.clone(), hooks)
                .checking(check)
                .knowing(known),
            config,
            readers,
            synced: runtime.atomic(0),
            stopped: runtime.atomic(0),
            visible,
            handlers: runtime.mutex(Crew::new(runtime)),
            refused,
        }
    }

    /// Returns the store, for reading and indexing. Only the informer writes to it.
    pub fn store(&self) -> &Arc<IndexedStore<String, O, R>> {
        &self.store
    }

    /// Returns the newest version that the reflector has seen; empty before the first.
    pub fn last_resource_version(&self) -> Arc<String> {
        self.reflector.last_resource_version()
    }

    /// Tells whether the first list is in the store. Readers may not have handled it yet
    /// (`cache:SI-14`, `SI-15`).
    pub fn has_synced(&self) -> bool {
        self.synced.load(Ordering::Acquire) != 0
    }

    /// Tells whether the informer has stopped.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire) != 0
    }

    /// Subscribes to changes, beginning with all existing objects (`cache:SI-33`), before the
    /// informer runs or while it does. If the informer has stopped, the subscription is over.
    pub fn subscribe(&self) -> Subscription<ObjectChange<O>, R> {
        self.subscribe_with(Wants::default())
    }

    /// As [`subscribe`](Self::subscribe), with options.
    pub fn subscribe_with(&self, wants: Wants) -> Subscription<ObjectChange<O>, R> {
        let mut readers = self.lock();
        readers.forget_those_gone();
        let first = self.store.list();
        let added = |object: &O| Change::Added { object: object.clone(), initial: true };
        let first = first.objects().map(added).collect();
        let feed = Feed::new(first, readers.has_synced, wants.limit);
        let feed = Arc::new(Monitor::new(&self.runtime, feed));
        if readers.stage == Stage::Stopped {
            drop(readers);
            drop(feed.call(End));
        } else {
            let now = self.runtime.now();
            readers.add(Arc::clone(&feed), wants, now);
        }
        Subscription::new(feed)
    }

    /// Follows the collection until the token ends, on this thread. It returns when its handlers
    /// have ended, too, each after its current call (`cache:SI-12`).
    ///
    /// # Errors
    /// It runs or ran already.
    pub fn run(&self, token: &CancelToken<R>) -> Result<(), AlreadyRun> {
        self.runtime.block_on(self.run_async(token))
    }

    /// As [`run`](Self::run), for tasks. Dropping the future stops the informer.
    ///
    /// # Errors
    /// It runs or ran already.
    pub async fn run_async(&self, token: &CancelToken<R>) -> Result<(), AlreadyRun> {
        let config = {
            let mut readers = self.lock();
            if readers.stage != Stage::Created {
                return Err(AlreadyRun);
            }
            readers.stage = Stage::Started;
            self.config.clone().resync(readers.check)
        };
        let ending = Ending(self); // also if the future is dropped or something panics
        let reflect = async {
            self.reflector.run_with(config, &self.queue, token).await;
            self.queue.close();
        };
        let (mut reflect, mut process) = (pin!(reflect), pin!(self.process(token)));
        let (mut reflects, mut processes) = (true, true);
        // Entries still queued when the token ends may stay (`cache:CT-3`).
        poll_fn(|context| {
            reflects = reflects && reflect.as_mut().poll(context).is_pending();
            processes = processes && process.as_mut().poll(context).is_pending();
            if reflects || processes { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
        drop(ending);
        self.join_handlers().await;
        Ok(())
    }

    /// Changes the store by the events of the queue, and tells readers of the changes.
    async fn process(&self, token: &CancelToken<R>) {
        // Whether the last list is in the store, except for its refused objects.
        let mut stored = false;
        let apply = |batch: &Batch<String, O>| {
            let mut told = Line::new();
            let readers = self.lock();
            let before = self.visible.prepare(&batch.events).then(|| self.store.list());
            let is_wanted = is_wanted(&readers.feeds);
            let tell = &mut |change| {
                if before.is_none() || is_wanted(&change) {
                    told.push_back(mark(change, batch.initial));
                }
            };
            let result = apply_what_can_be(&batch.events, batch.initial, &self.store, tell);
            // The caller drops the replaced objects, without the lock.
            (told, before, readers.feeds.clone(), result)
        };
        loop {
            if token.is_cancelled() {
                return;
            }
            let Ok((batch, (mut told, before, readers, result))) =
                self.queue.pop_batch_async(apply).await
            else {
                return;
            };
            if matches!(&batch.events[..], [Event::ReplacedAll(_)]) {
                stored = !matches!(result, Err(ApplyError::Store(_)));
            }
            // This comes before readers are told, so that a reader that is told of a version can
            // wait for it.
            self.visible.advance(&batch.events, result.as_ref().err());
            if let Err(error) = result {
                crate::caught::tell(|| (self.refused)(&error));
            }
            drop((before, batch));
            let mut gone = Vec::new();
            while !told.is_empty() {
                let part: Vec<_> = std::iter::from_fn(|| told.pop_front()).take(PART).collect();
                for reader in &readers {
                    let lost = reader.feed.call(Push(reader.wanted(&part)));
                    if !lost.is_empty() {
                        gone.push(&reader.feed);
                    }
                }
            }
            self.forget(&gone);
            if stored {
                self.note_sync();
            }
        }
    }

    /// Forgets readers whose subscription is over.
    fn forget(&self, gone: &[&Shared<ObjectChange<O>, R>]) {
        if !gone.is_empty() {
            self.lock().feeds.retain(|it| !gone.iter().any(|gone| Arc::ptr_eq(gone, &it.feed)));
        }
    }

    /// Tells readers, once, that the first list is complete (`cache:PL-21`, `PL-22`).
    fn note_sync(&self) {
        if !self.queue.has_synced() {
            return;
        }
        let feeds = {
            let mut readers = self.lock();
            if std::mem::replace(&mut readers.has_synced, true) {
                return;
            }
            self.synced.store(1, Ordering::Release);
            readers.feeds.clone()
        };
        self.visible.synced();
        for reader in feeds {
            reader.feed.call(Complete);
        }
    }

    pub(super) fn lock(&self) -> R::Guard<'_, Readers<O, R>> {
        self.runtime.lock(&self.readers)
    }
}

/// Notes the states that a transformer refused, so that no reader takes the stored state for them.
fn noted(
    refuse: impl Fn(String, u64) + Send + Sync + 'static,
    tell: Arc<dyn Fn(&Skipped) + Send + Sync>,
) -> Arc<dyn Fn(&Skipped) + Send + Sync> {
    Arc::new(move |skipped| {
        if let Skipped::Refused { key, resource_version, .. } = skipped {
            refuse(key.clone(), resource_version.parse().unwrap_or_default());
        }
        tell(skipped);
    })
}

/// The end of an informer: nothing more is told.
struct Ending<'a, O: Handle + Described, R: Runtime>(&'a Informer<O, R>);

impl<O: Handle + Described, R: Runtime> Drop for Ending<'_, O, R> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl<O: Handle + Described, R: Runtime> Informer<O, R> {
    fn end(&self) {
        self.queue.close();
        let feeds = {
            let mut readers = self.lock();
            readers.stage = Stage::Stopped;
            self.stopped.store(1, Ordering::Release);
            std::mem::take(&mut readers.feeds)
        };
        for reader in feeds {
            drop(reader.feed.call(End));
        }
        self.end_handlers();
        self.visible.over();
    }
}

/// Ends the feeds of an informer that never ran, too.
impl<O: Handle + Described, R: Runtime> Drop for Informer<O, R> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<O: Handle + Described, R: Runtime> fmt::Debug for Informer<O, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Informer")
    }
}
