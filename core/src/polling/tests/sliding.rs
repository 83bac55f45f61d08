//! Loops whose gaps count from the end of a run, with runs that take time.

use super::*;
use crate::cancel::CancelToken;
use crate::polling::{jitter_until, until};
use crate::runtime::{Manual, Runtime};

const PATIENCE: Duration = Duration::from_secs(10);

/// Repeats with a period of a second and runs of half a second; returns the gaps.
fn gaps(jitter: f64, runs: usize) -> Vec<f64> {
    drive(&Manual::new(), move |runtime| {
        let token = CancelToken::new(runtime);
        let (mut last_end, mut gaps) = (None::<Instant>, vec![]);
        jitter_until(SECOND, jitter, true, &token, || {
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
    let thread = runtime
        .spawn("loop", move || jitter_until(Duration::MAX, f64::INFINITY, true, &inner, || {}));
    assert!(runtime.until_waiting(1, PATIENCE));
    runtime.advance(SECOND);
    runtime.join(thread).unwrap();
}

#[test]
fn a_loop_whose_token_has_ended_does_not_run() {
    let token = CancelToken::new(&Manual::new());
    token.cancel();
    until(SECOND, &token, || panic!("must not run"));
}
