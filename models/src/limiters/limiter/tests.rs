//! Random calls, recorded traces, and limiters with a mistake, which random calls must notice.

use std::time::Duration;

use ::proptest::collection::vec;
use ::proptest::prelude::*;
use seatrial_core::limiter::{Item, Limiter};
use seatrial_core::runtime::Instant;

use super::conformance::conformance;
use super::op::{check, check_on};
use crate::regressions::tried;
use crate::single_step::doubt::notices;

fn trace(limiter: &str, steps: &str) -> String {
    format!(r#"{{"id":"1","config":{{"limiter":{limiter}}},"steps":[{steps}]}}"#).replace('\n', " ")
}

const WHEN_TWICE: &str = r#"{"op":"when","args":{"item":"a"},"out":0},
    {"op":"when","args":{"item":"a"},"out":9223372036854775807},
    {"op":"num_requeues","args":{"item":"a"},"out":0},
    {"op":"forget","args":{"item":"a"},"out":null},
    {"op":"advance","args":{"ms":1},"out":null}"#;

fn the_longest_delay_is_compared_exactly() {
    let bucket = r#"{"kind":"bucket","qps":0,"burst":1}"#;
    let changed = WHEN_TWICE.replace("775807", "775806");
    let lines = [trace(bucket, WHEN_TWICE), trace(bucket, &changed)];
    let outcome = conformance().replay_lines(lines.iter().map(String::as_str));
    assert_eq!((outcome.replayed, outcome.failures.len()), (1, 1));
}

fn every_kind_of_limiter_is_made() {
    let exponential = r#"{"kind":"exponential","base_ns":1,"max_ns":9223372036854775807}"#;
    let parts = format!(r#"{{"kind":"max_of","limiters":[{exponential},{exponential}]}}"#);
    let cut = format!(r#"{{"kind":"with_max_wait","limiter":{exponential},"max_ns":1}}"#);
    let first = [
        (exponential, 1),
        (&parts, 1),
        (&cut, 1),
        (r#"{"kind":"fast_slow","fast_ns":3,"slow_ns":4,"max_fast_attempts":1}"#, 3),
        (r#"{"kind":"default_controller"}"#, 5_000_000),
        (r#"{"kind":"default_item_based"}"#, 1_000_000),
    ];
    for (limiter, delay) in first {
        let steps = format!(r#"{{"op":"when","args":{{"item":"a"}},"out":{delay}}}"#);
        let outcome = conformance().replay_lines([trace(limiter, &steps).as_str()]);
        assert_eq!((outcome.failures, outcome.replayed), (vec![], 1), "{limiter}");
    }
}

fn what_is_no_trace_of_a_limiter_is_an_error() {
    let bucket = r#"{"kind":"bucket","qps":1,"burst":1}"#;
    let lines = [
        trace(r#"{"kind":"coin"}"#, ""),
        trace(r#"{"kind":"max_of"}"#, ""),
        trace(r#"{"kind":"bucket","qps":"1","burst":1}"#, ""),
        trace(bucket, r#"{"op":"jump","args":{"item":"a"},"out":null}"#),
        trace(bucket, r#"{"op":"when","out":0}"#),
    ];
    let outcome = conformance().replay_lines(lines.iter().map(String::as_str));
    assert_eq!(outcome.failures.len(), lines.len());
}

/// A limiter whose answers are changed, or that does not forget.
struct Mistaken {
    inner: Box<dyn Limiter<u8>>,
    answer: fn(Duration) -> Duration,
    forgets: bool,
    counts: u32,
}

impl Limiter<u8> for Mistaken {
    fn when(&mut self, item: Item<'_, u8>, now: Instant) -> Duration {
        (self.answer)(self.inner.when(item, now))
    }

    fn forget(&mut self, item: Item<'_, u8>, left: &mut Vec<u8>) {
        if self.forgets {
            self.inner.forget(item, left);
        }
    }

    fn num_requeues(&self, item: Item<'_, u8>) -> u32 {
        self.inner.num_requeues(item) + self.counts
    }

    fn reads_time(&self) -> bool {
        self.inner.reads_time()
    }
}

fn convicts(answer: fn(Duration) -> Duration, forgets: bool, counts: u32) -> bool {
    notices(|bytes| {
        check_on(bytes, |inner| Box::new(Mistaken { inner, answer, forgets, counts }));
    })
}

fn mistakes_are_noticed_and_their_absence_too() {
    assert!(!convicts(|delay| delay, true, 0));
    assert!(convicts(|delay| delay, false, 0), "a limiter that never forgets");
    assert!(convicts(|delay| delay, true, 1), "a count that is off by one");
    let wraps = |delay: Duration| if delay.as_nanos() > 1 << 62 { Duration::ZERO } else { delay };
    assert!(convicts(wraps, true, 0), "W8: a delay that wraps to nothing");
}

proptest! {
    #![proptest_config(tried!("limiter", cases: 1024))]

    fn a_limiter_agrees_with_the_plain_one(bytes in vec(any::<u8>(), 0..240)) {
        check(&bytes);
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    the_longest_delay_is_compared_exactly,
    every_kind_of_limiter_is_made,
    what_is_no_trace_of_a_limiter_is_an_error,
    mistakes_are_noticed_and_their_absence_too,
    a_limiter_agrees_with_the_plain_one
];
