//! The recorded traces of the reference.

use crate::fifo::conformance::conformance;

/// A `pop` that skips the only place of the first list and hands out an object that was added
/// later.
const DEPARTURE: &str = r#"{"id":"departure","steps":[
    {"op":"replace","args":{"objs":[{"k":"a","v":1}]}},
    {"op":"delete","args":{"obj":{"k":"a","v":2}}},
    {"op":"add","args":{"obj":{"k":"b","v":3}}},
    {"op":"pop","out":{"obj":{"k":"b","v":3},"initial":true,"err":null}},
    {"op":"has_synced","out":true}]}"#;

fn outcome_of(trace: &str) -> (u64, Option<u64>) {
    let line = trace.replace('\n', " ");
    let outcome = conformance().replay_lines([line.as_str()]);
    (outcome.replayed, outcome.faithful)
}

fn a_departure_is_predicted_and_what_follows_it_still_compared() {
    assert_eq!(outcome_of(DEPARTURE), (1, Some(1)));
    let better = DEPARTURE.replace(r#""initial":true"#, r#""initial":false"#);
    assert_eq!(outcome_of(&better), (0, Some(0)), "the reference cannot have given that");
    let later = DEPARTURE.replace(r#""out":true"#, r#""out":false"#);
    assert_eq!(outcome_of(&later), (0, Some(0)), "behind the departure");
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![a_departure_is_predicted_and_what_follows_it_still_compared];
