//! The recorded traces of the reference.

use crate::conformance::every_trace_replays;
use crate::limiter::conformance::conformance;

fn every_recorded_trace_replays() {
    every_trace_replays(&conformance());
}

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

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    every_recorded_trace_replays,
    the_longest_delay_is_compared_exactly,
    every_kind_of_limiter_is_made,
    what_is_no_trace_of_a_limiter_is_an_error
];
