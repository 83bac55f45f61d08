//! The informer under trial, with its server and its handlers, and the pens that record what
//! happens.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::time::Duration;

use seatrial_core::cancel::CancelToken;
use seatrial_core::informer::reflector::Config;
use seatrial_core::informer::{Change, Handling, ObjectChange, OnPanic, Report, Wants};
use seatrial_core::runtime::{Ambient as _, Runtime};
use seatrial_core::store::indexed::Values;
use seatrial_core::store::{Cause, IndexedStore};

use super::Informer;
use super::book::{Complaint, Entry, Number, Told};
use super::reference::Plain;
use super::source::{Manners, Object, Source, transformed};
use super::tried::{Registered, Tried};
use crate::engine::AnyRuntime;
use crate::events::fixtures;
use crate::trial::{Join, World};

/// Records entries.
pub(super) type Pen = fixtures::Pen<Informer>;

/// An additional action of a handler in its calls.
pub(super) type Act = Box<dyn FnMut(u16) + Send>;

/// The behaviour of a handler.
#[derive(Default)]
pub(super) struct Care {
    /// How long each of its calls takes.
    pub(super) takes: Duration,
    /// The version at which it panics.
    pub(super) panics_at: Option<u64>,
    /// The period after which it wants unchanged objects shown again.
    pub(super) wants: Option<Duration>,
    /// Its additional action in each call.
    pub(super) acts: Option<Act>,
}

/// How an informer is set up.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Setting {
    pub(super) manners: Manners,
    /// The period after which the informer shows unchanged objects again.
    pub(super) resync: Duration,
    /// Whether changes of the store are recorded.
    pub(super) watches_store: bool,
    /// The version at which an index function panics.
    pub(super) index_panics_at: Option<u64>,
    /// The version that an index function refuses.
    pub(super) index_refuses: Option<u64>,
}

/// The parts of every scenario.
pub(super) struct Stage {
    pub(super) world: World<Informer>,
    pub(super) pen: Pen,
    pub(super) source: Source,
    pub(super) tried: Arc<Tried>,
    pub(super) token: CancelToken<AnyRuntime>,
}

impl Clone for Stage {
    fn clone(&self) -> Self {
        Self {
            world: self.world.clone(),
            pen: self.pen.again(),
            source: self.source.clone(),
            tried: Arc::clone(&self.tried),
            token: self.token.clone(),
        }
    }
}

impl Stage {
    pub(super) fn new(world: &World<Informer>, setting: Setting) -> Self {
        let pen = Pen::new(world);
        let source = Source::new(&pen, setting.manners);
        let tried = match pen.mistakes() {
            Some(mistakes) => {
                let plain = Plain::new(world.runtime(), source.clone(), setting, mistakes);
                Tried::Plain(Arc::new(plain))
            }
            None => {
                use seatrial_core::informer::{Informer, Recovery};
                let config = Config::default().resync(setting.resync);
                let builder = Informer::builder(world.runtime(), Arc::new(source.clone()));
                let builder = builder.config(config).transform(|it| Ok(transformed(&it)));
                // The index panics at each list again: it would be listed for ever.
                let recovery = setting.index_panics_at.map(|_| Recovery::End);
                let builder = builder.recovery(recovery.unwrap_or_default());
                Tried::Ships(Arc::new(builder.build()))
            }
        };
        let token = CancelToken::new(world.runtime());
        let stage = Self { world: world.clone(), pen, source, tried: Arc::new(tried), token };
        let index = setting.index_panics_at.or(setting.index_refuses);
        if setting.watches_store || index.is_some() {
            stage.watch_store(setting);
        }
        stage
    }

    fn watch_store(&self, setting: Setting) {
        let pen = self.pen.again();
        let index = move |object: &Object, _: &mut Values| -> Result<(), Cause> {
            if setting.index_refuses == Some(object.version) {
                pen.write(Entry::IndexRefuses(object.key, object.version));
                return Err(Arc::new(std::fmt::Error));
            }
            pen.write(Entry::Stored(object.key, object.version));
            if setting.index_panics_at == Some(object.version) {
                pen.write(Entry::IndexPanics);
                panic!("the index function fails");
            }
            Ok(())
        };
        let added = self.tried.store().add_indexers([("watch", Arc::new(index) as _)]);
        added.expect("nothing is stored yet that it could refuse");
    }

    pub(super) fn now(&self) -> seatrial_core::runtime::Instant {
        self.world.runtime().now()
    }

    pub(super) fn sleep(&self, time: Duration) {
        self.world.runtime().sleep_until(self.now() + time);
    }

    pub(super) fn spawn(&self, name: &str, run: impl FnOnce(Self) + Send + 'static) -> Join<()> {
        let own = self.clone();
        self.world.spawn(name, move || run(own))
    }

    /// Runs the informer on a thread of its own.
    pub(super) fn start(&self) -> Join<()> {
        self.spawn("informer", |own| own.run())
    }

    /// Runs the informer.
    pub(super) fn run(&self) {
        self.pen.write(Entry::Runs);
        let run = AssertUnwindSafe(|| self.tried.run(&self.token));
        let entry = catch_unwind(run).map_or(Entry::RunPanicked, Entry::Ran);
        // Recorded before a thread that waits for the run can continue.
        self.pen.write(Entry::Open(self.source.open()));
        self.pen.write(entry);
    }

    /// Adds a handler.
    pub(super) fn add(&self, number: Number, care: Care) -> Option<Registered> {
        self.pen.write(Entry::Adds(number, care.wants));
        let pen = self.pen.again();
        let complains = move |report| match report {
            Report::Panicked { .. } => pen.write(Entry::Reported(number, Complaint::Panicked)),
            Report::Slow { .. } => pen.write(Entry::Reported(number, Complaint::Slow)),
            _ => {}
        };
        let wants = care.wants.map_or(Wants::default(), |it| Wants::default().resync_every(it));
        let handling = Handling::default()
            .name(format!("handler {number}"))
            .wants(wants)
            .on_panic(OnPanic::Skip)
            .report(complains);
        let added = self.tried.add(handling, care.wants, self.handler(number, care));
        self.pen.write(Entry::Added(number, added.is_some()));
        added
    }

    fn handler(
        &self,
        number: Number,
        mut care: Care,
    ) -> impl FnMut(ObjectChange<Object>) + Send + 'static + use<> {
        let (store, runtime) = (Arc::clone(self.tried.store()), self.world.runtime().clone());
        let tried = Arc::downgrade(&self.tried);
        let farewell = Farewell { pen: self.pen.again(), number, tried };
        move |change| {
            let (key, version, call) = told(&store, number, &change);
            farewell.pen.write(call);
            if !care.takes.is_zero() {
                runtime.sleep_until(runtime.now() + care.takes);
            }
            if let Some(act) = &mut care.acts {
                act(key);
            }
            let panics = care.panics_at == Some(version);
            farewell.pen.write(Entry::Returns(number, !panics));
            assert!(!panics, "the handler fails");
        }
    }

    pub(super) fn await_sync(&self, number: Number, handler: &Registered) {
        self.pen.write(Entry::AwaitsSync(number));
        let synced = handler.wait_for_sync();
        self.pen.write(Entry::Synced(number, synced));
    }

    pub(super) fn remove(&self, number: Number, handler: &Registered, waits: bool) {
        self.pen.write(Entry::Removes(number));
        handler.remove(waits);
        self.pen.write(Entry::Removed(number, waits));
    }

    pub(super) fn cancel(&self) {
        self.pen.write(Entry::Stops);
        self.token.cancel();
        self.pen.write(Entry::Stopped);
    }

    /// Stops the informer, and waits for its run.
    pub(super) fn stop(&self, run: Join<()>) {
        self.cancel();
        self.world.join(run);
    }
}

/// Returns the entry of a handler's call, with the key and the version.
fn told(
    store: &IndexedStore<String, Object, AnyRuntime>,
    number: Number,
    change: &ObjectChange<Object>,
) -> (u16, u64, Entry) {
    let (key, version, transformed) = match change.newest() {
        Some(object) => (object.key, object.version, object.transformed),
        None => {
            let key = change.key().ok().and_then(|key| key.parse().ok());
            (key.expect("a key is a number"), 0, 1)
        }
    };
    let told = match change {
        Change::Added { object, initial } => {
            Told::Added { version: object.version, initial: *initial }
        }
        Change::Updated { old, new } => Told::Updated { old: old.version, new: new.version },
        Change::Deleted(_) => Told::Deleted,
    };
    let stored = store.get(&key.to_string()).map_or(0, |object| object.version);
    (key, version, Entry::Calls { number, key, told, stored, transformed })
}

/// Records that a handler is gone, when it is dropped.
struct Farewell {
    pen: Pen,
    number: Number,
    tried: Weak<Tried>,
}

impl Drop for Farewell {
    fn drop(&mut self) {
        let stopped = self.tried.upgrade().is_none_or(|tried| tried.is_stopped());
        self.pen.write(Entry::Gone(self.number, stopped));
    }
}
