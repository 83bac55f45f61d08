//! Objects that call the store from another thread when they are dropped.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::*;
use crate::runtime::Ambient;
use crate::store::KeyHasher;

/// How long to wait for a call before it counts as blocked by a lock.
const PATIENCE: Duration = Duration::from_secs(3);

/// The store, how many calls its objects made, and how many returned in time.
#[derive(Default)]
struct Home {
    store: OnceLock<IndexedStore<u32, Arc<Curious>>>,
    answers: AtomicUsize,
    in_time: AtomicUsize,
}

struct Curious {
    key: u32,
    home: Arc<Home>,
}

impl fmt::Debug for Curious {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key.fmt(f)
    }
}

impl Drop for Curious {
    fn drop(&mut self) {
        let (runtime, before) = (System::new(), self.home.answers.load(Ordering::Relaxed));
        let home = Arc::clone(&self.home);
        let asking = runtime.spawn("asking", move || {
            let store = home.store.get().expect("the store is made before its objects");
            store.len();
            store.delete_key(&u32::MAX).unwrap(); // takes the writers' lock as well
            home.answers.fetch_add(1, Ordering::Relaxed);
        });
        let end = runtime.now() + PATIENCE;
        let waits = || self.home.answers.load(Ordering::Relaxed) == before;
        while waits() && runtime.now() < end {
            runtime.sleep_until(runtime.now() + Duration::from_micros(100));
        }
        self.home.in_time.fetch_add(usize::from(!waits()), Ordering::Relaxed);
        drop(asking);
    }
}

#[test]
fn objects_that_leave_are_dropped_without_a_lock() {
    let home = Arc::<Home>::default();
    let new = |key| Arc::new(Curious { key, home: Arc::clone(&home) });
    let store = IndexedStore::new(&System::new(), |object: &Arc<Curious>| Ok(object.key));
    let store = home.store.get_or_init(|| store);
    let answered = || home.in_time.load(Ordering::Relaxed);
    store.add(new(1)).unwrap();
    store.add(new(1)).unwrap();
    assert_eq!(answered(), 1, "the object that was replaced");
    store.delete_key(&1).unwrap();
    assert_eq!(answered(), 2, "the object that was deleted");
    store.transaction(vec![Transaction::Add(new(2)), Transaction::Add(new(2))]).unwrap();
    assert_eq!(answered(), 3, "the earlier of two in a transaction");
    store.replace(vec![new(3), new(3), new(4)], "").unwrap();
    assert_eq!(answered(), 5, "the one before the list, and the earlier of two in it");
    store.replace(vec![], "").unwrap();
    assert_eq!((answered(), store.len()), (7, 0));
}

/// The function is called for the added object, for its replacement, and then for the object that
/// the replacement finds. There it fails, when the new object is already on its way into the store.
#[test]
fn an_object_that_is_refused_is_dropped_without_a_lock() {
    let home = Arc::<Home>::default();
    let new = |key| Arc::new(Curious { key, home: Arc::clone(&home) });
    let store = IndexedStore::new(&System::new(), |object: &Arc<Curious>| Ok(object.key));
    let store = home.store.get_or_init(|| store);
    let answered = || home.in_time.load(Ordering::Relaxed);
    let calls = AtomicUsize::new(0);
    let third: IndexFunction<Arc<Curious>> = Arc::new(move |_, _| {
        if calls.fetch_add(1, Ordering::Relaxed) % 3 == 2 {
            return Err(Arc::new(NoMetadata));
        }
        Ok(())
    });
    store.add_indexers([("third", third)]).unwrap();
    store.add(new(1)).unwrap();
    assert!(store.add(new(1)).is_err());
    assert_eq!(answered(), 1);
    store.transaction(vec![Transaction::Add(new(2)), Transaction::Add(new(3))]).unwrap();
    assert!(store.transaction(vec![Transaction::Add(new(4))]).is_err());
    assert_eq!(answered(), 2);
    store.add(new(5)).unwrap();
    store.add(new(6)).unwrap();
    assert!(store.replace(vec![new(7)], "").is_err());
    assert_eq!(answered(), 3);
}

/// An index function that calls the store when it is dropped.
struct Asking(Arc<Curious>);

#[test]
fn an_index_function_that_is_refused_is_dropped_without_a_lock() {
    let home = Arc::<Home>::default();
    let store = IndexedStore::new(&System::new(), |object: &Arc<Curious>| Ok(object.key));
    let store = home.store.get_or_init(|| store);
    let function = || -> IndexFunction<Arc<Curious>> {
        let asking = Asking(Arc::new(Curious { key: 0, home: Arc::clone(&home) }));
        Arc::new(move |_, _| {
            let _kept = &asking.0;
            Ok(())
        })
    };
    let added = store.add_indexers([("a", function()), ("a", function()), ("b", function())]);
    assert!(matches!(added, Err(AddIndexersError::Conflict)));
    assert_eq!(home.in_time.load(Ordering::Relaxed), 3);
}

/// A key or a handle that counts the drops of its kind.
#[derive(Clone, Debug)]
struct Counted(u32, Arc<AtomicUsize>);

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Counted {}

impl Hash for Counted {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn no_key_and_no_handle_is_dropped_under_the_readers_lock() {
    let (hasher, dropped) = (KeyHasher::fixed(0), Arc::<AtomicUsize>::default());
    let new = || Counted(1, Arc::clone(&dropped));
    let mut content = Content::<Counted, Counted>::with_room(0);
    let mut apply = |object: Option<Counted>| {
        let change = Change { key: hasher.hashed(new()), object };
        let before = dropped.load(Ordering::Relaxed);
        let slot = content.slot(change.key.key(), change.key.hash());
        let mut left = None;
        content.apply(slot, change, &[], &Values::new(hasher.clone()), |gone| left = Some(gone));
        assert_eq!(dropped.load(Ordering::Relaxed), before, "it is left to be dropped later");
        drop(left);
        content.check(&hasher);
        dropped.load(Ordering::Relaxed) - before
    };
    assert_eq!(apply(Some(new())), 0, "key and handle are kept");
    assert_eq!(apply(Some(new())), 2, "the key that was there already, and the handle");
    assert_eq!(apply(None), 3, "the key that names them, key and handle");
    assert_eq!(apply(None), 1, "the key of nothing");
}
