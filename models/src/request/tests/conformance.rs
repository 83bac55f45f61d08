//! The recorded traces of the reference.

use crate::conformance::{carried, every_trace_replays};
use crate::request::conformance;

fn every_recorded_trace_replays() {
    every_trace_replays(&conformance());
}

fn a_changed_answer_is_noticed() {
    let traces = carried("request_url").unwrap();
    for line in traces.lines().take(20) {
        let changed = line.replacen(r#""url":"http"#, r#""url":"HTTP"#, 1);
        let changed = changed.replacen(r#""err":""#, r#""err":"x"#, 1);
        assert_eq!(conformance().replay_lines([changed.as_str()]).failures.len(), 1, "{changed}");
    }
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![every_recorded_trace_replays, a_changed_answer_is_noticed];
