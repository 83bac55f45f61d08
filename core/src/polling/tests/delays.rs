//! The steps of a back-off.

use quickcheck::quickcheck;

use super::*;
use crate::limiter::FOREVER;
use crate::polling::{Backoff, Delays, ExponentialDelays, Jittered, Resetting, Stepping, jitter};

const LOW: At = At(0, 0);
const HIGH: At = At(0, u64::MAX);

fn growing(duration: u64, factor: f64, steps: u32, cap: u64) -> Backoff {
    Backoff { factor, steps, cap: seconds(cap), ..Backoff::new(seconds(duration)) }
}

/// The next `count` delays in whole seconds.
fn first(delays: &mut impl Delays, count: usize) -> Vec<u64> {
    (0..count).map(|_| delays.next(&LOW).as_secs()).collect()
}

#[test]
fn jitter_adds_less_than_a_part() {
    assert_eq!(jitter(SECOND, 0.5, &LOW), SECOND);
    assert_eq!(jitter(SECOND, 0.5, &HIGH).as_nanos(), 1_499_999_999);
    for none in [0.0, -3.0, f64::NAN] {
        assert_eq!(jitter(SECOND, none, &HIGH).as_nanos(), 1_999_999_999, "WT-1: as 1.0");
    }
    assert_eq!(jitter(FOREVER, 1.0, &HIGH), FOREVER);
    assert_eq!(jitter(SECOND, f64::INFINITY, &HIGH), FOREVER);
}

#[test]
fn a_delay_grows_as_often_as_there_are_steps() {
    let mut backoff = growing(1, 2.0, 3, 0);
    assert_eq!(first(&mut Stepping(backoff), 6), [1, 2, 4, 8, 8, 8], "WT-5");
    assert_eq!(backoff.step(&LOW), SECOND);
    assert_eq!((backoff.steps, backoff.duration), (2, 2 * SECOND));
}

#[test]
fn a_delay_that_reaches_the_cap_stays_there() {
    let mut stepping = Stepping(growing(1, 2.0, 99, 5));
    assert_eq!(first(&mut stepping, 3), [1, 2, 4]);
    assert_eq!(stepping.0.steps, 0, "WT-5: after the third");
    assert_eq!(first(&mut stepping, 3), [5, 5, 5]);
}

#[test]
fn a_delay_equal_to_the_cap_still_grows() {
    let mut stepping = Stepping(growing(1, 2.0, 9, 4));
    assert_eq!(first(&mut stepping, 3), [1, 2, 4]);
    assert_eq!(stepping.0.steps, 0, "8 is more than 4");
    let mut exact = Stepping(growing(1, 2.0, 9, 2));
    exact.next(&LOW);
    assert_eq!(exact.0.steps, 8, "2 is not more than 2");
}

#[test]
fn a_first_delay_above_the_cap_is_returned_as_it_is() {
    assert_eq!(first(&mut Stepping(growing(9, 2.0, 9, 5)), 3), [9, 5, 5], "WT-4");
    assert_eq!(first(&mut Stepping(growing(9, 0.0, 9, 5)), 3), [9, 9, 9], "without factor no cap");
    assert_eq!(first(&mut Stepping(growing(3, 2.0, 0, 0)), 3), [3, 3, 3], "WT-2: without steps");
    assert_eq!(first(&mut Stepping(growing(8, 0.5, 9, 0)), 4), [8, 4, 2, 1], "it may shrink");
}

#[test]
fn jitter_does_not_feed_into_the_next_delay_and_may_exceed_the_cap() {
    let mut backoff = Backoff { jitter: 1.0, ..growing(1, 2.0, 9, 3) };
    let delays: Vec<_> = (0..4).map(|_| backoff.step(&HIGH).as_nanos()).collect();
    assert_eq!(delays, [1_999_999_999, 3_999_999_999, 5_999_999_999, 5_999_999_999]);
}

#[test]
fn a_delay_saturates() {
    let mut backoff = Backoff { steps: 3, factor: 1e30, ..Backoff::new(SECOND) };
    assert_eq!([backoff.step(&LOW), backoff.step(&LOW)], [SECOND, FOREVER], "WT-6");
    for odd in [-1.0, f64::NAN] {
        let mut backoff = Backoff { steps: 3, factor: odd, ..Backoff::new(SECOND) };
        assert_eq!([backoff.step(&LOW), backoff.step(&LOW)], [SECOND, Duration::ZERO]);
    }
}

#[test]
fn a_period_has_jitter_only_if_asked() {
    assert_eq!(Jittered { period: SECOND, factor: 0.0 }.next(&HIGH), SECOND);
    let jittered = Jittered { period: SECOND, factor: 0.5 }.next(&HIGH);
    assert_eq!(jittered.as_nanos(), 1_499_999_999);
}

#[test]
fn resetting_delays_start_over_periodically_also_under_continuous_use() {
    let mut delays = Resetting::new(growing(1, 2.0, 99, 8), seconds(10), At(0, 0).now());
    let mut at = |second| delays.next(&At(second, 0)).as_secs();
    assert_eq!([at(0), at(1), at(3), at(7), at(10)], [1, 2, 4, 8, 8], "not more than 10 s yet");
    assert_eq!([at(11), at(12), at(21)], [1, 2, 4], "WT-8: 10 s after second 11");
    assert_eq!(at(22), 1);
}

#[test]
fn resetting_delays_without_interval_or_factor_do_not_start_over() {
    let mut constant = Resetting::new(growing(3, 2.0, 99, 0), Duration::ZERO, Instant::ZERO);
    let mut at = |second| constant.next(&At(second, 0));
    assert_eq!([at(0), at(0), at(9), at(9)], [3 * SECOND; 4], "WT-8: the first one stays");
    let mut flat = Resetting::new(growing(3, 0.0, 99, 0), SECOND, Instant::ZERO);
    assert_eq!([flat.next(&At(0, 0)), flat.next(&At(9, 0))], [3 * SECOND; 2], "as WT-7");
}

#[test]
fn exponential_delays_start_over_when_they_were_not_used() {
    let mut delays =
        ExponentialDelays::new(SECOND, seconds(4), seconds(10), 2.0, 0.0, Instant::ZERO);
    let mut at = |second| delays.next(&At(second, 0)).as_secs();
    assert_eq!([at(0), at(9), at(18), at(27), at(37)], [1, 2, 4, 4, 4], "WT-9: they stay");
    assert_eq!([at(48), at(49)], [1, 2], "more than 10 s after the last");
}

#[test]
fn exponential_delays_have_a_random_part_on_top() {
    let mut delays =
        ExponentialDelays::new(SECOND, seconds(4), seconds(10), 2.0, 0.5, Instant::ZERO);
    let mut at = |second| delays.next(&At(second, u64::MAX)).as_secs_f64();
    for (delay, longest) in [(at(0), 1.5), (at(1), 3.0), (at(3), 6.0)] {
        assert!((longest - 1e-6..longest).contains(&delay), "{delay} of {longest}: WT-9");
    }
}

quickcheck! {
    fn delays_never_shrink_and_never_exceed_the_cap(start: u32, steps: u8, cap: u32) -> bool {
        let (start, cap) = (u64::from(start), u64::from(cap).max(1));
        let mut stepping = Stepping(growing(start.min(cap), 1.5, steps.into(), cap));
        let delays = first(&mut stepping, 300);
        delays.is_sorted() && delays.iter().all(|delay| *delay <= cap)
    }
}

#[test]
fn delays_by_reference_are_those_of_their_owner() {
    let mut delays = ExponentialDelays::new(SECOND, seconds(4), SECOND, 2.0, 0.0, Instant::ZERO);
    let first = Delays::next(&mut &mut delays, &At(0, 0));
    assert_eq!((first, Delays::next(&mut delays, &At(0, 0))), (SECOND, 2 * SECOND));
}
