//! The traces that this crate carries, compressed.

use std::io::Read as _;

use flate2::read::GzDecoder;

/// Where the traces come from.
pub const PROVENANCE: &str = include_str!("../../conformance/PROVENANCE.md");

macro_rules! carried {
    ($($name:literal),+ $(,)?) => {
        /// Every file that is carried: the component's name in the traces, and the bytes.
        const FILES: &[(&str, &[u8])] = &[
            $(($name, include_bytes!(concat!("../../conformance/", $name, ".jsonl.gz")))),+
        ];
    };
}

carried! {
    "backoff", "delaying_queue", "delta_fifo", "expiration_cache", "fifo", "heap", "indexer",
    "informer_core", "leader_election", "leader_election_config", "priority_queue",
    "rate_limiters", "rate_limiting_queue", "real_fifo", "request_url", "token_bucket",
    "workqueue",
}

/// Goes through the names that traces are carried under.
pub fn carried_names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// Returns the traces of a component, one a line; `None` if none are carried under that name.
pub fn carried(name: &str) -> Option<String> {
    let (_, bytes) = FILES.iter().find(|(known, _)| *known == name)?;
    let mut text = String::new();
    GzDecoder::new(*bytes).read_to_string(&mut text).expect("the carried traces are whole");
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_whole_and_has_all_its_traces() {
        for (name, _) in FILES {
            let lines = carried(name).unwrap().lines().count();
            let expected = if *name == "leader_election_config" { 60 } else { 400 };
            assert_eq!(lines, expected, "{name}");
        }
        assert_eq!(FILES.len(), 17);
    }
}
