//! The loops on a clock that is moved by hand, and with runs that cost time.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::{poll, repeat};
use crate::cancel::{CancelToken, Reason};
use crate::runtime::{Ambient, Instant, Manual, Runtime};

const SECOND: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs a loop on a thread of its own and moves the clock in steps of a tenth of a second, each
/// time after the loop has gone to sleep, until the loop ends.
pub(crate) fn drive<T: Send + 'static>(
    runtime: &Manual,
    body: impl FnOnce(&Manual) -> T + Send + 'static,
) -> T {
    let inner = runtime.clone();
    let (report, ended) = std::sync::mpsc::channel();
    let thread = runtime.spawn("loop", move || report.send(body(&inner)).unwrap());
    loop {
        while runtime.waiters() == 0 {
            if let Ok(value) = ended.recv_timeout(Duration::from_millis(1)) {
                runtime.join(thread).unwrap();
                return value;
            }
        }
        runtime.advance(SECOND / 10);
    }
}

fn seconds(at: Instant) -> f64 {
    at.since(Instant::ZERO).as_secs_f64()
}

/// Polls every two seconds with a time-out of ten; the n-th run takes `costs[n]` seconds, those
/// after it nothing. Returns when the runs began and how the poll ended.
fn polled(costs: &'static [u32], ends_in: Option<usize>) -> (Vec<f64>, Result<(), Reason>, f64) {
    drive(&Manual::new(), move |runtime| {
        let mut began = vec![];
        let token = CancelToken::new(runtime);
        let ended = poll(2 * SECOND, 10 * SECOND, &token, |_| {
            began.push(seconds(runtime.now()));
            let cost = costs.get(began.len() - 1).copied().unwrap_or(0);
            runtime.sleep_until(runtime.now() + cost * SECOND);
            if ends_in == Some(began.len()) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        (began, ended, seconds(runtime.now()))
    })
}

#[test]
fn a_poll_runs_at_a_fixed_rate_until_its_time_is_over() {
    let ended = Err(Reason::DeadlineExceeded);
    assert_eq!(polled(&[], None), (vec![0.0, 2.0, 4.0, 6.0, 8.0], ended, 10.0));
}

#[test]
fn a_run_that_takes_less_than_the_interval_does_not_shift_the_rate() {
    assert_eq!(polled(&[1, 1], Some(4)).0, [0.0, 2.0, 4.0, 6.0]);
}

#[test]
fn a_run_that_misses_ticks_is_followed_at_once_and_once() {
    assert_eq!(polled(&[5], None).0, [0.0, 5.0, 6.0, 8.0], "ticks at 2 and 4, the next at 6");
}

#[test]
fn a_poll_looks_at_the_token_before_the_tick_that_was_kept() {
    let (began, ended, at) = polled(&[11], None);
    assert_eq!((began, ended, at), (vec![0.0], Err(Reason::DeadlineExceeded), 11.0));
}

#[test]
fn a_run_that_succeeds_after_the_deadline_counts() {
    assert_eq!(polled(&[0, 20], Some(2)), (vec![0.0, 2.0], Ok(()), 22.0));
}

#[test]
fn a_poll_runs_once_even_if_its_token_has_ended() {
    let token = CancelToken::new(&Manual::new());
    token.cancel();
    let mut runs = 0;
    let ended: Result<Infallible, _> = poll(SECOND, SECOND, &token, |child| {
        runs += 1;
        assert_eq!(child.reason(), Some(Reason::Cancelled));
        ControlFlow::Continue(())
    });
    assert_eq!((runs, ended), (1, Err(Reason::Cancelled)));
}

#[test]
fn a_cancelled_poll_wakes_from_its_gap() {
    let runtime = Manual::new();
    let token = CancelToken::new(&runtime);
    let inner = token.clone();
    let thread = runtime.spawn("polls", move || {
        poll(SECOND, 10 * SECOND, &inner, |_| ControlFlow::<Infallible>::Continue(()))
    });
    assert!(runtime.until_waiting(1, PATIENCE));
    token.cancel();
    assert_eq!(runtime.join(thread).unwrap(), Err(Reason::Cancelled));
    assert_eq!(runtime.now(), Instant::ZERO);
}

#[test]
fn an_interval_of_zero_leaves_no_gap() {
    let mut runs = 0;
    let token = CancelToken::new(&Manual::new());
    let ended = poll(Duration::ZERO, SECOND, &token, |_| {
        runs += 1;
        if runs == 100 { ControlFlow::Break(runs) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(ended, Ok(100));
}

#[test]
fn an_interval_without_end_is_bounded_by_the_time_out() {
    let ended = drive(&Manual::new(), |runtime| {
        let token = CancelToken::new(runtime);
        poll(Duration::MAX, SECOND, &token, |_| ControlFlow::<Infallible>::Continue(()))
    });
    assert_eq!(ended, Err(Reason::DeadlineExceeded));
}

/// Repeats with a period of a second, each run costing half a second; returns the gaps.
fn gaps(jitter: f64, runs: usize) -> Vec<f64> {
    drive(&Manual::new(), move |runtime| {
        let token = CancelToken::new(runtime);
        let (mut last_end, mut gaps) = (None::<Instant>, vec![]);
        repeat(SECOND, jitter, &token, || {
            gaps.extend(last_end.map(|end| runtime.now().since(end).as_secs_f64()));
            runtime.sleep_until(runtime.now() + SECOND / 2);
            last_end = Some(runtime.now());
            if gaps.len() == runs {
                token.cancel();
            }
        });
        gaps
    })
}

#[test]
fn the_gap_is_counted_from_the_end_of_a_run() {
    for jitter in [0.0, -1.0, f64::NAN] {
        assert_eq!(gaps(jitter, 3), [1.0; 3], "{jitter}");
    }
}

#[test]
fn jitter_lengthens_the_gap_by_a_part_of_it() {
    let gaps = gaps(1.2, 30);
    // The clock moves in steps of a tenth, so a gap is noticed up to a tenth late.
    assert!(gaps.iter().all(|gap| (1.0..2.3).contains(gap)), "{gaps:?}");
    let longest = gaps.iter().copied().fold(0.0, f64::max);
    let shortest = gaps.iter().copied().fold(9.0, f64::min);
    assert!(longest > 2.0 && shortest < 1.2, "the whole range is used: {gaps:?}");
}

#[test]
fn jitter_without_bound_is_a_gap_without_end_and_not_a_panic() {
    let runtime = Manual::new();
    let token = CancelToken::with_deadline(&runtime, Instant::ZERO + SECOND);
    let inner = token.clone();
    let thread = runtime.spawn("loop", move || repeat(Duration::MAX, f64::INFINITY, &inner, || {}));
    assert!(runtime.until_waiting(1, PATIENCE));
    runtime.advance(SECOND);
    runtime.join(thread).unwrap();
}

#[test]
fn a_loop_whose_token_has_ended_does_not_run() {
    let token = CancelToken::new(&Manual::new());
    token.cancel();
    repeat(SECOND, 0.0, &token, || panic!("must not run"));
}

#[test]
fn a_panic_in_a_run_ends_the_loop_and_goes_on() {
    let token = CancelToken::new(&Manual::new());
    let repeated = catch_unwind(AssertUnwindSafe(|| repeat(SECOND, 0.0, &token, || panic!("run"))));
    assert!(repeated.is_err());
    let polled = catch_unwind(AssertUnwindSafe(|| {
        poll(SECOND, SECOND, &token, |_| -> ControlFlow<()> { panic!("run") })
    }));
    assert!(polled.is_err());
    assert!(!token.is_cancelled());
}

#[test]
fn a_run_is_given_a_token_that_ends_when_the_time_is_over() {
    let reasons = drive(&Manual::new(), |runtime| {
        let token = CancelToken::new(runtime);
        poll(SECOND, 2 * SECOND, &token, |child| {
            let before = child.reason();
            runtime.sleep_until(Instant::ZERO + 3 * SECOND);
            ControlFlow::Break((before, child.reason(), token.reason()))
        })
    });
    assert_eq!(reasons, Ok((None, Some(Reason::DeadlineExceeded), None)));
}

#[test]
fn a_time_of_nothing_is_over_after_the_first_run() {
    let ended = drive(&Manual::new(), |runtime| {
        let (token, mut runs) = (CancelToken::new(runtime), 0);
        let ended = poll(SECOND, Duration::ZERO, &token, |_| {
            runs += 1;
            if runs > 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        (runs, ended)
    });
    assert_eq!(ended, (1, Err(Reason::DeadlineExceeded)));
}
