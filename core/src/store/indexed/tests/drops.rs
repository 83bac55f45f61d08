//! Objects that ask and change the store that they leave, from another thread, as they are dropped.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::*;
use crate::runtime::Ambient;

/// How long somebody who was dropped under a lock waits in vain.
const PATIENCE: Duration = Duration::from_secs(3);

/// The store, how many answers its objects got, and how many of those while they waited.
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
