//! The limiters.

use std::hint::black_box;
use std::time::Duration;

use parking_lot::Mutex;
use seatrial_core::limiter::{Exponential, RateLimiter};
use seatrial_core::runtime::System;

use crate::Measure;
use crate::measure::{Key, bytes_per_item, duel, keys};
use crate::plain::{HashMap, Hashing, Same, SipHash};
use crate::row::Row;

pub(crate) const ROWS: &[Measure] =
    &[Measure::new("limiter", "when, exponential", when::<Same>).siphash(when::<SipHash>)];

const BASE: Duration = Duration::from_millis(5);
const MAX: Duration = Duration::from_secs(1000);

/// The reference's algorithm: a map of counts, and a delay that is computed as a power in floating
/// point.
#[derive(Default)]
pub(crate) struct Failures<S>(HashMap<Key, u32, S>);

impl<S: Hashing> Failures<S> {
    pub(crate) fn when(&mut self, key: &Key, base: Duration, max: Duration) -> Duration {
        let count = self.0.get(key).copied().unwrap_or(0);
        self.0.insert(Key::clone(key), count + 1);
        let delay = base.as_nanos() as f64 * 2_f64.powi(count as i32);
        if delay > i64::MAX as f64 { max } else { Duration::from_nanos(delay as u64).min(max) }
    }
}

fn ours() -> RateLimiter<Key, Exponential<Key>, System> {
    RateLimiter::new(&System::new(), Exponential::new(BASE, MAX))
}

fn when<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    const OPERATIONS: usize = 300_000;
    let keys = keys(1_000);
    let (limiter, plain) = (ours(), Mutex::new(Failures::<S>::default()));
    let times = duel(
        OPERATIONS,
        || {
            for key in keys.iter().cycle().take(OPERATIONS) {
                black_box(limiter.when(key));
            }
        },
        || {
            for key in keys.iter().cycle().take(OPERATIONS) {
                black_box(plain.lock().when(key, BASE, MAX));
            }
        },
    );
    let filled = bytes_per_item(|keys| {
        let limiter = ours();
        for key in &keys {
            black_box(limiter.when(key));
        }
        limiter
    });
    Row::new(part, row, times)
        .goal(24.0)
        .gate(1.5)
        .bytes(filled - size_of::<Key>() as f64)
        .most_bytes(28.0)
}
