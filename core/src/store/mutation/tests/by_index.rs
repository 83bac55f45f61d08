//! Reads by index, and what may happen while they run.

use std::cell::RefCell;
use std::cmp;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::runtime::probe::Probe;

#[derive(Debug)]
struct Numbered(u32);

impl Described for Numbered {
    fn metadata(&self) -> Option<Metadata<'_>> {
        Some(Metadata { resource_version: "1", ..Metadata::default() })
    }
}

#[test]
fn reading_by_index_returns_as_many_objects_as_there_are() {
    let key_of = |object: &Arc<Numbered>| Ok(object.0);
    let (clock, all) = (Manual::new(), index_by(|_: &Arc<Numbered>| ["x"]));
    let store = Arc::new(IndexedStore::new(&clock, key_of));
    store.add_indexers([("all", all)]).unwrap();
    (0..200).for_each(|number| store.add(Arc::new(Numbered(number))).unwrap());
    let cache = MutationCache::new(&clock, store, key_of, MutationOptions::default());
    assert_eq!(cache.by_index("all", "x").unwrap().len(), 200);
}

/// A cache whose index function makes a call, and its store.
#[derive(Default)]
struct Asked {
    cache: OnceLock<Setup>,
    /// Whether the index function was called before.
    before: AtomicBool,
    probe: Arc<Probe>,
}

#[test]
fn an_index_function_may_use_the_cache_and_bring_a_write_into_the_store() {
    let asked = Arc::<Asked>::default();
    let of = Arc::downgrade(&asked);
    let it = asked.cache.get_or_init(|| setup(true));
    let function = index_by(move |pod: &Object| {
        let asked = of.upgrade().expect("the test has it");
        if !asked.before.swap(true, Ordering::SeqCst) {
            asked.probe.run();
        }
        [pod.node]
    });
    it.store.add_indexers([("asking", function)]).unwrap();
    it.cache.mutation(pod("5")).unwrap();
    let of = Arc::downgrade(&asked);
    asked.probe.calls(move || {
        let asked = of.upgrade().expect("the test has it");
        let it = asked.cache.get().expect("it is made before it is called");
        assert_eq!(it.version(), Some("5"));
        it.store.add(pod("5")).unwrap();
        it.cache.on_add_or_update(&pod("5")).unwrap();
        assert_eq!(it.version(), Some("5"));
    });
    let found = it.cache.by_index("asking", "n1").unwrap();
    assert_eq!(asked.probe.ends(), (1, 1), "no lock is held while it is asked");
    assert_eq!(found, [pod("5")], "once");
    assert_eq!(it.store.len(), 1);
}

thread_local! {
    static SORTING: RefCell<Option<Arc<Probe>>> = const { RefCell::new(None) };
}

/// A key that runs a probe, once, when it is compared to sort it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Name(&'static str);

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> cmp::Ordering {
        if let Some(probe) = SORTING.take() {
            probe.run();
        }
        self.0.cmp(other.0)
    }
}

#[test]
fn a_read_by_index_is_one_step_so_no_write_is_between_the_store_and_the_cache() {
    let key_of = |object: &Object| Ok(Name(object.name));
    let named = |name| Arc::new(Pod { name, ..Pod::clone(&pod("5")) });
    let (clock, probe) = (Manual::new(), Arc::<Probe>::default());
    let store = Arc::new(IndexedStore::new(&clock, key_of));
    store.add_indexers([("node", index_by(|pod: &Object| [pod.node]))]).unwrap();
    store.add(named("a")).unwrap();
    store.add(named("b")).unwrap();
    let options = MutationOptions { include_adds: true, ..MutationOptions::default() };
    let cache = Arc::new(MutationCache::new(&clock, Arc::clone(&store), key_of, options));
    cache.mutation(named("c")).unwrap();
    let (told, filled) = (Arc::clone(&cache), Arc::clone(&store));
    probe.calls(move || {
        filled.add(named("c")).unwrap();
        told.on_add_or_update(&named("c")).unwrap();
    });
    SORTING.set(Some(Arc::clone(&probe)));
    let mut found: Vec<_> =
        cache.by_index("node", "n1").unwrap().iter().map(|pod| pod.name).collect();
    found.sort_unstable();
    assert_eq!(probe.ends(), (1, 0), "the cache forgets it afterwards, cache:MC-1");
    assert_eq!(found, ["a", "b", "c"]);
}
