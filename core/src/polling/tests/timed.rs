//! Polls with a time limit.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::cancel::{CancelToken, Reason};
use crate::polling::{poll_with_timeout, until};
use crate::runtime::{Manual, Runtime};

const PATIENCE: Duration = Duration::from_secs(10);

fn moment(at: Instant) -> f64 {
    at.since(Instant::ZERO).as_secs_f64()
}

/// Polls every two seconds with a time-out of ten; the n-th run takes `costs[n]` seconds, later
/// ones none. Returns when the runs began and how the poll ended.
fn polled(
    costs: &'static [u32],
    ends_in: Option<usize>,
) -> (Vec<f64>, Result<(), Interrupted>, f64) {
    drive(&Manual::new(), move |runtime| {
        let mut began = vec![];
        let token = CancelToken::new(runtime);
        let ended = poll_with_timeout(2 * SECOND, 10 * SECOND, &token, |_| {
            began.push(moment(runtime.now()));
            let cost = costs.get(began.len() - 1).copied().unwrap_or(0);
            runtime.sleep_until(runtime.now() + cost * SECOND);
            if ends_in == Some(began.len()) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        (began, ended, moment(runtime.now()))
    })
}

#[test]
fn a_poll_runs_at_a_fixed_rate_until_its_time_is_over() {
    let ended = Err(LATE);
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
    assert_eq!((began, ended, at), (vec![0.0], Err(LATE), 11.0));
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
    let ended: Result<Infallible, _> = poll_with_timeout(SECOND, SECOND, &token, |child| {
        runs += 1;
        assert_eq!(child.reason(), Some(Reason::Cancelled));
        ControlFlow::Continue(())
    });
    assert_eq!((runs, ended), (1, Err(CANCELLED)));
}

#[test]
fn a_cancelled_poll_wakes_from_its_gap() {
    let runtime = Manual::new();
    let token = CancelToken::new(&runtime);
    let inner = token.clone();
    let thread = runtime.spawn("polls", move || {
        poll_with_timeout(SECOND, 10 * SECOND, &inner, |_| ControlFlow::<Infallible>::Continue(()))
    });
    assert!(runtime.until_waiting(1, PATIENCE));
    token.cancel();
    assert_eq!(runtime.join(thread).unwrap(), Err(CANCELLED));
    assert_eq!(runtime.now(), Instant::ZERO);
}

#[test]
fn an_interval_of_zero_leaves_no_gap() {
    let mut runs = 0;
    let token = CancelToken::new(&Manual::new());
    let ended = poll_with_timeout(Duration::ZERO, SECOND, &token, |_| {
        runs += 1;
        if runs == 100 { ControlFlow::Break(runs) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(ended, Ok(100));
}

#[test]
fn an_interval_without_end_is_bounded_by_the_time_out() {
    let ended =
        drive(&Manual::new(), |runtime| {
            let token = CancelToken::new(runtime);
            poll_with_timeout(Duration::MAX, SECOND, &token, |_| {
                ControlFlow::<Infallible>::Continue(())
            })
        });
    assert_eq!(ended, Err(LATE));
}

#[test]
fn a_panic_in_a_run_ends_the_loop_and_goes_on() {
    let token = CancelToken::new(&Manual::new());
    let repeated = catch_unwind(AssertUnwindSafe(|| until(SECOND, &token, || panic!("run"))));
    assert!(repeated.is_err());
    let polled = catch_unwind(AssertUnwindSafe(|| {
        poll_with_timeout(SECOND, SECOND, &token, |_| -> ControlFlow<()> { panic!("run") })
    }));
    assert!(polled.is_err());
    assert!(!token.is_cancelled());
}

#[test]
fn a_run_is_given_a_token_that_ends_when_the_time_is_over() {
    let reasons = drive(&Manual::new(), |runtime| {
        let token = CancelToken::new(runtime);
        poll_with_timeout(SECOND, 2 * SECOND, &token, |child| {
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
        let ended = poll_with_timeout(SECOND, Duration::ZERO, &token, |_| {
            runs += 1;
            if runs > 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        (runs, ended)
    });
    assert_eq!(ended, (1, Err(LATE)));
}
