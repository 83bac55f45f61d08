//! The informer: a reflector, a store, and their readers.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::cancel::CancelToken;
use crate::caught::discard;
use crate::monitor::Monitor;
use crate::polling::Delays as _;
use crate::runtime::{Atomic, Runtime, System};
use crate::store::Intake;
use crate::store::indexed::{VersionOf, metadata_version};
use crate::store::{Cause, Described, Handle, IndexedStore, metadata_key};

use super::apply::ApplyError;
use super::builder::Settings;
use super::change::{Change, ObjectChange};
use super::feed::{End, Feed, Subscription};
use super::fresh::{Fresh, Visible};
use super::handler::Crew;
use super::health::{Panics, Recovery, Unwell, caught, message};
use super::readers::{Readers, Stage, Wants, resync_if_due};
use super::reflector::known::stored;
use super::reflector::{Config, Driver, ReflectorError, Skipped, delays};

/// Up to this number of notes none is looked for to forget.
const FEW_NOTES: usize = 64;

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
    /// Names and transforms what comes from the source.
    pub(super) intake: Intake<String, O>,
    pub(super) reflector: Driver<O, R>,
    pub(super) config: Config,
    pub(super) readers: Arc<R::Mutex<Readers<O, R>>>,
    /// Whether the first list is in the store, and whether the informer has stopped: not zero if so.
    /// They change under the lock of the readers, and are read without it, because a long list holds
    /// it for long.
    pub(super) synced: R::Atomic,
    pub(super) stopped: R::Atomic,
    /// How far the store is, and the writes of this client.
    pub(super) visible: Visible<R>,
    pub(super) handlers: R::Mutex<Crew<R>>,
    pub(super) refused: OnRejected,
    pub(super) recovery: Recovery,
    pub(super) panics: R::Mutex<Panics>,
}

/// A function that is told which objects the store refused.
pub type OnRejected = Arc<dyn Fn(&ApplyError) + Send + Sync>;

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
    pub(super) fn with_settings(runtime: &R, settings: Settings<O>) -> Self {
        let Settings { source, config, mut hooks, refused, transform, check, recovery } = settings;
        let plain =
            Intake::new(runtime, |object: &O| -> Result<String, Cause> { metadata_key(object) });
        let version_of: VersionOf<O> = Arc::new(metadata_version);
        let store = IndexedStore::with_intake(runtime, plain.clone(), Some(version_of));
        let store = Arc::new(store);
        // A transformer must not see an object again, and the check needs the objects as received.
        let known = (transform.is_none() && check.is_none()).then(|| stored(&store));
        // The store does not transform, so each object is transformed once (`cache:INV-26`).
        let intake = match transform {
            None => plain,
            Some(transform) => plain.with_transform(move |object| transform(object)),
        };
        let readers = Arc::new(runtime.mutex(Readers::new(config.resync)));
        hooks.should_resync = resync_if_due(runtime, &readers, hooks.should_resync);
        let visible = Visible::new(runtime, Fresh::default(), FEW_NOTES);
        hooks.skipped = noted(visible.refuser(), hooks.skipped);
        Self {
            runtime: runtime.clone(),
            store,
            intake,
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
            recovery,
            panics: runtime.mutex(Panics::default()),
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

    /// Checks the informer, for a health check of the program.
    ///
    /// # Errors
    /// It has ended, or it has panicked and not recovered. It may still
    /// [have synced](Self::has_synced), but the store does not follow the collection.
    pub fn check(&self) -> Result<(), Unwell> {
        self.runtime.lock(&self.panics).check(self.is_stopped())
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
        let (mut delays, mut batch) = (delays(&self.runtime), self.batch(token));
        while let Err(panic) = caught(self.follow(config.clone(), &mut batch)).await {
            let message = message(&panic);
            self.runtime.lock(&self.panics).note(message.clone());
            if self.recovery == Recovery::End {
                std::panic::resume_unwind(panic);
            }
            discard(panic);
            self.reflector.tell_failed(&ReflectorError::Panicked(message));
            let delay = delays.next(&self.runtime);
            token.child_with_deadline(self.runtime.now() + delay).wait_async().await;
        }
        drop(ending);
        self.join_handlers().await;
        Ok(())
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
