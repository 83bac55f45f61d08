//! Random calls and recorded traces.

use ::proptest::collection::vec;
use ::proptest::prelude::*;

use super::op::{Op, check, decode};
use crate::regressions::tried;
use crate::token_bucket::conformance;

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

proptest! {
    #![proptest_config(tried!("token_bucket", cases: 2048))]

    fn the_bucket_agrees_with_the_one_in_whole_numbers(bytes in vec(any::<u8>(), 0..240)) {
        check(&bytes);
    }
}

/// The fuzzer found this: each cancel of tokens that were reserved at another rate halves the unit
/// of time in use, and the next reservation halves it again.
fn cancels_at_another_rate_are_compared_as_long_as_nanoseconds_tell() {
    let bytes: &[u8] = &[
        0xff, 0x9b, 0x3a, 0xff, 0x02, 0xc9, 0xc9, 0xc9, 0xc9, 0xc9, 0x28, 0x7c, 0x98, 0x85, 0xc9,
        0xc9, 0xde, 0xde, 0xc9, 0x7c, 0x7c, 0x98, 0x98, 0x1d, 0x1d, 0x1d, 0x28, 0x28, 0x7c, 0x1d,
        0x28, 0x7c, 0x7c, 0x98, 0x98, 0x01, 0x7c, 0x1d, 0x7c, 0x1d,
    ];
    let (_, ops) = decode(bytes);
    assert!(ops.iter().filter(|op| matches!(op, Op::Cancel(_))).count() > 3);
    check(bytes);
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    a_trace_of_every_call_replays,
    a_changed_result_is_noticed,
    the_bucket_agrees_with_the_one_in_whole_numbers,
    cancels_at_another_rate_are_compared_as_long_as_nanoseconds_tell
];
