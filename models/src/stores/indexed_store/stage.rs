//! The store under trial, and threads that call it and record its answers.

use std::sync::Arc;

use seatrial_core::store::indexed::{IndexError, Transaction, VersionOf};
use seatrial_core::store::{IndexedStore as Store, Intake, KeyHasher, LastState};

use super::IndexedStore;
use super::book::{Answer, Call};
use super::op::{Labelled, by_bits, key_of};
use super::reference::PlainStore;
use super::sequential::{LISTED_AT, version_of};
use crate::engine::AnyRuntime;
use crate::events::fixtures::Pen;
use crate::stores::fixtures::record;
use crate::trial::{Join, World};

type Object = Arc<Labelled>;

/// The store that ships, or a broken one.
#[allow(clippy::large_enum_variant, reason = "there is one for each execution")]
enum Tried {
    Ships(Store<u8, Object, AnyRuntime>),
    Broken(PlainStore),
}

/// The parts of every scenario. Every thread has its own book.
pub(super) struct Stage {
    world: World<IndexedStore>,
    store: Arc<Tried>,
    pen: Pen<IndexedStore>,
}

impl Stage {
    pub(super) fn new(world: &World<IndexedStore>) -> Self {
        let pen = Pen::new(world);
        let store = match pen.mistakes() {
            Some(mistakes) => Tried::Broken(PlainStore::with(world.runtime(), mistakes)),
            None => {
                let intake = Intake::with_hasher(KeyHasher::fixed(7), key_of);
                let follows: VersionOf<Object> = Arc::new(|object| version_of(object));
                Tried::Ships(Store::with_intake(world.runtime(), intake, Some(follows)))
            }
        };
        Self { world: world.clone(), store: Arc::new(store), pen }
    }

    /// Makes calls on a thread of their own.
    pub(super) fn on(&self, name: &str, calls: impl Into<Vec<Call>>) -> Join<()> {
        let (world, store) = (self.world.clone(), Arc::clone(&self.store));
        let (stage, calls) = (Self { pen: self.pen.again(), world, store }, calls.into());
        self.world.spawn(name, move || stage.call(calls))
    }

    /// Makes calls.
    pub(super) fn call(&self, calls: impl Into<Vec<Call>>) {
        for call in calls.into() {
            record(&self.pen, call, |call| match &*self.store {
                Tried::Ships(store) => answer(store, call),
                Tried::Broken(store) => store.call(call),
            });
        }
    }

    /// Waits for the threads, and reads the final content.
    pub(super) fn end(self, threads: impl IntoIterator<Item = Join<()>>) {
        threads.into_iter().for_each(|thread| self.world.join(thread));
        self.call([Call::List, Call::Values, Call::Keys(0), Call::ByIndex(1), Call::Version]);
        if let Tried::Ships(store) = &*self.store {
            store.assert_valid();
        }
    }
}

/// Calls the store that ships.
fn answer(store: &Store<u8, Object, AnyRuntime>, call: &Call) -> Answer {
    match call {
        Call::Put(object) => done(store.add(Arc::new(object.clone())).is_ok()),
        Call::Delete(key) => done(store.delete_key(key).is_ok()),
        Call::Replace(list) => {
            let list = list.iter().cloned().map(Arc::new).collect();
            done(store.replace(list, LISTED_AT).is_ok())
        }
        Call::Transact(entries) => {
            let entry =
                |(delete, object): &(bool, Labelled)| match (delete, Arc::new(object.clone())) {
                    (true, object) => Transaction::Delete(LastState::Final(object)),
                    (false, object) => Transaction::Update(object),
                };
            done(store.transaction(entries.iter().map(entry).collect()).is_ok())
        }
        Call::AddIndex => match store.add_indexers([("bits", by_bits())]) {
            Ok(()) => Answer::Done,
            Err(_) => Answer::Refused,
        },
        Call::ByIndex(bit) => known(store.by_index("bits", &bit.to_string()), objects),
        Call::Keys(bit) => known(store.index_keys("bits", &bit.to_string()), Answer::Keys),
        Call::Values => {
            let values = store.list_index_values("bits");
            let mut values: Vec<u8> =
                values.iter().map(|value| value.parse().expect("a value is a bit")).collect();
            values.sort_unstable();
            Answer::Values(values)
        }
        Call::Get(key) => objects(store.get(key).into_iter().collect()),
        Call::List => objects(store.list().to_vec()),
        Call::SnapshotAcross(object) => {
            let snapshot = store.list();
            store.add(Arc::new(object.clone())).expect("it has a key, and no index refuses it");
            objects(snapshot.to_vec())
        }
        Call::Version => Answer::Version(store.last_resource_version()),
    }
}

fn done(done: bool) -> Answer {
    if done { Answer::Done } else { Answer::Refused }
}

fn known<T>(answer: Result<T, IndexError>, write: impl Fn(T) -> Answer) -> Answer {
    answer.map_or(Answer::NoIndex, write)
}

fn objects(objects: Vec<Object>) -> Answer {
    let mut objects: Vec<Labelled> =
        objects.into_iter().map(|object| Labelled::clone(&object)).collect();
    objects.sort_unstable();
    Answer::Objects(objects)
}
