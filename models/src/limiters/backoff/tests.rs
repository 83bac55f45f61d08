//! Random calls and recorded traces.

use ::proptest::collection::vec;
use ::proptest::prelude::*;

use crate::backoff::{check, conformance};
use crate::regressions::tried;

fn trace(steps: &str) -> String {
    let config = r#"{"initial_ms":1,"max_ms":3,"jitter":0}"#;
    format!(r#"{{"id":"1","config":{config},"steps":[{steps}]}}"#).replace('\n', " ")
}

fn a_trace_of_every_call_replays() {
    let line = trace(
        r#"{"op":"next","args":{"id":"a","event_ms":0},"out":{"backoff_ns":1000000}},
        {"op":"next","args":{"id":"a","event_ms":-9},"out":{"backoff_ns":2000000}},
        {"op":"get","args":{"id":"a"},"out":2000000},
        {"op":"is_in_backoff_since","args":{"id":"a","event_ms":-1},"out":true},
        {"op":"is_in_backoff_since","args":{"id":"a","event_ms":-2},"out":false},
        {"op":"is_in_backoff_since_update","args":{"id":"a","event_ms":-2},"out":true},
        {"op":"advance","args":{"ms":6},"out":null},
        {"op":"next","args":{"id":"b","event_ms":0},"out":{"backoff_ns":1000000}},
        {"op":"gc","out":{"backoff_ns":{"a":2000000,"b":1000000}}},
        {"op":"advance","args":{"ms":1},"out":null},
        {"op":"gc","out":{"backoff_ns":{"a":0,"b":1000000}}},
        {"op":"delete_entry","args":{"id":"b"},"out":null},
        {"op":"reset","args":{"id":"a"},"out":null},
        {"op":"get","args":{"id":"b"},"out":0}"#,
    );
    let outcome = conformance().replay_lines([line.as_str()]);
    assert_eq!((outcome.failures, outcome.replayed), (vec![], 1));
}

fn a_changed_result_is_noticed() {
    let lines = [
        r#"{"op":"next","args":{"id":"a","event_ms":0},"out":{"backoff_ns":1000001}}"#,
        r#"{"op":"get","args":{"id":"a"},"out":1}"#,
        r#"{"op":"is_in_backoff_since","args":{"id":"a","event_ms":0},"out":true}"#,
        r#"{"op":"gc","out":{"backoff_ns":{"a":1}}}"#,
        r#"{"op":"jump","args":{"id":"a"},"out":null}"#,
    ];
    let lines = lines.map(trace);
    let outcome = conformance().replay_lines(lines.iter().map(String::as_str));
    assert_eq!(outcome.failures.len(), lines.len());
}

proptest! {
    #![proptest_config(tried!("backoff", cases: 2048))]

    fn the_table_agrees_with_the_plain_one(bytes in vec(any::<u8>(), 0..240)) {
        check(&bytes);
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    a_trace_of_every_call_replays,
    a_changed_result_is_noticed,
    the_table_agrees_with_the_plain_one
];
