//! The recorded traces of the reference.

use crate::conformance::every_trace_replays;
use crate::token_bucket::conformance;

fn every_recorded_trace_replays_without_a_departure() {
    // No trace departs, though a second cancel is computed anew (TB-28).
    every_trace_replays(&conformance());
}

const CLIENT: &str = r#"{"kind":"flowcontrol","qps_f32":3.3,"burst":1}"#;
const LIMITER: &str = r#"{"kind":"limiter","qps":10,"burst":2}"#;

fn trace(config: &str, steps: &str) -> String {
    format!(r#"{{"id":"1","config":{config},"steps":[{steps}]}}"#).replace('\n', " ")
}

fn a_trace_of_every_call_replays() {
    let lines = [
        trace(
            CLIENT,
            r#"{"op":"accept","out":{"slept_ns":0}}, {"op":"try_accept","out":false},
            {"op":"accept","out":{"slept_ns":303030307}}, {"op":"qps","out":3.3},
            {"op":"advance","args":{"ms":400},"out":null}, {"op":"try_accept","out":true}"#,
        ),
        trace(
            LIMITER,
            r#"{"op":"allow_n","args":{"n":2},"out":true},
            {"op":"reserve_n","args":{"n":1,"id":0},"out":{"ok":true,"delay_ns":100000000}},
            {"op":"reserve_n","args":{"n":3},"out":{"ok":false}},
            {"op":"tokens","out":-1}, {"op":"cancel","args":{"id":0},"out":{"tokens":0}},
            {"op":"set_limit","args":{"qps":2.5},"out":null},
            {"op":"advance","args":{"ms":100},"out":null}, {"op":"tokens","out":0.25},
            {"op":"set_burst","args":{"burst":1},"out":null}"#,
        ),
    ];
    let outcome = conformance().replay_lines(lines.iter().map(String::as_str));
    assert_eq!((outcome.failures, outcome.replayed), (vec![], 2));
}

fn a_changed_result_is_noticed() {
    let lines = [
        trace(CLIENT, r#"{"op":"accept","out":{"slept_ns":1}}"#),
        trace(CLIENT, r#"{"op":"try_accept","out":false}"#),
        trace(CLIENT, r#"{"op":"qps","out":3.4}"#),
        trace(CLIENT, r#"{"op":"tokens","out":1}"#),
        trace(LIMITER, r#"{"op":"tokens","out":1.9999999}"#),
        trace(LIMITER, r#"{"op":"allow_n","args":{"n":3},"out":true}"#),
        trace(LIMITER, r#"{"op":"cancel","args":{"id":0},"out":{"tokens":2}}"#),
        trace(LIMITER, r#"{"op":"jump","out":null}"#),
        trace(r#"{"kind":"none"}"#, ""),
    ];
    let outcome = conformance().replay_lines(lines.iter().map(String::as_str));
    assert_eq!(outcome.failures.len(), lines.len());
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    every_recorded_trace_replays_without_a_departure,
    a_trace_of_every_call_replays,
    a_changed_result_is_noticed
];
