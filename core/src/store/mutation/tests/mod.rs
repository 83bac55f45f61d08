//! The rules of the mutation cache and the mutation detector, one behaviour a test.

mod by_index;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::*;
use crate::cancel::CancelToken;
use crate::runtime::{Ambient, Instant, Manual, Runtime};
use crate::store::{Cause, Described, IndexedStore, LastState, Metadata, NoMetadata, index_by};

#[derive(Clone, PartialEq, Eq, Debug)]
struct Pod {
    name: &'static str,
    version: &'static str,
    uid: &'static str,
    node: &'static str,
}

impl Described for Pod {
    fn metadata(&self) -> Option<Metadata<'_>> {
        let Self { name, version, uid, .. } = self;
        Some(Metadata { namespace: "", name, uid, resource_version: version })
    }
}

type Object = Arc<Pod>;

fn pod(version: &'static str) -> Object {
    on_node(version, "n1")
}

fn on_node(version: &'static str, node: &'static str) -> Object {
    Arc::new(Pod { name: "web", version, uid: "1", node })
}

/// An object with the same name, created after the other was deleted.
fn another(version: &'static str) -> Object {
    Arc::new(Pod { name: "web", version, uid: "2", node: "n1" })
}

fn key_of(object: &Object) -> Result<&'static str, Cause> {
    if object.name.is_empty() { Err(Arc::new(NoMetadata)) } else { Ok(object.name) }
}

/// A store, an overlay on it, and their clock.
struct Setup {
    clock: Manual,
    store: Arc<IndexedStore<&'static str, Object, Manual>>,
    cache: MutationCache<&'static str, Object, Manual>,
}

fn setup(include_adds: bool) -> Setup {
    let clock = Manual::new();
    let store = Arc::new(IndexedStore::new(&clock, key_of));
    store.add_indexers([("node", index_by(|pod: &Object| [pod.node]))]).unwrap();
    let options = MutationOptions { include_adds, ..MutationOptions::default() };
    let cache = MutationCache::new(&clock, Arc::clone(&store), key_of, options);
    Setup { clock, store, cache }
}

impl Setup {
    fn version(&self) -> Option<&'static str> {
        self.cache.get(&"web").unwrap().map(|pod| pod.version)
    }

    fn on_node(&self, node: &str) -> Vec<&'static str> {
        self.cache.by_index("node", node).unwrap().iter().map(|pod| pod.version).collect()
    }
}

#[test]
fn the_newer_of_store_and_overlay_is_read() {
    let it = setup(false);
    it.store.add(pod("5")).unwrap();
    assert_eq!(it.version(), Some("5"));
    it.cache.mutation(pod("10")).unwrap();
    assert_eq!(it.version(), Some("10"), "as numbers, not as texts");
    it.store.update(pod("10")).unwrap();
    it.cache.mutation(pod("9")).unwrap();
    assert_eq!(it.version(), Some("10"));
    it.store.update(pod("")).unwrap();
    assert_eq!(it.version(), Some(""), "what was not newer is forgotten");
}

#[test]
fn an_object_that_the_store_lacks_is_read_on_request_only() {
    for (include_adds, expected) in [(false, None), (true, Some("5"))] {
        let it = setup(include_adds);
        it.cache.mutation(pod("5")).unwrap();
        assert_eq!(it.version(), expected);
        assert_eq!(it.on_node("n1"), Vec::from_iter(expected));
    }
}

#[test]
fn reading_by_index_returns_newer_states_and_added_objects() {
    let it = setup(true);
    it.store.add(on_node("5", "n1")).unwrap();
    it.cache.mutation(on_node("6", "n2")).unwrap();
    assert_eq!(it.on_node("n1"), ["6"], "still there while the store has it there (MC-4)");
    assert_eq!(it.on_node("n2"), ["6"]);
    assert_eq!(it.on_node("n3"), [""; 0]);
    it.cache.mutation(pod("7")).unwrap();
    assert_eq!(it.on_node("n1"), ["7"], "what store and overlay have is read once");
    let error = it.cache.by_index("none", "n1").unwrap_err();
    assert_eq!(error.to_string(), "Index with name none does not exist");
}

#[test]
fn what_was_written_is_forgotten_in_time() {
    let it = setup(true);
    it.cache.mutation(pod("5")).unwrap();
    it.clock.advance(Duration::from_secs(300));
    assert_eq!(it.version(), Some("5"));
    it.clock.advance(Duration::from_nanos(1));
    assert_eq!(it.version(), None);
}

#[test]
fn an_older_write_does_not_replace_a_newer_one() {
    let it = setup(true);
    it.cache.mutation(pod("6")).unwrap();
    it.cache.mutation(pod("5")).unwrap();
    assert_eq!(it.version(), Some("6"));
    it.cache.mutation(on_node("6", "n2")).unwrap();
    assert_eq!(it.on_node("n2"), ["6"], "an equally new one does");
}

#[test]
fn what_the_store_has_seen_is_forgotten() {
    let it = setup(true);
    it.cache.mutation(pod("6")).unwrap();
    it.cache.on_add_or_update(&pod("5")).unwrap();
    assert_eq!(it.version(), Some("6"));
    it.cache.on_add_or_update(&pod("6")).unwrap();
    assert_eq!(it.version(), None);
}

#[test]
fn a_deleted_object_does_not_come_back() {
    let it = setup(true);
    it.cache.mutation(pod("6")).unwrap();
    it.cache.on_delete(&pod("7")).unwrap();
    assert_eq!(it.version(), None, "A34");
    it.cache.mutation(pod("6")).unwrap();
    it.cache.mutation(pod("7")).unwrap();
    it.cache.mutation(pod("9")).unwrap(); // the same object, whatever its version
    assert_eq!(it.version(), None);
    it.cache.mutation(another("7")).unwrap();
    assert_eq!(it.version(), None, "not newer than the deletion");
    it.cache.mutation(another("8")).unwrap();
    assert_eq!(it.version(), Some("8"));
}

#[test]
fn a_deletion_of_an_earlier_object_leaves_a_later_one() {
    let it = setup(true);
    it.cache.mutation(another("8")).unwrap();
    it.cache.on_delete(&pod("7")).unwrap();
    assert_eq!(it.version(), Some("8"));
    it.cache.on_delete(&another("7")).unwrap();
    assert_eq!(it.version(), None, "the same object");
}

#[test]
fn a_deletion_that_was_missed_is_one_as_far_as_it_is_known() {
    let (it, missed) = (setup(true), |object| LastState::unknown("web", object));
    it.cache.mutation(pod("6")).unwrap();
    it.cache.on_delete_last_state(&missed(Some(pod("7")))).unwrap();
    it.cache.mutation(pod("6")).unwrap();
    assert_eq!(it.version(), None, "it is marked");
    it.cache.mutation(another("8")).unwrap();
    it.cache.on_delete_last_state(&missed(None)).unwrap();
    assert_eq!(it.version(), None, "it is forgotten");
    it.cache.mutation(another("8")).unwrap();
    assert_eq!(it.version(), Some("8"), "and not marked");
    it.cache.on_delete_last_state(&LastState::Final(another("8"))).unwrap();
    assert_eq!(it.version(), None);
}

#[test]
fn a_mark_of_a_deletion_is_never_read_and_does_not_hide_the_store() {
    let it = setup(true);
    it.cache.on_delete(&pod("7")).unwrap();
    assert_eq!(it.on_node("n1"), [""; 0]);
    it.store.add(pod("5")).unwrap();
    assert_eq!(it.version(), Some("5"));
    it.cache.on_add_or_update(&another("8")).unwrap();
    it.cache.mutation(pod("7")).unwrap();
    assert_eq!(it.version(), Some("7"), "a newer object has lifted the mark");
}

#[test]
fn an_object_without_a_version_is_older_than_every_other() {
    let it = setup(true);
    it.cache.mutation(pod("")).unwrap();
    assert_eq!(it.version(), Some(""), "MC-2");
    it.cache.mutation(pod("1")).unwrap();
    it.cache.mutation(pod("")).unwrap();
    assert_eq!(it.version(), Some("1"));
}

#[test]
fn a_version_that_is_no_number_is_refused() {
    let it = setup(true);
    let error = it.cache.mutation(pod("x7")).unwrap_err();
    assert_eq!(error.to_string(), r#"resource version "x7" is no number"#);
    assert!(it.cache.on_add_or_update(&pod("-1")).is_err());
    assert!(it.cache.on_delete(&pod("1.5")).is_err());
    it.cache.mutation(pod("5")).unwrap();
    it.store.add(pod("x7")).unwrap();
    assert_eq!(it.cache.get(&"web"), Err(NotANumber("x7".to_owned())));
    assert!(matches!(it.cache.by_index("node", "n1"), Err(ReadError::Version(_))));
    let nameless = Arc::new(Pod { name: "", ..Pod::clone(&pod("1")) });
    assert!(matches!(it.cache.mutation(nameless), Err(WriteError::Key(_))));
}

/// An object that can be changed through shared access.
#[derive(Debug)]
struct Counter(AtomicU32);

impl Clone for Counter {
    fn clone(&self) -> Self {
        Self(AtomicU32::new(self.0.load(Ordering::Relaxed)))
    }
}

impl PartialEq for Counter {
    fn eq(&self, other: &Self) -> bool {
        self.0.load(Ordering::Relaxed) == other.0.load(Ordering::Relaxed)
    }
}

fn counter() -> Arc<Counter> {
    Arc::new(Counter(AtomicU32::new(1)))
}

#[test]
fn an_object_that_was_changed_is_found() {
    let detector = MutationDetector::new(&Manual::new());
    let (changed, kept) = (counter(), counter());
    detector.add(&changed);
    detector.add(&kept);
    assert!(detector.compare().is_empty());
    changed.0.store(2, Ordering::Relaxed);
    let found = detector.compare();
    assert_eq!(found.len(), 1);
    assert!(Arc::ptr_eq(&found[0].object, &changed));
    assert_eq!(found[0].was, Counter(AtomicU32::new(1)));
    assert_eq!(detector.compare().len(), 1, "every time");
}

#[test]
fn an_object_is_watched_for_two_to_four_minutes() {
    let clock = Manual::new();
    let detector = MutationDetector::new(&clock);
    let object = counter();
    detector.add(&object);
    detector.compare();
    for _ in 0..2 {
        assert_eq!(Arc::strong_count(&object), 2);
        clock.advance(Duration::from_secs(120));
        detector.compare();
    }
    assert_eq!(Arc::strong_count(&object), 1, "MD-3");
    object.0.store(2, Ordering::Relaxed);
    assert!(detector.compare().is_empty());
}

#[test]
fn after_a_rotation_an_object_is_watched_until_the_next() {
    let clock = Manual::new();
    let detector = MutationDetector::new(&clock);
    let object = counter();
    detector.add(&object);
    for wait in [120, 1, 118] {
        clock.advance(Duration::from_secs(wait));
        assert!(detector.compare().is_empty());
    }
    object.0.store(2, Ordering::Relaxed);
    assert_eq!(detector.compare().len(), 1, "MD-3");
    assert_eq!(format!("{detector:?}"), "MutationDetector");
}

#[test]
fn after_a_pause_an_object_is_watched_as_long_as_without_one() {
    let clock = Manual::new();
    let detector = MutationDetector::new(&clock);
    clock.advance(Duration::from_secs(600)); // no one has looked in between
    let object = counter();
    detector.add(&object);
    for _ in 0..3 {
        assert!(detector.compare().is_empty());
        clock.advance(Duration::from_secs(1));
    }
    object.0.store(2, Ordering::Relaxed);
    assert_eq!(detector.compare().len(), 1, "MD-3");
}

#[test]
fn an_object_is_looked_at_a_last_time_before_it_is_dropped() {
    let clock = Manual::new();
    let detector = MutationDetector::new(&clock);
    let object = counter();
    detector.add(&object);
    clock.advance(Duration::from_secs(120));
    assert!(detector.compare().is_empty());
    object.0.store(2, Ordering::Relaxed);
    clock.advance(Duration::from_secs(120));
    assert_eq!(detector.compare().len(), 1, "MD-3");
}

#[test]
fn a_running_detector_looks_every_second_and_says_nothing_while_nothing_changes() {
    const SECOND: Duration = Duration::from_secs(1);
    let clock = Manual::new();
    let detector = Arc::new(MutationDetector::new(&clock));
    let (object, token, told) = (counter(), CancelToken::new(&clock), Arc::new(Mutex::new(vec![])));
    detector.add(&object);
    let running = {
        let (inner, token, told) = (clock.clone(), token.clone(), Arc::clone(&told));
        clock.spawn("detector", move || {
            let tell = |found: Vec<Mutated<Counter>>| told.lock().push((inner.now(), found.len()));
            detector.run(&token, Some(&tell));
        })
    };
    let sleeps = || assert!(clock.until_waiting(1, Duration::from_secs(10)));
    for _ in 0..2 {
        sleeps();
        clock.advance(SECOND);
    }
    sleeps();
    assert!(told.lock().is_empty());
    object.0.store(2, Ordering::Relaxed);
    clock.advance(SECOND);
    sleeps();
    assert_eq!(*told.lock(), [(Instant::ZERO + 3 * SECOND, 1)]);
    token.cancel();
    clock.join(running).unwrap();
}

#[test]
fn a_deletion_counts_unless_another_object_was_written_since() {
    for (written, remains) in [("4", false), ("5", false), ("6", true)] {
        let it = setup(true);
        it.cache.mutation(another(written)).unwrap();
        it.cache.on_delete(&pod("5")).unwrap();
        assert_eq!(it.version(), remains.then_some(written));
    }
    assert_eq!(format!("{:?}", setup(true).cache), "MutationCache");
}

#[test]
fn a_running_detector_tells_or_panics_and_ends_with_its_token() {
    let clock = Manual::new();
    let detector = MutationDetector::new(&clock);
    let (object, token) = (counter(), CancelToken::new(&clock));
    detector.add(&object);
    object.0.store(2, Ordering::Relaxed);
    let told = Mutex::new(0);
    let tell = |found: Vec<Mutated<Counter>>| {
        *told.lock() += found.len();
        token.cancel();
    };
    detector.run(&token, Some(&tell));
    assert_eq!(*told.lock(), 1);
    let alone = AssertUnwindSafe(|| detector.run(&CancelToken::new(&clock), None));
    assert!(catch_unwind(alone).is_err(), "nobody is there to be told");
}

#[test]
fn unless_told_otherwise_it_keeps_a_hundred_objects_for_five_minutes_and_adds_none() {
    let options = MutationOptions::default();
    assert_eq!((options.time, options.capacity), (Duration::from_secs(300), 100));
    assert!(!options.include_adds);
}
