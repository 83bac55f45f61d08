//! The recorded traces of the reference.

use super::conformance;
use crate::conformance::carried;

#[test]
fn every_recorded_trace_replays() {
    let traces = carried("informer_core").unwrap();
    let outcome = conformance().replay_lines(traces.lines());
    assert_eq!(outcome.failures.first(), None);
    assert_eq!((outcome.traces, outcome.replayed), (400, 400));
    assert!(outcome.departures.is_empty());
}
