//! Reads of one's own writes, and of known versions.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::server::Object;
use super::{Running, nap};
use crate::informer::{NotVisibleError, after_own_writes};
use crate::limited_queue::LimitedQueue;
use crate::pool::Pool;
use crate::runtime::{Ambient, Instant, Runtime};
use crate::store::Described;

const LONG: Duration = Duration::from_secs(600);

impl Running {
    /// Returns a running informer that has its first list, and the time until which to wait.
    fn synced() -> (Self, Instant, std::thread::JoinHandle<Result<(), super::AlreadyRun>>) {
        let bed = Self::new();
        let thread = bed.start();
        let until = bed.system.now() + LONG;
        assert!(bed.informer.wait_for_sync(until));
        (bed, until, thread)
    }

    fn wrote(&self, object: &Object) {
        self.informer.wrote(object.metadata().unwrap()).unwrap();
    }

    fn deleted(&self, object: &Object) {
        self.informer.deleted(object.metadata().unwrap()).unwrap();
    }

    fn version(&self) -> String {
        self.server.revision().to_string()
    }
}

#[test]
fn a_version_that_is_known_is_read_at_least() {
    let (bed, until, thread) = Running::synced();
    for _ in 0..20 {
        let put = bed.server.put("a");
        let read = bed.informer.get_at_least("a", &put.version, until).unwrap().unwrap();
        assert_eq!(read, put);
        bed.server.delete("a");
        let list = bed.informer.list_at_least(&bed.version(), until).unwrap();
        assert_eq!(list.len(), 0);
    }
    bed.stop(thread);
}

#[test]
fn who_does_not_wait_is_told_that_it_is_stale() {
    let (bed, until, thread) = Running::synced();
    bed.server.hold(Some(0));
    bed.server.put("a");
    let stale = NotVisibleError::Behind { wanted: 1, seen: 0 };
    let soon = bed.system.now() + Duration::from_millis(20);
    for patience in [Instant::ZERO, soon] {
        let read = bed.informer.get_at_least("a", "1", patience);
        assert_eq!(read.unwrap_err(), stale);
    }
    assert!(bed.system.now() >= soon);
    bed.server.hold(None);
    assert!(bed.informer.get_at_least("a", "1", until).unwrap().is_some());
    let odd = bed.informer.get_at_least("a", "first", until).unwrap_err();
    assert_eq!(odd, NotVisibleError::NotANumber("first".to_owned()));
    bed.stop(thread);
    assert_eq!(bed.informer.list_at_least("7", until).unwrap_err(), NotVisibleError::Stopped);
    assert!(bed.informer.list_at_least("1", until).is_ok(), "what is there can be read");
}

#[test]
fn a_deletion_is_visible_once_the_uid_is_gone_also_if_the_name_is_taken_again() {
    let (bed, until, thread) = Running::synced();
    let first = bed.server.put("a");
    bed.wrote(&first);
    assert_eq!(bed.informer.get_written("a", until).unwrap(), Some(Arc::clone(&first)));
    bed.server.hold(Some(1));
    bed.server.delete("a");
    bed.deleted(&first); // the version is that of the last state, which is visible
    let still = NotVisibleError::StillThere { uid: first.uid.clone() };
    assert_eq!(bed.informer.get_written("a", Instant::ZERO).unwrap_err(), still);
    assert_eq!(bed.informer.list_written(Instant::ZERO).unwrap_err(), still);
    let second = bed.server.put("a");
    assert_ne!(second.uid, first.uid);
    bed.server.hold(None);
    let read = bed.informer.get_written("a", until).unwrap();
    assert!(read.is_none_or(|it| it.uid == second.uid));
    bed.stop(thread);
}

#[test]
fn a_relist_that_shows_it_ends_the_wait_for_a_deletion() {
    let (bed, until, thread) = Running::synced();
    let object = bed.server.put("a");
    bed.wrote(&object);
    bed.informer.get_written("a", until).unwrap();
    bed.server.hold(Some(1));
    bed.server.delete("a");
    bed.deleted(&object);
    let waits = Arc::clone(&bed.informer);
    let waiting = bed.system.spawn("waits", move || waits.list_written(until).map(|it| it.len()));
    bed.server.forget(); // the stream never tells of it
    bed.server.hold(None);
    assert_eq!(bed.system.join(waiting).unwrap(), Ok(0));
    bed.stop(thread);
}

#[test]
fn a_list_that_goes_back_makes_waiters_wait_again() {
    let (bed, until, thread) = Running::synced();
    for name in ["a", "b", "c"] {
        bed.server.put(name);
    }
    assert_eq!(bed.informer.list_at_least("3", until).unwrap().len(), 3);
    bed.server.hold(Some(1)); // another server, which is behind
    bed.server.put("d");
    bed.server.forget();
    let is_back = || bed.informer.list_at_least("3", Instant::ZERO).is_err();
    // The old objects stay until the older list is in the store.
    while !is_back() || bed.informer.store().len() == 3 {
        nap(1);
    }
    assert_eq!(bed.informer.list_at_least("1", until).unwrap().len(), 1);
    bed.server.hold(None);
    assert_eq!(bed.informer.list_at_least("3", until).unwrap().len(), 4);
    bed.stop(thread);
}

#[test]
fn a_wait_that_is_dropped_leaves_nothing_and_loses_no_note() {
    let (bed, until, thread) = Running::synced();
    bed.server.hold(Some(0));
    let object = bed.server.put("a");
    bed.wrote(&object);
    let mut wait = Box::pin(bed.informer.get_written_async("a", until));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(wait.as_mut().poll(&mut context).is_pending());
    drop(wait);
    assert!(bed.informer.get_written("a", Instant::ZERO).is_err(), "the note is still there");
    bed.server.hold(None);
    assert_eq!(bed.informer.get_written("a", until).unwrap(), Some(object));
    assert_eq!(bed.informer.list_written(Instant::ZERO).unwrap().len(), 1);
    bed.stop(thread);
}

#[test]
fn notes_that_nobody_asks_for_are_forgotten_once_they_are_visible() {
    let (bed, until, thread) = Running::synced();
    for number in 0..600 {
        let object = bed.server.put(&number.to_string());
        bed.wrote(&object);
        if number % 100 == 0 {
            bed.informer.list_at_least(&object.version, until).unwrap();
        }
    }
    let notes = bed.system.lock(&bed.informer.visible.ledger).len();
    assert!(notes < 250, "{notes}");
    bed.stop(thread);
}

#[test]
fn a_reconciler_starts_when_its_own_write_is_visible() {
    let (bed, _, thread) = Running::synced();
    bed.server.put("a");
    let queue = Arc::new(LimitedQueue::with_default_limiter(&bed.system));
    let stale = Arc::new(Mutex::new(Vec::new()));
    let reconcile = {
        let (server, informer, stale) =
            (bed.server.clone(), Arc::clone(&bed.informer), Arc::clone(&stale));
        let newest = Mutex::new(0_u64);
        move |key: &String| {
            let version = informer.store().get(key).map_or(0, |it| it.version.parse().unwrap());
            let mut newest = newest.lock();
            if version < *newest {
                stale.lock().push((version, *newest));
            }
            let object = server.put(key);
            informer.wrote(object.metadata().unwrap()).unwrap();
            *newest = object.version.parse().unwrap();
        }
    };
    let patience = Duration::from_millis(10);
    let reconcile = after_own_writes(&bed.informer, patience, reconcile);
    let pool = Pool::start(&bed.system, &queue, NonZeroUsize::MIN, reconcile);
    for _ in 0..10 {
        let revision = bed.server.revision();
        queue.add("a".to_owned());
        while bed.server.revision() == revision {
            nap(1);
        }
    }
    let revision = bed.server.revision();
    bed.server.hold(Some(revision));
    queue.add("a".to_owned());
    while bed.server.revision() == revision {
        nap(1);
    }
    queue.add("a".to_owned());
    // It comes back again and again, and does nothing meanwhile.
    while queue.num_requeues(&"a".to_owned()) < 3 && bed.server.revision() == revision + 1 {
        nap(1);
    }
    assert_eq!(bed.server.revision(), revision + 1, "it does not start on what it cannot see");
    bed.server.hold(None);
    while bed.server.revision() == revision + 1 {
        nap(1);
    }
    assert!(pool.shut_down(LONG).is_complete());
    assert_eq!(*stale.lock(), []);
    bed.stop(thread);
}

#[test]
fn a_write_that_was_seen_is_not_unseen_by_a_list_that_goes_back() {
    let (bed, until, thread) = Running::synced();
    bed.server.put("a");
    let written = bed.server.put("a");
    bed.wrote(&written);
    assert_eq!(bed.informer.get_written("a", until).unwrap(), Some(Arc::clone(&written)));
    bed.server.hold(Some(1)); // another server, which is behind
    bed.server.put("b");
    bed.server.forget();
    let stale = |object: Option<Object>| object.is_some_and(|it| it.version == "1");
    while !stale(bed.informer.store().get(&"a".to_owned())) {
        nap(1);
    }
    let behind = NotVisibleError::Behind { wanted: 2, seen: 1 };
    assert_eq!(bed.informer.get_written("a", Instant::ZERO).unwrap_err(), behind);
    assert_eq!(bed.informer.list_written(Instant::ZERO).unwrap_err(), behind);
    bed.server.hold(None);
    assert_eq!(bed.informer.get_written("a", until).unwrap(), Some(written));
    assert!(bed.informer.list_written(Instant::ZERO).is_ok());
    bed.stop(thread);
}

/// The storage of the server is restored from a copy that lacks the write.
#[test]
fn a_reconciler_starts_again_after_its_write_was_lost() {
    let (bed, until, thread) = Running::synced();
    bed.server.put("a");
    let lost = bed.server.put("a");
    bed.informer.get_at_least("a", &lost.version, until).unwrap();
    bed.wrote(&lost);
    bed.informer.get_written("a", until).unwrap();
    bed.server.hold(Some(1));
    bed.server.put("b");
    bed.server.forget();
    while bed.informer.get_written("b", Instant::ZERO).is_ok() {
        nap(1);
    }
    let queue = Arc::new(LimitedQueue::with_default_limiter(&bed.system));
    queue.add("b".to_owned());
    let (done, is_done) = std::sync::mpsc::channel();
    let reconcile =
        after_own_writes(&bed.informer, Duration::from_millis(1), move |key: &String| {
            done.send(key.clone()).unwrap();
        });
    let pool = Pool::start(&bed.system, &queue, NonZeroUsize::MIN, reconcile);
    assert_eq!(is_done.recv_timeout(LONG).unwrap(), "b");
    assert!(pool.shut_down(LONG).is_complete());
    bed.stop(thread);
}
