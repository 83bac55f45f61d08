//! The longest critical section of queues and stores that become very large: nothing large may ever
//! be rebuilt or moved in one piece.
//!
//! A call is timed by the clock of its thread, which stands still while other programs have the
//! processor. The calls find the lock free, so a call is its critical section and little more.

use std::time::Duration;

use seatrial_core::delaying_queue::DelayingQueue;
use seatrial_core::machine::{Cx, Machine, Operation, Step};
use seatrial_core::priority_queue::{AddOptions, PriorityQueue};
use seatrial_core::queue::{Add, Done, Get, Queue};
use seatrial_core::runtime::{Manual, System};
use seatrial_core::store::{IndexedStore, Intake, index_by_one};

use crate::measure::{Laps, assert_growth, tell};

/// How much longer the longest call may take at a hundred times the size. Moving everything in one
/// piece would take a hundred times as long; only the list of the pieces is moved so, and it is
/// small.
const FACTOR: f64 = 32.0;
/// A delay that may come from the machine: a new page of memory, an interrupt.
const HICCUP: Duration = Duration::from_micros(125);

/// How often each size is measured. The machine disturbs a few calls of a round; what the code does
/// itself happens in every round.
const ROUNDS: usize = 4;

/// Visits all keys in an order that is unrelated to their size.
fn keys(size: u64) -> impl Iterator<Item = u64> {
    (0..size).map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// Measures three sizes, taking the best of all rounds, and asserts that the longest call grows
/// much less than the size.
fn compare(sizes: [u64; 3], run: impl Fn(u64, &mut Laps)) {
    let [small, .., large] = sizes.map(|size| {
        let worst = (0..ROUNDS).map(|_| {
            let mut laps = Laps::default();
            run(size, &mut laps);
            laps.longest()
        });
        let worst = worst.min().expect("there is a round");
        tell(size as usize, "longest critical section", worst);
        worst
    });
    assert_growth(small.max(HICCUP), large, FACTOR);
}

/// Steps a call that ends at once.
fn step<M: Machine, O: Operation<M>>(machine: &mut M, mut call: O, laps: &mut Laps) -> O::Ret {
    let system = System::new();
    let mut cx = Cx::new(&system);
    match laps.lap(|| call.step(machine, &mut cx)) {
        Step::Done(ret) | Step::Held(ret) => ret,
        Step::Wait { .. } => panic!("it need not wait"),
    }
}

/// Fills and empties a work queue.
pub(crate) fn work_queue() {
    compare([100_000, 1_000_000, 10_000_000], |size, laps| {
        let mut queue = Queue::<u64>::default();
        for key in keys(size) {
            step(&mut queue, Add { key: Some(key), hash: key }, laps);
        }
        for _ in 0..size {
            let (token, _) = step(&mut queue, Get, laps).expect("an item waits");
            step(&mut queue, Done(token), laps);
        }
    });
}

/// Fills and empties a delaying queue.
pub(crate) fn delaying_queue() {
    const DELAY: Duration = Duration::from_secs(1);
    compare([100_000, 1_000_000, 10_000_000], |size, laps| {
        let clock = Manual::new();
        let queue = DelayingQueue::<u64, _>::new(&clock);
        keys(size).for_each(|key| laps.lap(|| queue.add_after(key, DELAY)));
        clock.advance(DELAY);
        for _ in 0..size {
            let (token, _) = laps.lap(|| queue.take()).expect("all are due");
            assert!(laps.lap(|| queue.done(token)));
        }
    });
}

/// Fills and empties a priority queue.
pub(crate) fn priority_queue() {
    compare([100_000, 1_000_000, 10_000_000], |size, laps| {
        let queue = PriorityQueue::<u64>::new(&System::new());
        for key in keys(size) {
            let options = AddOptions { priority: (key >> 61) as i32, ..AddOptions::default() };
            laps.lap(|| queue.add_with(key, options));
        }
        for _ in 0..size {
            let (token, ..) = laps.lap(|| queue.take_with_priority()).expect("an item waits");
            assert!(laps.lap(|| queue.done(token)));
        }
    });
}

/// An object that is found by its key, and by its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    key: u64,
    place: &'static str,
}

/// Makes an empty store with an index.
pub(crate) fn indexed_store() -> IndexedStore<u64, Placed> {
    let system = System::new();
    let intake = Intake::new(&system, |placed: &Placed| Ok(placed.key));
    let store = IndexedStore::with_intake(&system, intake, None);
    let by_place = index_by_one(|placed: &Placed| Some(placed.place));
    assert!(store.add_indexers([("place", by_place)]).is_ok());
    store
}

/// Returns objects of all keys.
pub(crate) fn placed(size: u64) -> impl Iterator<Item = Placed> {
    const PLACES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
    keys(size).map(|key| Placed { key, place: PLACES[(key >> 61) as usize] })
}

/// Fills and empties an indexed store.
pub(crate) fn store() {
    compare([40_000, 400_000, 4_000_000], |size, laps| {
        let store = indexed_store();
        placed(size).for_each(|object| assert!(laps.lap(|| store.add(object)).is_ok()));
        placed(size).for_each(|object| assert!(laps.lap(|| store.delete(&object)).is_ok()));
    });
}
