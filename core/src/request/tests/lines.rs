//! Lines of a watch, at its end.

use super::calls::{Event, watched};
use super::scripted::Chunk;

#[test]
fn a_last_line_is_cut_off_or_told() {
    let event = "{\"type\":\"ADDED\",\"object\":1}\n";
    for (rest, is_told) in [("{\"type\":\"ADD", false), ("  ", false), ("nonsense", true)] {
        let chunks = vec![Chunk::Bytes(format!("{event}{rest}").into_bytes())];
        let events = watched(chunks, 1000);
        assert_eq!(events[0], Event::Added(1.into()));
        assert_eq!(events[1..].len(), usize::from(is_told), "{rest}: {events:?}");
        assert!(events[1..].iter().all(|event| matches!(event, Event::Error(_))));
    }
}
