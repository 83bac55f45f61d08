//! The delaying and the rate-limiting queue, under a clock that is moved by hand.

use std::time::Duration;

use parking_lot::Mutex;
use seatrial_core::delaying_queue::DelayingQueue;
use seatrial_core::limited_queue::LimitedQueue;
use seatrial_core::limiter::Exponential;
use seatrial_core::runtime::{Ambient as _, Manual};

use crate::Measure;
use crate::limiter::Failures;
use crate::measure::{Key, Random, bytes_per_item, emptying_duel, filling_duel, keys, per_item};
use crate::plain::delaying::Plain;
use crate::plain::{Hashing, Same, SipHash};
use crate::row::Row;

pub(crate) const ROWS: &[Measure] = &[
    Measure::new("delaying", "add_after, 1,000,000 random times", into::<Same>)
        .siphash(into::<SipHash>),
    Measure::new("delaying", "1,000,000 become due, get, done", out::<Same>)
        .siphash(out::<SipHash>),
    Measure::new("delaying", "add_rate_limited, exponential", rate_limited::<Same>)
        .siphash(rate_limited::<SipHash>),
];

const ITEMS: usize = 1_000_000;
const HOUR: Duration = Duration::from_secs(3600);

/// Returns random delays within an hour.
fn delays(count: usize) -> Vec<Duration> {
    let mut random = Random::default();
    let hour = HOUR.as_nanos() as u64;
    // The lower bits of one number are as random as the upper bits of another.
    (0..count).map(|_| Duration::from_nanos(random.below(1 << 31) * 1_000 % hour)).collect()
}

fn fill_ours(runtime: &Manual, keys: Vec<Key>, delays: &[Duration]) -> DelayingQueue<Key, Manual> {
    let queue = DelayingQueue::new(runtime);
    keys.into_iter().zip(delays).for_each(|(key, delay)| queue.add_after(key, *delay));
    queue
}

fn fill_plain<S: Hashing>(runtime: &Manual, keys: Vec<Key>, delays: &[Duration]) -> Plain<S> {
    let plain = Plain::default();
    for (key, delay) in keys.into_iter().zip(delays) {
        plain.add_at(key, runtime.now() + *delay);
    }
    plain
}

fn into<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    let (keys, delays) = (keys(ITEMS), delays(ITEMS));
    let runtime = Manual::new();
    let times = filling_duel(
        ITEMS,
        || keys.clone(),
        |keys| fill_ours(&runtime, keys, &delays),
        |keys| fill_plain::<S>(&runtime, keys, &delays),
    );
    let filled = bytes_per_item(|keys| fill_ours(&runtime, keys, &delays));
    Row::new(part, row, times)
        .goal(per_item(3.2))
        .gate(2.0)
        .bytes(filled - size_of::<Key>() as f64)
        .most_bytes(56.0)
}

fn out<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    let (keys, delays) = (keys(ITEMS), delays(ITEMS));
    let runtime = Manual::new();
    let ours = |queue: &DelayingQueue<Key, Manual>| {
        for _ in 0..ITEMS {
            let (token, _key) = queue.take().expect("all of them are due");
            assert!(queue.done(token));
        }
    };
    let fill_ours = || {
        let queue = fill_ours(&runtime, keys.clone(), &delays);
        runtime.advance(HOUR);
        queue
    };
    let fill_plain = || {
        let plain = fill_plain(&runtime, keys.clone(), &delays);
        runtime.advance(HOUR);
        plain
    };
    let plain = |plain: &Plain<S>| {
        plain.move_due(runtime.now());
        for _ in 0..ITEMS {
            assert!(plain.queue.get().inspect(|key| plain.queue.done(key)).is_some());
        }
    };
    let times = emptying_duel(ITEMS, (fill_ours, ours), (fill_plain, plain));
    Row::new(part, row, times).goal(per_item(1.1)).gate(2.0)
}

fn rate_limited<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    const KEYS: usize = 100_000;
    const TIMES: usize = 3;
    let keys = keys(KEYS);
    let (base, max) = (Duration::from_millis(5), Duration::from_secs(1000));
    let runtime = Manual::new();
    let given = || -> Vec<Key> { keys.iter().cycle().take(KEYS * TIMES).cloned().collect() };
    let ours = |keys: Vec<Key>| {
        let queue = LimitedQueue::new(&runtime, Exponential::new(base, max));
        keys.into_iter().for_each(|key| queue.add_rate_limited(key));
        queue
    };
    let plain = |keys: Vec<Key>| {
        let (queue, failures) = (Plain::<S>::default(), Mutex::new(Failures::<S>::default()));
        for key in keys {
            let delay = failures.lock().when(&key, base, max);
            queue.add_at(key, runtime.now() + delay);
        }
        (queue, failures)
    };
    let times = filling_duel(KEYS * TIMES, given, ours, plain);
    Row::new(part, row, times).goal(per_item(2.3)).gate(1.5)
}
