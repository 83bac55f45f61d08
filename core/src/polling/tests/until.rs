//! Loops that run until a token ends.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::cancel::CancelToken;
use crate::polling::{
    Backoff, Resetting, Stepping, backoff_until, forever, jitter_until, non_sliding_until, until,
};
use crate::runtime::{Manual, Runtime};

type Loop = fn(&CancelToken<Manual>, &mut dyn FnMut());

/// Runs a loop whose n-th run takes `costs[n]` seconds and whose last run ends the token. Returns
/// when the runs began.
fn began(costs: &'static [u64], body: Loop) -> Vec<f64> {
    drive(&Manual::new(), move |runtime| {
        let (token, mut began) = (CancelToken::new(runtime), vec![]);
        body(&token, &mut || {
            let now = runtime.now();
            began.push(now.since(Instant::ZERO).as_secs_f64());
            runtime.sleep_until(now + seconds(costs[began.len() - 1]));
            if began.len() == costs.len() {
                token.cancel();
            }
        });
        began
    })
}

#[test]
fn a_sliding_period_counts_from_the_end_of_a_run() {
    let body: Loop = |token, run| until(2 * SECOND, token, run);
    assert_eq!(began(&[0, 3, 0, 0], body), [0.0, 2.0, 7.0, 9.0]);
}

#[test]
fn a_period_that_does_not_slide_counts_from_the_beginning() {
    let body: Loop = |token, run| non_sliding_until(2 * SECOND, token, run);
    assert_eq!(began(&[1, 1, 5, 0, 0], body), [0.0, 2.0, 4.0, 9.0, 11.0], "WT-17");
}

#[test]
fn delays_follow_their_steps_from_the_first_on() {
    let body: Loop = |token, run| {
        let backoff = Backoff { factor: 2.0, steps: 9, ..Backoff::new(SECOND) };
        backoff_until(Stepping(backoff), true, token, run);
    };
    assert_eq!(began(&[0; 5], body), [0.0, 1.0, 3.0, 7.0, 15.0], "WT-18");
}

#[test]
fn a_sliding_delay_is_chosen_when_the_run_is_over() {
    let body: Loop = |token, run| {
        let backoff = Backoff { factor: 2.0, steps: 9, ..Backoff::new(SECOND) };
        let delays = Resetting::new(backoff, seconds(10), token.runtime().now());
        backoff_until(delays, true, token, run);
    };
    let times = began(&[0, 0, 20, 0, 0], body);
    assert_eq!(times, [0.0, 1.0, 3.0, 24.0, 26.0], "WT-8: the long run lets them start over");
}

#[test]
fn jitter_makes_a_period_longer_by_less_than_its_part() {
    let bodies: [Loop; 2] = [
        |token, run| jitter_until(SECOND, 1.0, true, token, run),
        |token, run| jitter_until(SECOND, 1.0, false, token, run),
    ];
    for body in bodies {
        let times = began(&[0; 8], body);
        let gaps = || times.windows(2).map(|pair| pair[1] - pair[0]);
        // The clock of this test moves in steps of a tenth of a second.
        assert!(gaps().all(|gap| (1.0..2.1).contains(&gap)), "{times:?}");
        assert!(gaps().any(|gap| gap > 1.2), "{times:?}");
    }
}

#[test]
fn nothing_runs_once_the_token_has_ended() {
    let token = CancelToken::new(&Manual::new());
    token.cancel();
    until(SECOND, &token, || panic!("WT-14"));
}

#[test]
fn a_token_that_ends_during_a_delay_ends_the_loop() {
    let runtime = Manual::new();
    let token = CancelToken::new(&runtime);
    let inner = token.clone();
    let thread = runtime.spawn("loop", move || {
        let mut runs = 0;
        until(SECOND, &inner, || runs += 1);
        runs
    });
    assert!(runtime.until_waiting(1, seconds(10)));
    token.cancel();
    assert_eq!(runtime.join(thread).unwrap(), 1, "workqueue:LIV-12");
    assert_eq!(runtime.waiters(), 0, "WT-26");
}

#[test]
fn a_panic_goes_on_to_the_caller() {
    let token = CancelToken::new(&Manual::new());
    let run = AssertUnwindSafe(|| until(SECOND, &token, || panic!("a bad run")));
    assert!(catch_unwind(run).is_err(), "WT-19");
}

#[test]
fn only_a_panic_ends_what_goes_on_forever() {
    let times = drive(&Manual::new(), |runtime| {
        let mut began = vec![];
        let endless = AssertUnwindSafe(|| {
            forever(runtime, 2 * SECOND, || {
                began.push(runtime.now());
                assert!(began.len() < 3, "enough");
            })
        });
        let ended = catch_unwind(endless).is_err();
        (began, ended)
    });
    let at = |n| Instant::ZERO + seconds(n);
    assert_eq!(times, (vec![at(0), at(2), at(4)], true));
}
