//! How things are measured: alternating rounds, medians.

#![expect(clippy::disallowed_types, reason = "a bench measures the machine itself")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use crate::MEMORY;

/// Rounds of each contestant.
const ROUNDS: usize = 9;

/// A key as controllers have them: 32 bytes, shared, cheap to copy.
pub(crate) type Key = Arc<str>;

/// Returns so many distinct keys, in an order that has nothing to do with their names.
pub(crate) fn keys(count: usize) -> Vec<Key> {
    let mut keys: Vec<Key> = (0..count)
        .map(|number| Key::from(format!("namespace-{number:08}/object-name-0")))
        .collect();
    assert!(keys.iter().all(|key| key.len() == 32));
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for at in (1..keys.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        keys.swap(at, (state >> 33) as usize % (at + 1));
    }
    keys
}

/// Runs two contestants in turn and returns the median nanoseconds per operation of each.
pub(crate) fn duel(
    operations: usize,
    mut ours: impl FnMut(),
    mut other: impl FnMut(),
) -> (f64, f64) {
    let time = |work: &mut dyn FnMut()| {
        let began = Instant::now();
        work();
        began.elapsed().as_nanos() as f64 / operations as f64
    };
    time(&mut ours);
    time(&mut other);
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        first.push(time(&mut ours));
        second.push(time(&mut other));
    }
    (median(first), median(second))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Returns the bytes that filling something costs per item, at the worse of two sizes: just before
/// and just after a table of the usual kind grows.
pub(crate) fn bytes_per_item<T>(fill: impl Fn(&[Key]) -> T) -> f64 {
    let bytes = |count: usize| {
        let keys = keys(count);
        let before = MEMORY.current_usage();
        let filled = fill(&keys);
        let after = MEMORY.current_usage();
        drop(filled);
        (after - before) as f64 / count as f64
    };
    bytes(100_000).max(bytes(131_073))
}

/// Returns what locking and unlocking costs when nobody else wants the lock.
pub(crate) fn lock_pair() -> f64 {
    let lock = parking_lot::Mutex::new(0_u64);
    let work = || {
        for _ in 0..1_000_000 {
            *black_box(&lock).lock() += 1;
        }
    };
    duel(1_000_000, work, work).0
}
