//! Lines of a watch, at its end.

use super::calls::{Event, watched};
use super::scripted::Chunk;
#[cfg(feature = "http")]
use crate::request::frames::Frames;

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

#[cfg(feature = "http")]
#[test]
fn a_long_line_leaves_no_memory_behind() {
    const LONG: usize = 1024 * 1024;
    let mut frames = Frames::new(LONG);
    frames.push(&[b'1'; LONG]);
    frames.push(b"\n");
    assert_eq!(frames.take().unwrap().map(<[u8]>::len), Some(LONG));
    assert_eq!(frames.take(), Ok(None));
    assert!(frames.held() >= LONG);
    frames.push(b"2\n");
    assert!(frames.held() <= 64 * 1024, "{} bytes", frames.held());
    assert_eq!(frames.take(), Ok(Some(&b"2"[..])));
}
