//! The recorded traces that this crate carries.

pub(crate) mod carried;

pub use carried::{PROVENANCE, TRACES, carried};
pub use seatrial::conformance::*;

/// Replays what is recorded of a component.
///
/// # Panics
/// If a trace does not replay, or departs from the reference.
pub(crate) fn every_trace_replays(conformance: &Conformance) {
    let traces = conformance.recorded().expect("its traces are carried");
    let outcome = conformance.replay_lines(traces.lines());
    assert_eq!(outcome.failures, []);
    assert_eq!((outcome.traces, outcome.replayed), (400, 400));
    assert!(outcome.departures.is_empty());
}
