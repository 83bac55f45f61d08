//! The limiters, one rule a test, and their laws.

use std::sync::Arc;
use std::time::Duration;

use quickcheck::{TestResult, quickcheck};

use super::*;
use crate::runtime::millis::ms;
use crate::runtime::probe::{Probe, Probing};
use crate::runtime::{Manual, Runtime, System};

const NOW: Instant = Instant::from_nanos(7);

fn item(key: &u8) -> Item<'_, u8> {
    Item::new(key, u64::from(*key))
}

fn when(limiter: &mut impl Limiter<u8>, key: u8) -> Duration {
    limiter.when(item(&key), NOW)
}

fn forget(limiter: &mut impl Limiter<u8>, key: u8) {
    limiter.forget(item(&key), &mut vec![]);
}

fn ns(n: u64) -> Duration {
    Duration::from_nanos(n)
}

#[test]
fn exponential_follows_the_table_of_the_default() {
    let mut limiter = Exponential::new(ms(5), Duration::from_secs(1000));
    let delays: Vec<_> = (0..20).map(|_| when(&mut limiter, 1)).collect();
    for (k, delay) in delays.iter().enumerate().take(18) {
        assert_eq!(*delay, ms(5 << k), "failure {}", k + 1);
    }
    assert_eq!(delays[14], ms(81_920), "RL-11: the 15th");
    assert_eq!(delays[18..], [Duration::from_secs(1000); 2]);
    assert_eq!(limiter.num_requeues(item(&1)), 20, "the count grows beyond the maximum");
}

#[test]
fn exponential_stays_at_the_maximum_once_the_product_does_not_fit() {
    for (base, last_that_fits) in [(ns(1), 63), (ms(1), 44), (ms(5), 41), (ns(3), 62)] {
        let mut limiter = Exponential::new(base, FOREVER);
        for k in 1..=last_that_fits {
            let expected = base.as_nanos() << (k - 1);
            assert_eq!(when(&mut limiter, 1).as_nanos(), expected, "{base:?}, failure {k}");
        }
        for _ in 0..1000 {
            assert_eq!(when(&mut limiter, 1), FOREVER, "RL-5, RL-8, RL-12: {base:?}");
        }
    }
}

#[test]
fn exponential_with_odd_parameters_is_bounded() {
    let mut base_above_max = Exponential::new(ms(9), ms(4));
    let mut base_zero = Exponential::new(Duration::ZERO, ms(4));
    let mut max_zero = Exponential::new(ms(9), Duration::ZERO);
    let mut endless = Exponential::new(Duration::MAX, Duration::MAX);
    for _ in 0..1100 {
        assert_eq!(when(&mut base_above_max, 1), ms(4));
        assert_eq!(when(&mut base_zero, 1), Duration::ZERO);
        assert_eq!(when(&mut max_zero, 1), Duration::ZERO);
        assert_eq!(when(&mut endless, 1), FOREVER);
    }
}

#[test]
fn counts_saturate() {
    let mut limiter = Exponential::new(ms(1), ms(8));
    limiter.set_failures(item(&1), u32::MAX);
    assert_eq!(when(&mut limiter, 1), ms(8));
    assert_eq!(limiter.num_requeues(item(&1)), u32::MAX);
}

#[test]
fn items_are_independent_and_forget_starts_over() {
    let mut limiter = Exponential::new(ms(1), ms(100));
    when(&mut limiter, 1);
    when(&mut limiter, 1);
    assert_eq!(when(&mut limiter, 2), ms(1));
    forget(&mut limiter, 1);
    assert_eq!(limiter.num_requeues(item(&1)), 0);
    assert_eq!((when(&mut limiter, 1), when(&mut limiter, 2)), (ms(1), ms(2)));
}

#[test]
fn asking_about_an_unknown_item_stores_nothing() {
    let mut limiter = Exponential::new(ms(1), ms(100));
    forget(&mut limiter, 1);
    assert_eq!(limiter.num_requeues(item(&1)), 0);
    assert_eq!(limiter.remembered(), 0);
    when(&mut limiter, 1);
    assert_eq!(limiter.remembered(), 1);
    forget(&mut limiter, 1);
    assert_eq!(limiter.remembered(), 0);
}

#[test]
fn fast_slow_counts_first_and_then_compares() {
    let mut limiter = FastSlow::new(ms(5), ms(10), 3);
    let delays: Vec<_> = (0..5).map(|_| when(&mut limiter, 1)).collect();
    assert_eq!(delays, [ms(5), ms(5), ms(5), ms(10), ms(10)]);
    assert_eq!(limiter.num_requeues(item(&1)), 5);
    forget(&mut limiter, 1);
    assert_eq!(when(&mut limiter, 1), ms(5), "three fast attempts again");
    assert_eq!(when(&mut FastSlow::new(ms(5), ms(10), 0), 1), ms(10));
    assert_eq!(limiter.remembered(), 1);
    forget(&mut limiter, 1);
    assert_eq!(limiter.remembered(), 0);
}

#[test]
fn bucket_paces_all_items_together_and_forgets_nothing() {
    let mut limiter = Bucket::new(Rate::per_second(10.0), 1);
    assert_eq!(when(&mut limiter, 1), Duration::ZERO);
    assert_eq!(when(&mut limiter, 2), ms(100));
    forget(&mut limiter, 2);
    assert_eq!(when(&mut limiter, 2), ms(200), "RL-16: nothing is given back");
    assert_eq!(limiter.num_requeues(item(&2)), 0);
}

#[test]
fn bucket_that_never_grants_answers_never() {
    let mut no_burst = Bucket::new(Rate::per_second(10.0), 0);
    assert_eq!(when(&mut no_burst, 1), FOREVER);
    let mut no_rate = Bucket::new(Rate::ZERO, 2);
    let delays: Vec<_> = (0..4).map(|_| when(&mut no_rate, 1)).collect();
    assert_eq!(delays, [Duration::ZERO, Duration::ZERO, FOREVER, FOREVER]);
}

#[test]
fn max_of_asks_every_part_and_answers_with_the_longest() {
    let mut limiter = MaxOf((FastSlow::new(ms(50), ms(5), 2), Exponential::new(ms(4), ms(90))));
    let delays: Vec<_> = (0..4).map(|_| when(&mut limiter, 1)).collect();
    assert_eq!(delays, [ms(50), ms(50), ms(16), ms(32)], "the second part counted from the start");
    assert_eq!(limiter.num_requeues(item(&1)), 4);
    forget(&mut limiter, 1);
    assert_eq!(limiter.num_requeues(item(&1)), 0);
    assert!(!limiter.reads_time());

    let shared = || Bucket::new(Rate::per_second(100.0), 1);
    let mut first = MaxOf((Exponential::new(ms(1), ms(8)), shared()));
    let mut second = MaxOf((shared(), Exponential::new(ms(1), ms(8))));
    when(&mut first, 1);
    when(&mut second, 1);
    let counts = (first.num_requeues(item(&1)), second.num_requeues(item(&1)));
    assert_eq!(counts, (1, 1), "a part that counts nothing hides nothing, RL-20");
}

#[test]
fn max_of_a_list_holds_any_number_of_parts() {
    let mut none = MaxOf(Vec::<Exponential<u8>>::new());
    assert_eq!(when(&mut none, 1), Duration::ZERO);
    assert_eq!(none.num_requeues(item(&1)), 0);
    forget(&mut none, 1);

    let parts: Vec<Box<dyn Limiter<u8>>> = vec![
        Box::new(Exponential::new(ms(1), ms(8))),
        Box::new(Bucket::new(Rate::per_second(100.0), 1)),
    ];
    let mut limiter = MaxOf(parts);
    let delays: Vec<_> = (0..3).map(|_| when(&mut limiter, 1)).collect();
    assert_eq!(delays, [ms(1), ms(10), ms(20)]);
    assert_eq!(limiter.num_requeues(item(&1)), 3);
    forget(&mut limiter, 1);
    assert_eq!(limiter.num_requeues(item(&1)), 0);
    assert!(limiter.reads_time());
}

#[test]
fn with_max_wait_cuts_the_answer_and_not_the_state() {
    let mut limiter = WithMaxWait::new(Exponential::new(ms(1), ms(100)), ms(3));
    let delays: Vec<_> = (0..4).map(|_| when(&mut limiter, 1)).collect();
    assert_eq!(delays, [ms(1), ms(2), ms(3), ms(3)]);
    assert_eq!(limiter.num_requeues(item(&1)), 4);
    forget(&mut limiter, 1);
    assert_eq!(when(&mut limiter, 1), ms(1));

    let mut debt = WithMaxWait::new(Bucket::new(Rate::per_second(1.0), 1), ms(10));
    assert_eq!(when(&mut debt, 1), Duration::ZERO);
    assert_eq!(when(&mut debt, 1), ms(10));
    assert_eq!(debt.limiter.when(item(&1), NOW), ms(2000), "the debt is counted in full");
}

#[test]
fn with_max_wait_cuts_what_never_comes_too() {
    let mut limiter = WithMaxWait::new(Bucket::new(Rate::ZERO, 0), ms(10));
    assert_eq!(when(&mut limiter, 1), ms(10), "RL-22");
}

#[test]
fn max_of_asks_the_second_part_however_long_the_first_delays() {
    let first = Exponential::new(FOREVER, FOREVER);
    let mut limiter = MaxOf((first, Exponential::new(ms(1), ms(8))));
    assert_eq!(when(&mut limiter, 1), FOREVER);
    assert_eq!(when(&mut limiter.0.1, 1), ms(2), "RL-20: it has been asked before");
}

#[test]
fn limiters_made_of_limiters_read_the_time_if_a_part_does() {
    let alone = || Exponential::<u8>::new(ms(1), ms(2));
    let shared = || Bucket::new(Rate::per_second(1.0), 1);
    let reads = |limiter: &dyn Limiter<u8>| limiter.reads_time();
    assert!(!reads(&alone()));
    assert!(reads(&shared()));
    assert!(!reads(&MaxOf((alone(), alone()))));
    assert!(reads(&MaxOf((alone(), shared()))));
    assert!(reads(&MaxOf((shared(), alone()))));
    assert!(reads(&WithMaxWait::new(shared(), ms(1))));
    assert!(!reads(&WithMaxWait::new(alone(), ms(1))));
    assert!(reads(&MaxOf(vec![WithMaxWait::new(shared(), ms(1))])));
    assert!(!reads(&MaxOf(vec![alone(), alone()])));
    assert!(!reads(&FastSlow::new(ms(1), ms(2), 3)));
    let boxed: [Box<dyn Limiter<u8>>; 2] = [Box::new(alone()), Box::new(shared())];
    assert_eq!(boxed.map(|limiter| reads(&limiter)), [false, true]);
    let system = System::new();
    assert!(!reads(&RateLimiter::<u8, _, _>::new(&system, alone())));
    assert!(reads(&RateLimiter::<u8, _, _>::new(&system, shared())));
}

#[test]
fn default_controller_limiter_holds_back_after_a_burst_of_a_hundred_items() {
    let mut limiter = default_controller::<u32>();
    for n in 1..=130_u32 {
        let delay = limiter.when(Item::new(&n, u64::from(n)), NOW);
        let expected = if n <= 100 { ms(5) } else { ms(100 * u64::from(n - 100)) };
        assert_eq!(delay, expected, "RL-25: item {n}");
    }
    assert_eq!(when(&mut default_item_based(), 1), ms(1));
}

#[test]
fn the_default_limiters_make_nobody_wait_longer_than_a_thousand_seconds() {
    let limiters: [Box<dyn Limiter<u8>>; 2] =
        [Box::new(default_controller()), Box::new(default_item_based())];
    for mut limiter in limiters {
        let delays: Vec<_> = (0..40).map(|_| when(&mut limiter, 1)).collect();
        assert!(delays[10] < delays[12], "it grows");
        assert_eq!(delays[30..], [Duration::from_secs(1000); 10]);
    }
}

#[test]
fn a_shared_limiter_shares_its_counts_between_threads_and_queues() {
    let runtime = System::new();
    let limiter = RateLimiter::new(&runtime, Exponential::new(ns(1), FOREVER));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let limiter = limiter.clone();
            runtime.spawn("asks", move || {
                for _ in 0..10 {
                    limiter.when(&"a");
                }
            })
        })
        .collect();
    for thread in threads {
        runtime.join(thread).unwrap();
    }
    assert_eq!(limiter.num_requeues(&"a"), 20);
    // Two queues hash differently, which does not matter to the shared state.
    let (mut one, mut other) = (limiter.clone(), limiter.clone());
    assert_eq!(Limiter::when(&mut one, Item::new(&"a", 1), NOW), ns(1 << 20));
    assert_eq!(Limiter::when(&mut other, Item::new(&"a", 2), NOW), ns(1 << 21));
    assert_eq!(Limiter::num_requeues(&other, Item::new(&"a", 2)), 22);
    Limiter::forget(&mut one, Item::new(&"a", 1), &mut vec![]);
    assert_eq!(limiter.num_requeues(&"a"), 0, "RL-26");
    limiter.when(&"b");
    limiter.forget(&"b");
    assert_eq!(limiter.num_requeues(&"b"), 0);
}

#[test]
fn a_shared_bucket_fills_as_the_time_of_its_runtime_passes() {
    let runtime = Manual::new();
    runtime.advance(ms(1000));
    let limiter = RateLimiter::new(&runtime, Bucket::new(Rate::per_second(10.0), 1));
    assert_eq!([limiter.when(&1), limiter.when(&2)], [Duration::ZERO, ms(100)]);
    runtime.advance(ms(200));
    assert_eq!(limiter.when(&3), Duration::ZERO);
    assert_eq!(format!("{limiter:?}"), "RateLimiter");
}

#[test]
fn a_shared_bucket_in_a_queue_fills_as_the_time_of_the_queue_passes() {
    let mut limiter = RateLimiter::new(&Manual::new(), Bucket::new(Rate::per_second(10.0), 1));
    let mut when = |at| Limiter::when(&mut limiter, item(&1), Instant::ZERO + ms(at));
    assert_eq!([when(1_000), when(1_000)], [Duration::ZERO, ms(100)]);
    assert_eq!(when(1_300), Duration::ZERO, "the clock of the limiter stands still");
}

#[test]
fn what_was_reserved_without_a_limit_is_not_given_back_within_one() {
    let mut bucket = TokenBucket::new(Rate::UNLIMITED, 5);
    let reservation = bucket.reserve(NOW, 1, FOREVER);
    bucket.set_rate(NOW, Rate::per_second(1.0));
    assert!(bucket.allow(NOW, 5));
    bucket.cancel(NOW, &reservation);
    assert_eq!(bucket.tokens_at(NOW), 0.0);
}

#[test]
fn what_was_reserved_within_a_limit_is_not_given_back_without_one() {
    let mut bucket = TokenBucket::new(Rate::per_second(1.0), 1);
    assert!(bucket.allow(NOW, 1));
    let debt = bucket.reserve(NOW, 1, FOREVER);
    bucket.set_rate(NOW, Rate::UNLIMITED);
    bucket.cancel(NOW, &debt);
    assert_eq!(bucket.tokens_at(NOW), -1.0);
}

#[test]
fn a_reservation_of_nothing_gives_nothing_back() {
    let mut bucket = TokenBucket::new(Rate::per_second(1.0), 1);
    assert!(bucket.allow(NOW, 1));
    let last = bucket.reserve(NOW, 1, FOREVER);
    let nothing = bucket.reserve(NOW, 0, FOREVER);
    assert_eq!(nothing.act(), last.act(), "behind the debt");
    bucket.cancel(NOW, &last);
    assert_eq!(bucket.tokens_at(NOW), 0.0);
    bucket.cancel(NOW, &nothing);
    assert_eq!(bucket.tokens_at(NOW), 0.0);
}

quickcheck! {
    fn exponential_never_shrinks_and_stays_within_its_maximum(base: u64, max: u64, k: u16) -> bool {
        let (mut limiter, mut before) = (Exponential::new(ns(base), ns(max)), Duration::ZERO);
        (0..k % 200).all(|_| {
            let delay = when(&mut limiter, 1);
            let grows = delay >= before && delay <= ns(max);
            before = delay;
            grows
        })
    }

    fn exponential_is_the_exact_product(base: u64, k: u8) -> TestResult {
        let base = base % (1 << 62);
        if base == 0 {
            return TestResult::discard();
        }
        let mut limiter = Exponential::new(ns(base), FOREVER);
        let delay = (0..=k).map(|_| when(&mut limiter, 1)).last().unwrap_or_default();
        let product = u128::from(base).checked_mul(1_u128.checked_shl(k.into()).unwrap_or(0));
        let expected = product.filter(|p| *p > 0).unwrap_or(u128::MAX).min(FOREVER.as_nanos());
        TestResult::from_bool(delay.as_nanos() == expected)
    }
}

#[test]
fn keys_that_are_forgotten_are_left_to_the_caller() {
    let parts = || MaxOf((Exponential::new(ms(1), ms(9)), FastSlow::new(ms(1), ms(9), 1)));
    let mut limiter = Box::new(WithMaxWait::new(MaxOf(vec![parts(), parts()]), ms(5)));
    let mut left = vec![];
    when(&mut limiter, 1);
    limiter.forget(item(&2), &mut left);
    assert!(left.is_empty(), "it never failed");
    limiter.forget(item(&1), &mut left);
    assert_eq!(left, [1; 4], "each part held one");
}

#[test]
fn keys_that_a_limiter_needs_no_more_are_dropped_without_its_lock() {
    let probe = Arc::<Probe>::default();
    let limiter = RateLimiter::new(&System::new(), Exponential::new(ms(1), ms(9)));
    let key = Probing(1, Arc::clone(&probe));
    limiter.when(&key);
    let (asked, other) = (limiter.clone(), Probing(2, Arc::default()));
    probe.calls(move || _ = asked.num_requeues(&other));
    limiter.forget(&key);
    assert_eq!(probe.ends(), (1, 1));
}
