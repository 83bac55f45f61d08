//! The recorded traces of the reference.

use crate::conformance::carried;
use crate::expiring_store::conformance::conformance;

#[test]
fn every_recorded_trace_replays() {
    let traces = carried("expiration_cache").unwrap();
    let outcome = conformance().replay_lines(traces.lines());
    assert_eq!(outcome.failures.first(), None);
    assert_eq!((outcome.traces, outcome.replayed), (400, 400));
    assert!(outcome.departures.is_empty());
}
