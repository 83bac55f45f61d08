//! How things are measured: alternating rounds, medians.
//!
//! Work on one thread is measured by that thread's own clock, which stands still while others have
//! the processor; work on several threads by the wall clock.

#![expect(clippy::disallowed_types, reason = "a bench measures the machine itself")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::MEMORY;

/// Rounds of each contestant.
const ROUNDS: usize = 9;
/// The number of rounds if one takes a large part of a second.
const FEW_ROUNDS: usize = 5;

/// A typical key of a controller: 32 bytes, shared, cheap to copy.
pub(crate) type Key = Arc<str>;

/// Returns that many distinct keys, in an order that is unrelated to their names.
///
/// They are in a heap that was in use: allocations of other sizes between them were freed and can
/// be reused. Otherwise the heap would put every key of a row at the same place of its cache line,
/// and chance would decide for all of them whether a key's count and its name share one.
pub(crate) fn keys(count: usize) -> Vec<Key> {
    let mut random = Random::default();
    let mut between = Vec::with_capacity(count);
    let mut keys: Vec<Key> = (0..count)
        .map(|number| {
            between.push(Vec::<u8>::with_capacity(24 + 16 * random.below(4) as usize));
            Key::from(format!("namespace-{number:08}/object-name-0"))
        })
        .collect();
    assert!(keys.iter().all(|key| key.len() == 32));
    shuffle(&mut keys);
    keys
}

/// Puts things into an order that looks random and is always the same.
pub(crate) fn shuffle<T>(things: &mut [T]) {
    let mut random = Random::default();
    for at in (1..things.len()).rev() {
        things.swap(at, random.below(at as u64 + 1) as usize);
    }
}

/// Numbers that look random and are always the same.
pub(crate) struct Random(u64);

impl Default for Random {
    fn default() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }
}

impl Random {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % end
    }
}

/// Converts millions of items a second to nanoseconds an item.
pub(crate) fn per_item(millions: f64) -> f64 {
    1_000.0 / millions
}

/// Returns how long this thread runs for a function.
pub(crate) fn timed(work: impl FnOnce()) -> Duration {
    let now = || {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
    };
    let began = now();
    work();
    now() - began
}

/// Times many calls one by one, and keeps the longest time.
#[derive(Default)]
pub(crate) struct Laps(Duration);

impl Laps {
    pub(crate) fn lap<T>(&mut self, call: impl FnOnce() -> T) -> T {
        let mut out = None;
        self.0 = self.0.max(timed(|| out = Some(call())));
        out.expect("it was called")
    }
}

/// Returns the nanoseconds of the longest of many calls. The best of a few rounds counts, because
/// delays of the machine, such as interrupts, come elsewhere each time.
pub(crate) fn longest<T>(rounds: usize, given: impl Fn() -> T, run: impl Fn(T, &mut Laps)) -> f64 {
    let round = |_| {
        let mut laps = Laps::default();
        run(given(), &mut laps);
        laps.0
    };
    (0..rounds).map(round).min().expect("there is a round").as_nanos() as f64
}

/// Returns how long a function takes that runs on several threads.
pub(crate) fn wall(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}

/// Runs two contestants in turn and returns the median nanoseconds per operation of each.
pub(crate) fn duel(
    operations: usize,
    mut ours: impl FnMut(),
    mut other: impl FnMut(),
) -> (f64, f64) {
    rounds(ROUNDS, operations, || timed(&mut ours), || timed(&mut other))
}

/// As [`duel`], for contestants that keep their input, which is made before the clock starts.
pub(crate) fn giving_duel<T>(
    operations: usize,
    given: impl Fn() -> T,
    ours: impl Fn(T),
    other: impl Fn(T),
) -> (f64, f64) {
    let measured = |contestant: &dyn Fn(T)| {
        let given = given();
        timed(|| contestant(given))
    };
    rounds(ROUNDS, operations, || measured(&ours), || measured(&other))
}

/// As [`duel`], for contestants that first prepare something and measure themselves.
pub(crate) fn prepared_duel(
    operations: usize,
    ours: impl FnMut() -> Duration,
    other: impl FnMut() -> Duration,
) -> (f64, f64) {
    rounds(FEW_ROUNDS, operations, ours, other)
}

/// As [`prepared_duel`], for contestants that take many seconds: one round each.
pub(crate) fn single_duel(
    operations: usize,
    ours: impl FnMut() -> Duration,
    other: impl FnMut() -> Duration,
) -> (f64, f64) {
    rounds(1, operations, ours, other)
}

/// Measures how long it takes to make something from an input that exists before the clock starts.
/// The results are dropped outside the measurement.
pub(crate) fn filling_duel<T, A, B>(
    operations: usize,
    given: impl Fn() -> T,
    ours: impl Fn(T) -> A,
    other: impl Fn(T) -> B,
) -> (f64, f64) {
    let (mut first, mut second) = (None, None);
    prepared_duel(
        operations,
        || {
            first = None;
            let given = given();
            timed(|| first = Some(ours(given)))
        },
        || {
            second = None;
            let given = given();
            timed(|| second = Some(other(given)))
        },
    )
}

/// Measures how long it takes to empty something that was filled before.
pub(crate) fn emptying_duel<A, B>(
    operations: usize,
    (fill_ours, ours): (impl Fn() -> A, impl Fn(&A)),
    (fill_other, other): (impl Fn() -> B, impl Fn(&B)),
) -> (f64, f64) {
    prepared_duel(
        operations,
        || {
            let filled = fill_ours();
            timed(|| ours(&filled))
        },
        || {
            let filled = fill_other();
            timed(|| other(&filled))
        },
    )
}

fn rounds(
    rounds: usize,
    operations: usize,
    mut ours: impl FnMut() -> Duration,
    mut other: impl FnMut() -> Duration,
) -> (f64, f64) {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let nanos = |took: Duration| took.as_nanos() as f64 / operations as f64;
    if rounds > 1 {
        ours(); // a warm-up for both
        other();
    }
    for _ in 0..rounds {
        first.push(nanos(ours()));
        second.push(nanos(other()));
    }
    (median(first), median(second))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Returns the bytes per item that filling something takes, at the worse of two sizes: just before
/// and just after a usual table grows.
pub(crate) fn bytes_per_item<T>(fill: impl Fn(Vec<Key>) -> T) -> f64 {
    bytes_of(keys, fill)
}

/// As [`bytes_per_item`], for items of another kind. The items exist before, so only the additional
/// memory counts.
pub(crate) fn bytes_of<I: Clone, T>(
    make: impl Fn(usize) -> Vec<I>,
    fill: impl Fn(Vec<I>) -> T,
) -> f64 {
    let bytes = |count: usize| {
        let items = make(count);
        let before = MEMORY.allocated();
        let filled = fill(items.clone());
        let after = MEMORY.allocated();
        drop(filled);
        (after - before) as f64 / count as f64
    };
    bytes(100_000).max(bytes(131_073))
}

/// Returns the cost of locking and unlocking without contention.
pub(crate) fn lock_pair() -> f64 {
    let lock = parking_lot::Mutex::new(0_u64);
    let work = || {
        for _ in 0..1_000_000 {
            *black_box(&lock).lock() += 1;
        }
    };
    duel(1_000_000, work, work).0
}
