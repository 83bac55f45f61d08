//! The keyed back-off, one rule a test, and its laws.

use std::sync::Arc;

use quickcheck::quickcheck;

use super::*;
use crate::limiter::FOREVER;
use crate::runtime::millis::{at, ms};
use crate::runtime::probe::{Probe, Probing};
use crate::runtime::{Ambient, Manual, System};

/// The largest number below one.
const LAST: f64 = 1.0 - f64::EPSILON / 2.0;

fn item(key: &u8) -> Item<'_, u8> {
    Item::new(key, 0)
}

fn table(initial: u64, max: u64) -> BackoffTable<u8> {
    BackoffTable::new(ms(initial), ms(max))
}

/// An event that happens now.
fn next(table: &mut BackoffTable<u8>, millis: u64) -> Duration {
    table.next(item(&1), at(millis), at(millis), || LAST)
}

#[test]
fn the_backoff_doubles_up_to_its_maximum() {
    let mut table = table(1, 50);
    let seen: Vec<_> = (1..=8).map(|n| next(&mut table, n)).collect();
    assert_eq!(seen, [1, 2, 4, 8, 16, 32, 50, 50].map(ms), "BO-11");
    assert_eq!(table.get(item(&1)), ms(50));
    assert_eq!(table.get(item(&2)), Duration::ZERO);
}

#[test]
fn the_first_backoff_is_not_cut() {
    let mut table = table(9, 5);
    assert_eq!([next(&mut table, 0), next(&mut table, 1)], [ms(9), ms(5)], "BO-3");
}

#[test]
fn a_key_starts_over_when_its_event_comes_late() {
    let mut table = table(1, 10);
    for _ in 0..5 {
        next(&mut table, 0);
    }
    assert_eq!(next(&mut table, 20), ms(10), "twice the maximum after the last update");
    assert_eq!(table.get(item(&1)), ms(10), "BO-1: get does not look at the time");
    assert_eq!(next(&mut table, 41), ms(1), "later than that");
}

#[test]
fn the_last_update_is_the_clock_and_not_the_event() {
    let mut table = table(1, 10);
    table.next(item(&1), at(0), at(100), || LAST);
    assert_eq!(table.next(item(&1), at(120), at(500), || LAST), ms(2));
    assert_eq!(table.next(item(&1), at(520), at(0), || LAST), ms(4));
    assert_eq!(table.next(item(&1), at(21), at(0), || LAST), ms(1));
}

#[test]
fn in_backoff_since_an_event_counts_from_the_event_to_now() {
    let mut table = table(10, 10);
    next(&mut table, 100);
    assert!(table.is_in_backoff_since(item(&1), at(100), at(109)));
    assert!(!table.is_in_backoff_since(item(&1), at(100), at(110)), "strictly");
    assert!(table.is_in_backoff_since(item(&1), at(120), at(100)), "an event to come");
    assert!(!table.is_in_backoff_since(item(&1), at(121), at(100)), "expired");
    assert!(!table.is_in_backoff_since(item(&2), at(100), at(100)), "unknown");
}

#[test]
fn in_backoff_since_the_update_does_not_look_at_the_clock() {
    let mut table = table(10, 10);
    next(&mut table, 100);
    assert!(table.is_in_backoff_since_update(item(&1), at(109)));
    assert!(!table.is_in_backoff_since_update(item(&1), at(110)), "strictly");
    assert!(table.is_in_backoff_since_update(item(&1), at(0)), "before the update");
    assert!(!table.is_in_backoff_since_update(item(&2), at(100)), "unknown");
}

#[test]
fn time_that_went_backwards_is_in_backoff_even_of_zero() {
    let mut table = table(0, 10);
    next(&mut table, 100);
    assert_eq!(table.get(item(&1)), Duration::ZERO);
    assert!(table.is_in_backoff_since_update(item(&1), at(99)), "BO-14");
    assert!(!table.is_in_backoff_since_update(item(&1), at(100)));
    assert!(table.is_in_backoff_since(item(&1), at(101), at(100)));
}

#[test]
fn garbage_is_what_would_start_over() {
    let mut table = table(1, 10);
    for (key, now) in [(1, 0), (2, 5), (3, 6)] {
        table.next(item(&key), at(now), at(now), || LAST);
    }
    assert_eq!(table.collect_garbage(at(25)), [1], "strictly more than twice the maximum");
    assert_eq!(table.len(), 2);
    assert_eq!(table.reset(item(&3)), Some(3));
    assert_eq!(table.reset(item(&3)), None);
    assert_eq!(table.collect_garbage(Instant::NEVER), [2]);
    assert!(table.is_empty());
}

#[test]
fn a_predicate_of_your_own_replaces_the_rule_everywhere() {
    let expired = |event: Instant, last_update: Instant, max: Duration| {
        assert_eq!(max, ms(10));
        event > last_update
    };
    let mut table = table(5, 10).with_expiry(Box::new(expired));
    next(&mut table, 100);
    assert_eq!(next(&mut table, 100), ms(10));
    assert_eq!(next(&mut table, 101), ms(5));
    assert!(!table.is_in_backoff_since(item(&1), at(102), at(102)));
    assert!(!table.is_in_backoff_since_update(item(&1), at(102)));
    assert!(table.collect_garbage(at(101)).is_empty());
    assert_eq!(table.collect_garbage(at(102)), [1]);
}

#[test]
fn jitter_is_of_the_value_before_doubling_and_stays_in_it() {
    let (mut low, mut high) = (table(100, 10_000), table(100, 10_000));
    (low, high) = (low.with_jitter(0.5), high.with_jitter(0.5));
    let mut step = |n| {
        let steps = [(&mut low, 0.0), (&mut high, LAST)];
        steps.map(|(table, random)| table.next(item(&1), at(n), at(n), || random).as_nanos())
    };
    assert_eq!(step(0), [100_000_000, 149_999_999], "less than half of 100 ms on top");
    assert_eq!(step(1), [200_000_000, 299_999_998 + 74_999_999], "half of what it was");
}

#[test]
fn a_jitter_beyond_reason_is_bounded() {
    for factor in [f64::INFINITY, f64::NAN, -1.0, f64::MAX] {
        let mut table = table(1, 50).with_jitter(factor);
        assert!(next(&mut table, 0) <= FOREVER);
        assert!(next(&mut table, 1) <= ms(50));
    }
}

#[test]
fn a_maximum_near_the_end_of_time_keeps_growing() {
    let mut table = BackoffTable::new(ms(1), FOREVER);
    let mut before = Duration::ZERO;
    for n in 0..70 {
        let backoff = next(&mut table, n);
        assert!(backoff > before || backoff == FOREVER, "BO-9, BO-10: step {n}");
        before = backoff;
    }
    assert_eq!(before, FOREVER);
    assert!(!table.has_expired(Instant::NEVER, at(0)), "twice for ever is never over");
}

#[test]
fn the_locked_table_uses_the_clock_of_its_runtime() {
    let runtime = System::new();
    let backoff = KeyedBackoff::new(&runtime, Duration::from_secs(3600), Duration::from_secs(7200));
    let long_ago = Instant::ZERO;
    assert_eq!(backoff.next(&"a", long_ago), Duration::from_secs(3600));
    assert_eq!(backoff.next(&"a", long_ago), Duration::from_secs(7200));
    assert!(backoff.is_in_backoff_since(&"a", long_ago));
    assert!(backoff.is_in_backoff_since_update(&"a", long_ago));
    backoff.collect_garbage();
    assert_eq!(backoff.get(&"a"), Duration::from_secs(7200));
    backoff.reset(&"a");
    assert_eq!(backoff.get(&"a"), Duration::ZERO);
}

#[test]
fn an_event_to_come_does_not_date_the_update() {
    let runtime = Manual::new();
    let backoff = KeyedBackoff::new(&runtime, ms(10), ms(1000));
    backoff.next(&"a", runtime.now() + ms(500));
    assert!(backoff.is_in_backoff_since_update(&"a", runtime.now() + ms(9)));
    assert!(!backoff.is_in_backoff_since_update(&"a", runtime.now() + ms(10)), "BO-7");
}

#[test]
fn what_has_expired_is_not_in_backoff_and_is_forgotten() {
    let runtime = Manual::new();
    let backoff = KeyedBackoff::new(&runtime, ms(10), ms(20));
    backoff.next(&"a", runtime.now());
    assert!(backoff.is_in_backoff_since_update(&"a", runtime.now()));
    assert!(!backoff.is_in_backoff_since_update(&"b", runtime.now()), "it has none");
    let event = runtime.now();
    assert!(backoff.is_in_backoff_since(&"a", event) && !backoff.is_in_backoff_since(&"b", event));
    runtime.advance(ms(10));
    assert!(!backoff.is_in_backoff_since(&"a", event), "the clock has moved on");
    assert!(!backoff.is_in_backoff_since_update(&"a", runtime.now()), "BO-7");
    backoff.collect_garbage();
    assert_eq!(backoff.get(&"a"), ms(10), "it would not start over yet");
    runtime.advance(ms(31));
    backoff.collect_garbage();
    assert_eq!(backoff.get(&"a"), Duration::ZERO, "BO-8");
}

#[test]
fn a_shared_backoff_has_a_jitter_and_a_rule_of_your_own() {
    let runtime = Manual::new();
    let backoff = KeyedBackoff::new(&runtime, ms(100), ms(10_000)).with_jitter(0.5).with_expiry(
        |event, last_update, max| {
            assert_eq!(max, ms(10_000));
            event > last_update
        },
    );
    let steps: Vec<_> = (0..100).map(|key| backoff.next(&key, runtime.now())).collect();
    assert!(steps.iter().all(|step| (ms(100)..ms(150)).contains(step)), "BO-5: {steps:?}");
    assert!(steps.iter().any(|step| *step > ms(101)), "BO-5: {steps:?}");
    assert!(backoff.next(&0, runtime.now()) >= ms(200), "it was updated at that time");
    runtime.advance(ms(1));
    assert!(backoff.next(&0, runtime.now()) < ms(150), "BO-4: it starts over");
    backoff.collect_garbage();
    assert!(backoff.get(&0) > Duration::ZERO && backoff.get(&1) == Duration::ZERO, "BO-8");
}

#[test]
fn a_backoff_shows_how_it_was_made() {
    let shown = format!("{:?}", table(1, 50).with_jitter(0.5));
    assert!(shown.contains("initial: 1ms, max: 50ms, jitter: 0.5"), "{shown}");
    let locked = KeyedBackoff::<u8, _>::new(&System::new(), ms(1), ms(50));
    assert_eq!(format!("{locked:?}"), "KeyedBackoff");
}

#[test]
fn without_jitter_nobody_asks_for_a_random_number() {
    let mut table = table(1, 50);
    assert!(table.is_empty());
    for now in [at(1), at(2)] {
        table.next(item(&1), now, now, || panic!("there is no jitter"));
    }
    assert_eq!((table.get(item(&1)), table.len(), table.is_empty()), (ms(2), 1, false));
}

quickcheck! {
    fn a_step_stays_between_the_old_value_and_the_maximum(
        initial: u32,
        max: u32,
        jitter: f64,
        steps: Vec<(u8, u16)>
    ) -> bool {
        let (initial, max) = (u64::from(initial), u64::from(max));
        let (start, limit) = (Duration::from_nanos(initial), Duration::from_nanos(max));
        let mut table = BackoffTable::<u8>::new(start, limit).with_jitter(jitter);
        let mut now = Instant::ZERO;
        steps.into_iter().all(|(random, wait)| {
            now = now + Duration::from_nanos(u64::from(wait));
            let known = table.find(item(&1)).filter(|e| !table.has_expired(now, e.last_update));
            let before = table.get(item(&1));
            let backoff = table.next(item(&1), now, now, || f64::from(random) / 256.0);
            match known {
                None => backoff >= start, // BO-3: a start is not limited
                Some(_) => backoff <= limit && backoff >= before.min(limit), // INV-18
            }
        })
    }
}

#[test]
fn keys_that_are_forgotten_are_dropped_without_the_lock() {
    let (runtime, probe) = (Manual::new(), Arc::<Probe>::default());
    let backoff = Arc::new(KeyedBackoff::new(&runtime, ms(1), ms(50)));
    let keys = [1, 2].map(|number| Probing(number, Arc::clone(&probe)));
    for key in &keys {
        backoff.next(key, runtime.now());
    }
    let asked = Arc::clone(&backoff);
    let other = Probing(3, Arc::default());
    probe.calls(move || _ = asked.get(&other));
    backoff.reset(&keys[0]);
    runtime.advance(ms(1_000));
    backoff.collect_garbage();
    assert_eq!(probe.ends(), (2, 2));
}
