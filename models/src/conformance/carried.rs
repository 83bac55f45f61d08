//! The traces that this crate carries, compressed.

use super::Traces;

/// The origin of the traces.
pub const PROVENANCE: &str = include_str!("../../conformance/PROVENANCE.md");

macro_rules! carried {
    ($($name:literal),+ $(,)?) => {
        /// Every file that is carried: the component's name in the traces, and the bytes.
        pub const TRACES: Traces = Traces(&[
            $(($name, include_bytes!(concat!("../../conformance/", $name, ".jsonl.gz")))),+
        ]);
    };
}

carried! {
    "backoff", "delaying_queue", "delta_fifo", "expiration_cache", "fifo", "heap", "indexer",
    "informer_core", "leader_election", "leader_election_config", "priority_queue",
    "rate_limiters", "rate_limiting_queue", "real_fifo", "request_url", "token_bucket",
    "workqueue",
}

/// Returns the traces of a component, one on each line; `None` if no traces of that name are
/// carried.
pub fn carried(name: &str) -> Option<String> {
    TRACES.text(name)
}

pub(crate) mod tests {
    use seatrial::tests;
    use seatrial::tests::Tests;

    use super::*;

    fn every_file_is_whole_and_has_all_its_traces() {
        for name in TRACES.names() {
            let lines = carried(name).unwrap().lines().count();
            let expected = if name == "leader_election_config" { 60 } else { 400 };
            assert_eq!(lines, expected, "{name}");
        }
        assert_eq!(TRACES.names().count(), 17);
    }

    pub(crate) const TESTS: Tests = tests![every_file_is_whole_and_has_all_its_traces];
}
