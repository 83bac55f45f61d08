//! The cache under trial, and threads that call it and record its answers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use seatrial_core::runtime::{Ambient as _, Runtime};
use seatrial_core::store::indexed::index_by;
use seatrial_core::store::mutation::MutationOptions;
use seatrial_core::store::{IndexedStore, LastState, MutationCache as Cache, MutationDetector};

use super::book::{Answer, Call, Named};
use super::reference::{CAPACITY, Model, TIME};
use super::{MutationCache, OF_THE_LOCK};
use crate::engine::AnyRuntime;
use crate::events::fixtures::Pen;
use crate::shared::Lock;
use crate::stores::fixtures::{Sequential as _, record};
use crate::trial::{Join, World};

/// The note of a thread that begins to compare an object.
pub(super) const COMPARING: &str = "comparing";
/// The index of the store.
const BY_UID: &str = "uid";
/// How long a comparison takes.
const COMPARES: Duration = Duration::from_millis(5);

/// An object whose comparison takes time.
#[derive(Clone)]
struct Slow(World<MutationCache>);

impl PartialEq for Slow {
    fn eq(&self, _: &Self) -> bool {
        self.0.note(COMPARING, 1);
        let runtime = self.0.runtime();
        runtime.sleep_until(runtime.now() + COMPARES);
        true
    }
}

impl fmt::Debug for Slow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Slow")
    }
}

/// The cache that ships, over the store that ships.
pub(super) struct Ships<R: Runtime> {
    store: Arc<IndexedStore<u8, Named, R>>,
    cache: Cache<u8, Named, R>,
}

impl<R: Runtime> Ships<R> {
    pub(super) fn new(runtime: &R, include_adds: bool) -> Self {
        let store = Arc::new(IndexedStore::new(runtime, |object: &Named| Ok(object.key)));
        let by_uid = index_by(|object: &Named| [object.uid.to_string()]);
        store.add_indexers([(BY_UID, by_uid)]).expect("there is no such index");
        let options = MutationOptions { time: TIME, capacity: CAPACITY, include_adds };
        let cache = Cache::new(runtime, Arc::clone(&store), |object| Ok(object.key), options);
        Self { store, cache }
    }

    pub(super) fn call(&self, call: &Call) -> Answer {
        match call {
            Call::Store(object) => self.store.add(*object).expect("the object has a key"),
            Call::Unstore(key) => self.store.delete_key(key).expect("there is no index"),
            Call::Wrote(object) => self.cache.mutation(*object).expect("a version is a number"),
            Call::Seen(object) => {
                self.cache.on_add_or_update(object).expect("a version is a number");
            }
            Call::Gone(object) => self.cache.on_delete(object).expect("a version is a number"),
            Call::Lost(key) => {
                let last = LastState::unknown(*key, None);
                self.cache.on_delete_last_state(&last).expect("a key says enough");
            }
            Call::List(uid) => {
                let listed = self.cache.by_index(BY_UID, &uid.to_string());
                return Answer::Listed(listed.expect("there is such an index"));
            }
            Call::Get(key) => {
                return Answer::Read(self.cache.get(key).expect("a version is a number"));
            }
            Call::Watch | Call::Compare => {}
        }
        Answer::Done
    }
}

/// The code that ships, or broken code.
#[allow(clippy::large_enum_variant, reason = "there is one for each execution")]
enum Tried {
    Ships(Ships<AnyRuntime>, MutationDetector<Slow, AnyRuntime>),
    Broken(Lock<Model>, Lock<Vec<Slow>>),
}

impl Tried {
    fn answer(&self, world: &World<MutationCache>, call: &Call) -> Answer {
        let runtime = world.runtime();
        match (self, call) {
            (Self::Ships(_, detector), Call::Watch) => {
                detector.add(&Arc::new(Slow(world.clone())));
                Answer::Done
            }
            (Self::Ships(_, detector), Call::Compare) => {
                assert!(detector.compare().is_empty(), "nothing was changed");
                Answer::Done
            }
            (Self::Ships(ships, _), call) => ships.call(call),
            (Self::Broken(_, watched), Call::Watch) => {
                runtime.lock(watched).push(Slow(world.clone()));
                Answer::Done
            }
            (Self::Broken(model, watched), Call::Compare) => {
                let waits = runtime.lock(model).makes(OF_THE_LOCK);
                let watched = runtime.lock(watched);
                let copies: Vec<_> = watched.iter().cloned().collect();
                let kept = waits.then_some(watched);
                let again = copies.clone();
                assert!(copies.iter().zip(&again).all(|(one, other)| one == other), "unchanged");
                drop(kept);
                Answer::Done
            }
            (Self::Broken(model, _), call) => {
                let now = runtime.now();
                runtime.lock(model).answer(call, now)
            }
        }
    }
}

/// The parts of every scenario. Every thread has its own book.
pub(super) struct Stage {
    world: World<MutationCache>,
    tried: Arc<Tried>,
    pen: Pen<MutationCache>,
}

impl Stage {
    pub(super) fn new(world: &World<MutationCache>) -> Self {
        let (runtime, pen) = (world.runtime(), Pen::new(world));
        let tried = match pen.mistakes() {
            Some(mistakes) => {
                let model = Model::new(true, mistakes[0]);
                Tried::Broken(runtime.mutex(model), runtime.mutex(Vec::new()))
            }
            None => Tried::Ships(Ships::new(runtime, true), MutationDetector::new(runtime)),
        };
        Self { world: world.clone(), tried: Arc::new(tried), pen }
    }

    /// Makes calls on a thread of their own.
    pub(super) fn on(&self, name: &str, calls: impl Into<Vec<Call>>) -> Join<()> {
        let (world, tried) = (self.world.clone(), Arc::clone(&self.tried));
        let (stage, calls) = (Self { pen: self.pen.again(), world, tried }, calls.into());
        self.world.spawn(name, move || stage.call(calls))
    }

    /// Makes calls.
    pub(super) fn call(&self, calls: impl Into<Vec<Call>>) {
        for call in calls.into() {
            record(&self.pen, call, |call| self.tried.answer(&self.world, call));
        }
    }

    /// Sleeps until written objects are forgotten.
    pub(super) fn let_it_age(&self) {
        self.sleep(TIME + TIME);
    }

    /// Sleeps for some time.
    pub(super) fn sleep(&self, time: Duration) {
        let runtime = self.world.runtime();
        runtime.sleep_until(runtime.now() + time);
    }

    /// Waits for the threads.
    pub(super) fn join(&self, threads: impl IntoIterator<Item = Join<()>>) {
        threads.into_iter().for_each(|thread| self.world.join(thread));
    }
}
