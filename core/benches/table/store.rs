//! The indexed store.

use std::hint::black_box;
use std::iter::repeat_n;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use seatrial_core::runtime::System;
use seatrial_core::store::{IndexedStore, Intake, index_by_one};

use crate::Measure;
use crate::measure::{
    Key, bytes_of, duel, filling_duel, giving_duel, longest, per_item, prepared_duel, shuffle, wall,
};
use crate::objects::{Object, objects};
use crate::plain::store::Plain;
use crate::plain::{HashMap, Hashing, Same, SipHash};
use crate::row::Row;

pub(crate) const ROWS: &[Measure] = &[
    Measure::new("store", "add, 100,000 objects, 2 indices", add::<Same>).siphash(add::<SipHash>),
    Measure::new("store", "list of 100,000, read through", list),
    Measure::new("store", "list of 100,000, into a vector", list_copied),
    Measure::new("store", "by index, 100 found", by_index::<Same>).siphash(by_index::<SipHash>),
    Measure::new("store", "replace of 100,000", replace::<Same>).siphash(replace::<SipHash>),
    Measure::new("store", "get, one key", get_hot::<Same>).siphash(get_hot::<SipHash>),
    Measure::new("store", "get, one key", get_hot_bare),
    Measure::new("store", "get, shuffled keys", get_shuffled::<Same>)
        .siphash(get_shuffled::<SipHash>),
    Measure::new("store", "get, shuffled keys", get_shuffled_bare),
    Measure::new("store", "get beside a writer at full speed", get_beside_writer),
    Measure::new("store", "the same, 1 of 100 takes longer", one_of_100_beside_writer),
    Measure::new("store", "get beside a writer of whole lists", get_beside_lists),
    Measure::new("store", "the same, the slowest", slowest_beside_lists),
];

const OBJECTS: usize = 100_000;

type Ours = IndexedStore<Key, Arc<Object>>;

/// Makes a store whose objects lend their keys and values. Plain makes keys and lists of values, as
/// the reference does.
fn ours() -> Ours {
    let system = System::new();
    let intake = Intake::new(&system, |object: &Arc<Object>| Ok(Arc::clone(&object.key)));
    let store = IndexedStore::with_intake(&system, intake, None);
    let indices = [
        ("zone", index_by_one(|object: &Arc<Object>| Some(&*object.zone))),
        ("node", index_by_one(|object: &Arc<Object>| Some(&*object.node))),
    ];
    assert!(store.add_indexers(indices).is_ok());
    store
}

fn plain<S: Hashing>() -> Plain<S> {
    Plain::with_indices(&[
        ("zone", |object| vec![Arc::clone(&object.zone)]),
        ("node", |object| vec![Arc::clone(&object.node)]),
    ])
}

fn fill_ours(objects: Vec<Arc<Object>>) -> Ours {
    let store = ours();
    for object in objects {
        assert!(store.add(object).is_ok());
    }
    store
}

fn fill_plain<S: Hashing>(objects: Vec<Arc<Object>>) -> Plain<S> {
    let store = plain();
    objects.into_iter().for_each(|object| store.add(object));
    store
}

/// Returns objects, and both stores filled with them.
fn filled<S: Hashing>() -> (Vec<Arc<Object>>, Ours, Plain<S>) {
    let all = objects(OBJECTS);
    let (ours, plain) = (fill_ours(all.clone()), fill_plain(all.clone()));
    (all, ours, plain)
}

fn add<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    let all = objects(OBJECTS);
    let times = filling_duel(OBJECTS, || all.clone(), fill_ours, fill_plain::<S>);
    let held = (size_of::<Key>() + size_of::<Arc<Object>>()) as f64;
    let bytes = bytes_of(objects, fill_ours) - held;
    let pause = longest(
        5,
        || (ours(), all.clone()),
        |(store, all), laps| {
            all.into_iter().for_each(|object| assert!(laps.lap(|| store.add(object)).is_ok()));
        },
    );
    let row = Row::new(part, row, times).goal(per_item(4.0)).gate(2.0);
    row.bytes(bytes).most_bytes(91.0).pause(pause)
}

/// A list, used as a controller does: to look at every object.
fn list(part: &'static str, row: &'static str) -> Row {
    let (_, ours, plain) = filled::<Same>();
    let count = OBJECTS as u64;
    let read = |seen: u64| assert_eq!(seen, count);
    let times = duel(
        OBJECTS,
        || read(ours.list().objects().map(looked_at).sum()),
        || read(plain.list().iter().map(looked_at).sum()),
    );
    Row::new(part, row, times).goal(5.0).gate(2.0)
}

/// Reads something from an object; returns one.
fn looked_at(object: &Arc<Object>) -> u64 {
    u64::from(black_box(object.zone.len()) > 0)
}

/// The row without a gate that belongs to the one above: in both stores, a copy clones every
/// handle.
fn list_copied(part: &'static str, row: &'static str) -> Row {
    let (_, ours, plain) = filled::<Same>();
    let times = duel(
        OBJECTS,
        || assert_eq!(black_box(ours.list().to_vec()).len(), OBJECTS),
        || assert_eq!(black_box(plain.list()).len(), OBJECTS),
    );
    Row::new(part, row, times)
}

fn by_index<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    const LOOKS: usize = 1_000;
    let (_, ours, plain) = filled::<S>();
    let nodes: Vec<_> = (0..LOOKS).map(|number| format!("node-{number}")).collect();
    let found = |list: Vec<Arc<Object>>| assert_eq!(black_box(list).len(), 100);
    let times = duel(
        LOOKS,
        || nodes.iter().for_each(|node| found(ours.by_index("node", node).unwrap_or_default())),
        || nodes.iter().for_each(|node| found(plain.by_index("node", node))),
    );
    Row::new(part, row, times).goal(2_000.0).gate(2.0)
}

fn replace<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    let (all, ours, plain) = filled::<S>();
    let times = giving_duel(
        OBJECTS,
        || all.clone(),
        |list| assert!(ours.replace(list, "2").is_ok()),
        |list| plain.replace(list),
    );
    Row::new(part, row, times).goal(280.0).gate(2.0)
}

const READS: usize = 300_000;

#[inline(always)]
fn look_up<'k>(keys: impl Iterator<Item = &'k Key>, get: impl Fn(&'k Key) -> Option<Arc<Object>>) {
    keys.for_each(|key| assert!(black_box(get(black_box(key))).is_some()));
}

fn get_hot<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    let (all, ours, plain) = filled::<S>();
    let key = &all[0].key;
    let times = duel(
        READS,
        || look_up(repeat_n(key, READS), |key| ours.get(key)),
        || look_up(repeat_n(key, READS), |key| plain.get(key)),
    );
    Row::new(part, row, times).gate(1.0)
}

/// Returns the objects in a map without a lock: the cost of only a look-up.
fn bare(all: &[Arc<Object>]) -> HashMap<Key, Arc<Object>, Same> {
    all.iter().map(|object| (Arc::clone(&object.key), Arc::clone(object))).collect()
}

fn get_hot_bare(part: &'static str, row: &'static str) -> Row {
    let (all, ours, _) = filled::<Same>();
    let (bare, key) = (bare(&all), &all[0].key);
    let times = duel(
        READS,
        || look_up(repeat_n(key, READS), |key| ours.get(key)),
        || look_up(repeat_n(key, READS), |key| bare.get(key).cloned()),
    );
    Row::new(part, row, times).against("a bare map")
}

fn shuffled(all: &[Arc<Object>]) -> Vec<Key> {
    let mut keys: Vec<Key> = all.iter().map(|object| Arc::clone(&object.key)).collect();
    keys.reverse();
    shuffle(&mut keys);
    keys
}

fn get_shuffled<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    let (all, ours, plain) = filled::<S>();
    let keys = shuffled(&all);
    let times = duel(
        keys.len(),
        || look_up(keys.iter(), |key| ours.get(key)),
        || look_up(keys.iter(), |key| plain.get(key)),
    );
    Row::new(part, row, times).gate(1.0)
}

fn get_shuffled_bare(part: &'static str, row: &'static str) -> Row {
    let (all, ours, _) = filled::<Same>();
    let (bare, keys) = (bare(&all), shuffled(&all));
    let times = duel(
        keys.len(),
        || look_up(keys.iter(), |key| ours.get(key)),
        || look_up(keys.iter(), |key| bare.get(key).cloned()),
    );
    Row::new(part, row, times).against("a bare map")
}

/// How both stores are written to, again and again.
type Writes = (fn(&Ours, &[Arc<Object>]), fn(&Plain<Same>, &[Arc<Object>]));

const ONE_BY_ONE: Writes = (
    |ours, all| all.iter().take(100).for_each(|one| assert!(ours.add(one.clone()).is_ok())),
    |plain, all| all.iter().take(100).for_each(|one| plain.add(one.clone())),
);
/// Holds a plain store's lock for a long time.
const WHOLE_LISTS: Writes = (
    |ours, all| assert!(ours.replace(all.to_vec(), "2").is_ok()),
    |plain, all| plain.replace(all.to_vec()),
);

/// Reads every key once while another thread writes; `figure` computes the figure from the reads.
fn beside(
    (part, row): (&'static str, &'static str),
    (write_ours, write_plain): Writes,
    figure: fn(&Reads<'_>) -> Duration,
) -> Row {
    let (all, ours, plain) = filled::<Same>();
    let keys = shuffled(&all);
    let times = prepared_duel(
        1,
        || {
            let read = |key: &Key| ours.get(key).is_some();
            while_writing(
                || write_ours(&ours, &all),
                || figure(&Reads { keys: &keys, read: &read }),
            )
        },
        || {
            let read = |key: &Key| plain.get(key).is_some();
            while_writing(
                || write_plain(&plain, &all),
                || figure(&Reads { keys: &keys, read: &read }),
            )
        },
    );
    Row::new(part, row, times).against("a lock around a map")
}

fn while_writing<T>(write: impl Fn() + Sync, read: impl FnOnce() -> T) -> T {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                write();
            }
        });
        let read = read();
        stop.store(true, Ordering::Relaxed);
        read
    })
}

/// The keys to read, and how to read one.
struct Reads<'a> {
    keys: &'a [Key],
    read: &'a dyn Fn(&Key) -> bool,
}

impl Reads<'_> {
    fn mean(&self) -> Duration {
        let read = |key| assert!(black_box((self.read)(key)));
        wall(|| self.keys.iter().for_each(read)) / self.keys.len() as u32
    }

    /// Returns the time that all but this percentage of the reads need.
    fn but(&self, percent: usize) -> Duration {
        let took = |key| wall(|| assert!(black_box((self.read)(key))));
        let mut times: Vec<Duration> = self.keys.iter().map(took).collect();
        times.sort_unstable();
        times[(times.len() * (100 - percent) / 100).min(times.len() - 1)]
    }
}

fn get_beside_writer(part: &'static str, row: &'static str) -> Row {
    beside((part, row), ONE_BY_ONE, |reads| reads.mean()).gate(10.0)
}

fn one_of_100_beside_writer(part: &'static str, row: &'static str) -> Row {
    beside((part, row), ONE_BY_ONE, |reads| reads.but(1))
}

/// Most reads of either store do not meet the writer, but they read objects whose table was just
/// written on another processor.
fn get_beside_lists(part: &'static str, row: &'static str) -> Row {
    beside((part, row), WHOLE_LISTS, |reads| reads.mean())
}

fn slowest_beside_lists(part: &'static str, row: &'static str) -> Row {
    beside((part, row), WHOLE_LISTS, |reads| reads.but(0)).gate(10.0)
}
