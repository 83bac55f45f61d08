//! Attempts that are repeated until one breaks.

use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::mpsc::channel;

use super::*;
use crate::cancel::CancelToken;
use crate::polling::{Backoff, Interrupted, poll_for, poll_immediate_until, poll_until, retry};
use crate::runtime::{Manual, Runtime};

const TIMED_OUT: Interrupted = Interrupted::TimedOut;

type Attempt<'a> = dyn FnMut() -> ControlFlow<()> + 'a;
type Poll = fn(&CancelToken<Manual>, &mut Attempt<'_>) -> Result<(), Interrupted>;

/// Polls with a token that ends after ten seconds. The n-th attempt takes `costs[n]` seconds, and
/// the attempt after the last of these breaks. Returns when the attempts began, and the result.
fn attempts(costs: &'static [u64], poll: Poll) -> (Vec<f64>, Result<(), Interrupted>) {
    drive(&Manual::new(), move |runtime| {
        let mut began = vec![];
        let token = CancelToken::with_deadline(runtime, runtime.now() + seconds(10));
        let result = poll(&token, &mut || {
            let now = runtime.now();
            began.push(now.since(Instant::ZERO).as_secs_f64());
            let Some(cost) = costs.get(began.len() - 1) else { return Break(()) };
            runtime.sleep_until(now + seconds(*cost));
            Continue(())
        });
        (began, result)
    })
}

fn steps(duration: u64, factor: f64, steps: u32) -> Backoff {
    Backoff { factor, steps, ..Backoff::new(seconds(duration)) }
}

#[test]
fn a_retry_runs_as_often_as_there_are_steps_and_does_not_sleep_after_the_last() {
    let three: Poll = |token, run| retry(steps(1, 2.0, 3), token, run);
    assert_eq!(attempts(&[0, 0], three), (vec![0.0, 1.0, 3.0], Ok(())), "WT-10");
    assert_eq!(attempts(&[0; 9], three), (vec![0.0, 1.0, 3.0], Err(TIMED_OUT)));
    let none: Poll = |token, run| retry(steps(1, 2.0, 0), token, run);
    assert_eq!(attempts(&[], none), (vec![], Err(TIMED_OUT)));
}

#[test]
fn a_retry_whose_delay_reached_the_cap_is_over_after_it() {
    let capped: Poll =
        |token, run| retry(Backoff { cap: seconds(3), ..steps(1, 2.0, 99) }, token, run);
    assert_eq!(attempts(&[0; 9], capped), (vec![0.0, 1.0], Err(TIMED_OUT)), "WT-11");
}

#[test]
fn a_retry_looks_at_the_token_before_every_run_and_while_it_sleeps() {
    let slow: Poll = |token, run| retry(steps(4, 1.0, 99), token, run);
    assert_eq!(attempts(&[0; 9], slow), (vec![0.0, 4.0, 8.0], Err(LATE)), "WT-12");
    let token = CancelToken::new(&Manual::new());
    token.cancel();
    let never = || -> ControlFlow<()> { panic!("WT-12") };
    assert_eq!(retry(steps(1, 1.0, 9), &token, never), Err(CANCELLED));
}

#[test]
fn a_retry_is_over_when_its_last_run_is() {
    let ended = drive(&Manual::new(), |runtime| {
        let token = CancelToken::new(runtime);
        let result = retry(steps(1, 2.0, 2), &token, || Continue::<()>(()));
        (result, runtime.now())
    });
    assert_eq!(ended, (Err(TIMED_OUT), Instant::ZERO + SECOND), "WT-10");
}

#[test]
fn a_token_that_ends_during_a_delay_ends_a_retry() {
    let (runtime, (report, ended)) = (Manual::new(), channel());
    let token = CancelToken::new(&runtime);
    let inner = token.clone();
    let thread = runtime.spawn("retries", move || {
        report.send(retry(steps(100, 1.0, 9), &inner, || Continue::<()>(()))).unwrap();
    });
    assert!(runtime.until_waiting(1, seconds(10)));
    token.cancel();
    assert_eq!(ended.recv_timeout(seconds(10)), Ok(Err(CANCELLED)), "WT-12: the clock stands");
    runtime.join(thread).unwrap();
}

#[test]
fn a_poll_at_a_fixed_rate_drops_what_it_missed_but_one() {
    let at_once: Poll = |token, run| poll_until(steps(2, 0.0, 1), true, token, run);
    assert_eq!(attempts(&[1, 1, 1], at_once), (vec![0.0, 2.0, 4.0, 6.0], Ok(())));
    assert_eq!(attempts(&[5, 0, 0], at_once), (vec![0.0, 5.0, 6.0, 8.0], Ok(())), "WT-22");
    assert_eq!(attempts(&[0, 5, 0], at_once), (vec![0.0, 2.0, 7.0, 8.0], Ok(())), "one is kept");
}

#[test]
fn a_poll_that_is_not_immediate_begins_after_one_interval() {
    let later: Poll = |token, run| poll_until(Backoff::new(3 * SECOND), false, token, run);
    assert_eq!(attempts(&[0; 9], later), (vec![3.0, 6.0, 9.0], Err(LATE)), "WT-21");
}

#[test]
fn a_poll_with_a_backoff_counts_each_delay_from_the_end_of_the_last() {
    let growing: Poll = |token, run| poll_until(steps(1, 2.0, 9), true, token, run);
    assert_eq!(attempts(&[0; 9], growing), (vec![0.0, 1.0, 3.0, 7.0], Err(LATE)), "WT-23");
    assert_eq!(attempts(&[2, 0, 0], growing), (vec![0.0, 2.0, 4.0, 8.0], Ok(())));
    assert_eq!(attempts(&[0, 2, 0], growing), (vec![0.0, 1.0, 3.0, 7.0], Ok(())), "not of the run");
}

#[test]
fn a_poll_with_jitter_has_no_fixed_rate() {
    let jittered: Poll =
        |token, run| poll_until(Backoff { jitter: 1.0, ..steps(1, 1.0, 1) }, true, token, run);
    let (began, _) = attempts(&[0; 9], jittered);
    assert!(began.windows(2).any(|pair| pair[1] - pair[0] > 1.2), "{began:?}: WT-23");
}

#[test]
fn a_poll_without_a_duration_leaves_no_gap() {
    let ready: Poll = |token, run| poll_until(Backoff::new(Duration::ZERO), true, token, run);
    assert_eq!(attempts(&[0, 1, 0], ready), (vec![0.0, 0.0, 1.0, 1.0], Ok(())));
}

#[test]
fn an_immediate_poll_runs_once_whatever_the_token_says() {
    let token = CancelToken::new(&Manual::new());
    token.cancel();
    let mut runs = 0;
    let backoff = Backoff::new(SECOND);
    let result = poll_until(backoff, true, &token, || {
        runs += 1;
        Continue::<()>(())
    });
    assert_eq!((result, runs), (Err(CANCELLED), 1), "WT-20");
    assert_eq!(poll_until(backoff, true, &token, || Break(7)), Ok(7));
    assert_eq!(poll_until(backoff, false, &token, || Break(7)), Err(CANCELLED));
}

#[test]
fn the_older_immediate_poll_calls_the_end_of_the_token_a_time_out() {
    let older: Poll = |token, run| poll_immediate_until(4 * SECOND, token, run);
    assert_eq!(attempts(&[0; 9], older), (vec![0.0, 4.0, 8.0], Err(TIMED_OUT)), "WT-24");
    let token = CancelToken::new(&Manual::new());
    token.cancel();
    assert_eq!(poll_immediate_until(SECOND, &token, || Break(7)), Ok(7));
    assert_eq!(poll_immediate_until(SECOND, &token, || Continue::<()>(())), Err(TIMED_OUT));
}

#[test]
fn a_poll_with_a_time_out_gets_one_last_chance() {
    let four = |immediate: bool| -> Poll {
        if immediate {
            |token, run| poll_for(token.runtime(), 2 * SECOND, 5 * SECOND, true, run)
        } else {
            |token, run| poll_for(token.runtime(), 2 * SECOND, 5 * SECOND, false, run)
        }
    };
    assert_eq!(attempts(&[0; 9], four(true)), (vec![0.0, 2.0, 4.0, 5.0], Err(TIMED_OUT)), "WT-25");
    assert_eq!(attempts(&[0; 9], four(false)), (vec![2.0, 4.0, 5.0], Err(TIMED_OUT)));
    assert_eq!(attempts(&[0; 3], four(true)), (vec![0.0, 2.0, 4.0, 5.0], Ok(())), "at the last");
    assert_eq!(attempts(&[], four(true)), (vec![0.0], Ok(())));
    let slow = (vec![2.0, 4.0, 7.0], Err(TIMED_OUT));
    assert_eq!(attempts(&[0, 3, 0], four(false)), slow, "one that began in time is not the last");
    let late = (vec![0.0, 5.0, 7.0, 8.0], Err(TIMED_OUT));
    assert_eq!(attempts(&[3, 0, 0, 0], four(true)), late, "the time begins after the first");
}

#[test]
fn a_time_out_of_zero_is_none() {
    let endless: Poll = |token, run| poll_for(token.runtime(), SECOND, Duration::ZERO, false, run);
    assert_eq!(attempts(&[0; 3], endless), (vec![1.0, 2.0, 3.0, 4.0], Ok(())));
}

#[test]
fn interruptions_say_why() {
    assert_eq!(
        (TIMED_OUT.to_string(), CANCELLED.to_string()),
        ("timed out".into(), "cancelled".into())
    );
    assert!(std::error::Error::source(&CANCELLED).is_none(), "it has said so itself");
    assert!(std::error::Error::source(&TIMED_OUT).is_none());
}
