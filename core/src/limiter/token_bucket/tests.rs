//! The token bucket, one rule a test, and its laws.

use quickcheck::{Arbitrary, Gen, quickcheck};

use super::*;

const START: Instant = Instant::from_nanos(1_000_000_000_000);
const SECOND: u64 = 1_000_000_000;

fn after(nanos: u64) -> Instant {
    START + Duration::from_nanos(nanos)
}

fn seconds(n: u64) -> Instant {
    after(n * SECOND)
}

fn bucket(rate: f64, burst: u64) -> TokenBucket {
    TokenBucket::new(Rate::per_second(rate), burst)
}

fn reserve(bucket: &mut TokenBucket, t: Instant, n: u64) -> Reservation {
    bucket.reserve(t, n, FOREVER)
}

/// Whole token counts are exact in double precision.
fn tokens(bucket: &TokenBucket, t: Instant) -> i64 {
    let tokens = bucket.tokens_at(t);
    assert_eq!(tokens, tokens.trunc());
    tokens as i64
}

#[test]
fn a_new_bucket_is_full_whatever_the_clock_reads() {
    for t in [Instant::ZERO, START, Instant::NEVER] {
        let mut bucket = bucket(0.001, 5);
        assert_eq!(tokens(&bucket, t), 5);
        assert!(bucket.allow(t, 5));
        assert!(!bucket.allow(t, 1));
    }
}

#[test]
fn tokens_come_at_the_rate_up_to_the_burst() {
    let mut bucket = bucket(2.0, 5);
    assert!(bucket.allow(START, 5));
    assert_eq!(bucket.tokens_at(after(SECOND / 4)), 0.5);
    assert_eq!(tokens(&bucket, seconds(2)), 4);
    assert_eq!(tokens(&bucket, seconds(100)), 5);
    assert_eq!(tokens(&bucket, START), 0, "looking changes nothing");
}

#[test]
fn a_shortfall_of_less_than_a_nanosecond_is_none() {
    let emptied = || {
        let mut bucket = bucket(3.0, 1);
        assert!(bucket.allow(START, 1));
        bucket
    };
    assert!(!emptied().allow(after(333_333_332), 1));
    assert!(emptied().allow(after(333_333_333), 1), "TB-7");
    let wait = reserve(&mut emptied(), START, 1).delay_from(START);
    assert_eq!(wait, Duration::from_nanos(333_333_333));
}

#[test]
fn debt_grows_by_one_slot_per_reservation() {
    let mut bucket = bucket(10.0, 100);
    let delays: Vec<_> =
        (0..103).map(|_| reserve(&mut bucket, START, 1).delay_from(START).as_millis()).collect();
    assert_eq!(delays[..100], [0; 100]);
    assert_eq!(delays[100..], [100, 200, 300], "TB-26");
    assert_eq!(tokens(&bucket, START), -3);
}

#[test]
fn a_refused_request_changes_nothing() {
    let mut bucket = bucket(1.0, 3);
    assert!(bucket.allow(START, 2));
    let before = bucket.clone();
    assert!(!bucket.allow(seconds(0), 2), "one is left");
    assert!(!reserve(&mut bucket, seconds(1), 4).is_granted(), "more than the burst");
    let patience = Duration::from_nanos(SECOND - 1);
    assert!(!bucket.reserve(START, 2, patience).is_granted(), "a nanosecond too impatient");
    assert_eq!(bucket, before);
    assert!(bucket.reserve(START, 2, Duration::from_nanos(SECOND)).is_granted());
}

#[test]
fn a_refused_reservation_never_acts_and_cancels_to_nothing() {
    let mut bucket = bucket(1.0, 3);
    let refused = reserve(&mut bucket, START, 4);
    assert_eq!((refused.act(), refused.delay_from(START)), (Instant::NEVER, FOREVER));
    let late = Instant::from_nanos(Instant::NEVER.as_nanos() - 5);
    assert_eq!(refused.delay_from(late), FOREVER);
    let before = bucket.clone();
    bucket.cancel(START, &refused);
    assert_eq!(bucket, before);
}

#[test]
fn an_unlimited_bucket_grants_all_and_changes_nothing() {
    let mut bucket = TokenBucket::new(Rate::UNLIMITED, 0);
    let before = bucket.clone();
    let reservation = reserve(&mut bucket, START, u64::MAX);
    assert_eq!(reservation.act(), START);
    assert!(bucket.allow(START, 7));
    bucket.cancel(START, &reservation);
    assert_eq!(bucket, before);
}

#[test]
fn leaving_the_unlimited_rate_settles_to_the_burst_if_time_passed() {
    let mut bucket = bucket(1.0, 4);
    assert!(bucket.allow(START, 4));
    bucket.set_rate(START, Rate::UNLIMITED);
    let taken = reserve(&mut bucket, START, 2);
    assert_eq!(tokens(&bucket, START), 0);
    assert_eq!(tokens(&bucket, after(1)), 4);
    bucket.set_rate(START, Rate::per_second(1.0));
    assert_eq!(tokens(&bucket, START), 0, "no time passed");
    bucket.cancel(START, &taken);
    assert_eq!(tokens(&bucket, START), 0, "it took nothing, so it gives nothing back");
    bucket.set_rate(START, Rate::UNLIMITED);
    bucket.set_rate(seconds(1), Rate::per_second(1.0));
    assert_eq!(tokens(&bucket, seconds(1)), 4);
}

#[test]
fn waits_too_long_to_tell_are_for_ever() {
    for rate in [1e-20, f64::MIN_POSITIVE, 5e-324, SECOND as f64 / 9_223_372_036_854_775_808.0] {
        let mut bucket = bucket(rate, 1);
        assert!(bucket.allow(START, 1));
        let patient = bucket.clone().reserve(START, 1, FOREVER);
        assert!(patient.is_granted());
        assert_eq!(patient.delay_from(START), FOREVER, "{rate}");
        assert_eq!(patient.delay_from(seconds(1)), FOREVER, "never, whatever the clock reads");
        let almost = FOREVER - Duration::from_nanos(1);
        assert!(!bucket.reserve(START, 1, almost).is_granted());
    }
}

#[test]
fn a_rate_of_zero_spends_the_burst_once() {
    for rate in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
        let mut bucket = bucket(rate, 2);
        assert!(bucket.allow(START, 1));
        assert!(bucket.allow(seconds(1_000_000), 1));
        assert!(!bucket.allow(seconds(2_000_000), 1));
        assert_eq!(tokens(&bucket, seconds(3_000_000)), 0);
        assert!(reserve(&mut bucket, START, 1).is_granted(), "TB-10: granted for never");
        assert_eq!(bucket.burst(), 2);
    }
}

#[test]
fn no_tokens_are_granted_when_the_debt_is_repaid() {
    let mut bucket = bucket(1.0, 1);
    reserve(&mut bucket, START, 1);
    assert!(bucket.allow(START, 0));
    reserve(&mut bucket, START, 1);
    assert!(!bucket.allow(START, 0));
    assert_eq!(reserve(&mut bucket, START, 0).delay_from(START), Duration::from_secs(1));
}

#[test]
fn a_delay_shrinks_with_time_and_ends_at_zero() {
    let mut bucket = bucket(1.0, 1);
    reserve(&mut bucket, START, 1);
    let reservation = reserve(&mut bucket, START, 1);
    assert_eq!(reservation.delay_from(after(SECOND / 4)), Duration::from_millis(750));
    assert_eq!(reservation.delay_from(seconds(1)), Duration::ZERO);
    assert_eq!(reservation.delay_from(seconds(9)), Duration::ZERO);
}

#[test]
fn cancelling_newest_first_restores_everything() {
    let mut bucket = bucket(1.0, 1);
    let made: Vec<_> = (0..4).map(|_| reserve(&mut bucket, START, 1)).collect();
    let mut cancel = |n: usize| {
        bucket.cancel(START, &made[n]);
        tokens(&bucket, START)
    };
    assert_eq!([cancel(3), cancel(2), cancel(1), cancel(0)], [-2, -1, 0, 1], "TB-18, TB-19");
}

#[test]
fn cancelling_oldest_first_restores_the_newest_alone() {
    let mut bucket = bucket(1.0, 1);
    let made: Vec<_> = (0..4).map(|_| reserve(&mut bucket, START, 1)).collect();
    let mut cancel = |n: usize| {
        bucket.cancel(START, &made[n]);
        tokens(&bucket, START)
    };
    assert_eq!([cancel(1), cancel(2), cancel(3)], [-3, -3, -2], "TB-19");
}

#[test]
fn cancelling_is_in_time_up_to_the_time_to_act() {
    let mut bucket = bucket(1.0, 5);
    let reservation = reserve(&mut bucket, START, 2);
    let mut late = bucket.clone();
    bucket.cancel(START, &reservation);
    assert_eq!(tokens(&bucket, START), 5, "at that very instant it still restores");
    late.cancel(after(1), &reservation);
    assert!(late.tokens_at(after(1)) < 4.0);
    let nothing = reserve(&mut late, seconds(1), 0);
    let before = late.clone();
    late.cancel(seconds(1), &nothing);
    assert_eq!(late, before);
}

#[test]
fn cancelling_fills_the_bucket_to_the_burst_at_most() {
    let mut bucket = bucket(1.0, 5);
    reserve(&mut bucket, START, 5);
    let reservation = reserve(&mut bucket, START, 5);
    bucket.set_rate(START, Rate::per_second(1_000.0)); // it keeps the rate that it was made with
    bucket.cancel(seconds(1), &reservation);
    assert_eq!(tokens(&bucket, seconds(1)), 5);
}

#[test]
fn cancelling_moves_the_last_event_to_no_time_that_has_passed() {
    let mut bucket = bucket(1.0, 1);
    reserve(&mut bucket, START, 1);
    let reservation = reserve(&mut bucket, START, 1);
    let half = after(SECOND / 2);
    bucket.cancel(half, &reservation);
    assert_eq!(bucket.last_event, seconds(1), "TB-18");
}

#[test]
fn a_second_cancel_is_computed_anew() {
    let mut bucket = bucket(1.0, 1);
    reserve(&mut bucket, START, 1);
    let second = reserve(&mut bucket, START, 1);
    let mut seen = vec![tokens(&bucket, START)];
    for _ in 0..2 {
        bucket.cancel(START, &second);
        seen.push(tokens(&bucket, START));
    }
    assert_eq!(seen, [-1, 0, 1], "TB-28");
}

#[test]
fn cancelling_what_later_reservations_used_up_changes_nothing() {
    let mut bucket = bucket(1.0, 1);
    assert!(bucket.allow(START, 1));
    let first = reserve(&mut bucket, START, 1);
    reserve(&mut bucket, START, 1);
    let before = bucket.clone();
    bucket.cancel(after(SECOND / 2), &first);
    assert_eq!(bucket, before, "TB-19");
}

#[test]
fn cancelling_one_that_is_not_the_newest_leaves_the_last_event() {
    let mut bucket = bucket(1.0, 4);
    assert!(bucket.allow(START, 4));
    let (older, newest) = (reserve(&mut bucket, START, 3), reserve(&mut bucket, START, 1));
    bucket.cancel(START, &older);
    assert_eq!(tokens(&bucket, START), -2, "one of three is behind the newest");
    bucket.cancel(START, &newest);
    assert_eq!(tokens(&bucket, START), -1, "TB-18");
}

#[test]
fn a_reservation_remembers_its_rate() {
    let mut bucket = bucket(1.0, 1);
    reserve(&mut bucket, START, 1);
    let old = reserve(&mut bucket, START, 1); // acts at 1 s
    bucket.set_rate(START, Rate::per_second(4.0));
    reserve(&mut bucket, START, 1); // acts at 0.5 s, half a token of the old rate before
    bucket.cancel(START, &old);
    assert_eq!(bucket.tokens_at(START), -0.5, "TB-17: the difference is negative, TB-20");
}

#[test]
fn settings_settle_first_and_leave_reservations_alone() {
    let mut bucket = bucket(1.0, 10);
    assert!(bucket.allow(START, 10));
    let reservation = reserve(&mut bucket, START, 1);
    bucket.set_rate(seconds(3), Rate::per_second(100.0));
    assert_eq!(tokens(&bucket, seconds(3)), 2, "at the old rate");
    assert_eq!(reservation.act(), seconds(1));
    assert_eq!(tokens(&bucket, seconds(4)), 10);
    bucket.set_burst(seconds(4), 5);
    assert_eq!(tokens(&bucket, seconds(4)), 5, "clamped at the next advance");
    bucket.set_burst(seconds(4), 50);
    assert_eq!(tokens(&bucket, seconds(4)), 5, "raising adds nothing");
    assert_eq!((bucket.rate(), bucket.burst()), (Rate::per_second(100.0), 50));
}

#[test]
fn rates_are_normal() {
    assert_eq!(Rate::every(Duration::from_millis(100)), Rate::per_second(10.0));
    assert_eq!(Rate::every(Duration::ZERO), Rate::UNLIMITED);
    assert_eq!(Rate::per_second(f64::MAX), Rate::UNLIMITED);
    assert_eq!(Rate::per_second(f64::NAN), Rate::ZERO);
    assert!(Rate::per_second(f64::INFINITY).is_unlimited());
    assert_eq!(Rate::per_second(2.5).tokens_per_second(), 2.5);
}

#[test]
fn time_never_runs_backwards_inside_a_bucket() {
    let mut bucket = bucket(1.0, 1);
    assert!(bucket.allow(seconds(10), 1));
    assert!(!bucket.allow(seconds(5), 1), "treated as second 10");
    assert!(!bucket.allow(after(10 * SECOND + SECOND / 2), 1), "not credited twice");
    let reservation = reserve(&mut bucket, seconds(4), 1);
    assert_eq!(reservation.act(), seconds(11), "relative to the latest time seen");
    bucket.set_rate(seconds(1), Rate::per_second(1.0));
    bucket.cancel(seconds(1), &reservation);
    assert_eq!(tokens(&bucket, seconds(1)), 0);
}

#[test]
fn an_odd_interval_adds_up() {
    let mut bucket = TokenBucket::new(Rate::per_second(1.0 / 1.031_425), 1);
    assert!((0..60).all(|round| bucket.allow(seconds(2 * round), 1)), "TB-27");
}

/// A bucket, and requests for tokens at times that may go backwards.
#[derive(Clone, Debug)]
struct Program {
    rate: f64,
    burst: u64,
    requests: Vec<(i16, u8)>,
}

impl Arbitrary for Program {
    fn arbitrary(g: &mut Gen) -> Self {
        let rate = *g.choose(&[0.5, 1.0, 3.3, 10.0, 1000.0]).unwrap();
        Self { rate, burst: u64::from(u8::arbitrary(g) % 5), requests: Vec::arbitrary(g) }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let this = self.clone();
        Box::new(self.requests.shrink().map(move |requests| Self { requests, ..this.clone() }))
    }
}

impl Program {
    /// Runs the requests; calls `visit` with the bucket before and after, the time and the answer.
    fn run(&self, mut visit: impl FnMut(&TokenBucket, &TokenBucket, Instant, Reservation)) {
        let (mut bucket, mut millis) = (bucket(self.rate, self.burst), 10_000_i64);
        for &(step, n) in &self.requests {
            millis = (millis + i64::from(step % 500)).max(0);
            let t = Instant::from_nanos(millis.cast_unsigned() * 1_000_000);
            let before = bucket.clone();
            let answer = bucket.reserve(t, u64::from(n % 6), Duration::from_secs(5));
            visit(&before, &bucket, t, answer);
        }
    }
}

quickcheck! {
    fn a_window_holds_no_more_than_burst_and_rate_allow(program: Program) -> bool {
        let mut acts: Vec<(Instant, u64)> = vec![];
        program.run(|_, _, _, answer| {
            if answer.is_granted() {
                acts.push((answer.act(), answer.tokens));
            }
        });
        acts.sort_unstable();
        acts.iter().enumerate().all(|(first, &(from, _))| {
            let mut sum = 0;
            acts[first..].iter().all(|&(to, n)| {
                sum += n;
                let window = to.since(from).as_secs_f64();
                sum as f64 <= program.burst as f64 + program.rate * window + 1.0 // TB-24
            })
        })
    }

    fn refusals_change_nothing_and_grants_take_exactly_what_they_say(program: Program) -> bool {
        let mut holds = true;
        program.run(|before, after, t, answer| {
            holds &= if answer.is_granted() {
                let left = before.tokens_at(t) - answer.tokens as f64;
                after.tokens_at(t) == left && after.last >= before.last
            } else {
                before == after
            };
            holds &= after.tokens_at(t) <= program.burst as f64;
        });
        holds
    }

    fn cancelling_what_was_just_reserved_undoes_it(program: Program, n: u8) -> bool {
        let mut bucket = bucket(program.rate, program.burst);
        program.run(|_, after, _, _| bucket = after.clone());
        let t = bucket.last.unwrap_or(START);
        let before = bucket.tokens_at(t);
        let reservation = reserve(&mut bucket, t, u64::from(n));
        bucket.cancel(t, &reservation);
        (bucket.tokens_at(t) - before).abs() < 1e-6
    }
}
