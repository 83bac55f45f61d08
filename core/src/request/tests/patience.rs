//! Silent servers: no call waits for them longer than its client's limit.

use std::time::Duration;

use super::scripted::{Act, Bed, Chunk, answers, later};
use crate::cancel::Reason;
use crate::cancel::until::unless_ended;
use crate::request::{Limits, Request, RequestError, TransportError, TransportKind, Verb};
use crate::runtime::Ambient as _;

const IDLE: Duration = Duration::from_secs(20);

fn bed(acts: impl IntoIterator<Item = Act>) -> Bed {
    let mut bed = Bed::new(acts);
    bed.client = bed.client.with_limits(Limits { idle: IDLE, ..Limits::default() });
    bed
}

fn late(error: RequestError) -> TransportError {
    match error {
        RequestError::Transport { last, .. } | RequestError::Incomplete(last) => last,
        other => panic!("{other:?}"),
    }
}

fn get(bed: &Bed) -> Request {
    bed.request(Verb::Get).max_retries(1)
}

fn seconds(bed: &Bed) -> u64 {
    bed.clock.now().as_nanos() / 1_000_000_000
}

#[test]
fn an_answer_that_never_begins_is_a_timeout() {
    for stream in [false, true] {
        let bed = bed([Act::Hangs]);
        let error = if stream {
            bed.run(bed.client.stream(&get(&bed), &bed.token)).unwrap_err()
        } else {
            bed.run(bed.client.send(&get(&bed), &bed.token)).unwrap_err()
        };
        let error = late(error);
        assert_eq!(error.kind(), TransportKind::Timeout);
        assert_eq!(error.to_string(), "the server says nothing for 20s");
        assert_eq!(seconds(&bed), 20, "it is not tried again");
    }
}

#[test]
fn a_watch_that_never_begins_is_tried_again_and_has_ended() {
    let bed = bed([Act::Hangs, Act::Hangs]);
    let watch = bed.run(bed.client.watch(&get(&bed), &bed.token)).unwrap();
    assert!(watch.is_ended());
    assert_eq!(bed.times(), [0, 21_000]);
    assert_eq!(seconds(&bed), 41);
}

#[test]
fn a_body_that_falls_silent_is_no_answer() {
    let half = || vec![Chunk::Bytes(b"[".to_vec()), Chunk::Hangs];
    for status in [200, 404] {
        let bed = bed([Act::Answers(status, vec![], half())]);
        let error = bed.run(bed.client.send(&get(&bed), &bed.token)).unwrap_err();
        assert!(matches!(error, RequestError::Incomplete(_)), "{error:?}");
        assert_eq!(late(error).kind(), TransportKind::Timeout);
        assert_eq!(seconds(&bed), 20);
        assert_eq!(*bed.script.open.lock(), 0, "its connection is closed");
    }
    // For a refused watch the status is enough.
    let bed = bed([Act::Answers(404, vec![], half())]);
    let error = bed.run(bed.client.watch(&get(&bed), &bed.token)).unwrap_err();
    assert_eq!(error.status().unwrap().code, 404);
}

#[test]
fn a_stream_that_falls_silent_has_failed() {
    let bed = bed([Act::Answers(200, vec![], vec![Chunk::Hangs])]);
    let mut body = bed.run(bed.client.stream(&get(&bed), &bed.token)).unwrap().body;
    let failed = bed.run(body.next()).unwrap().unwrap_err();
    assert_eq!(failed.kind(), TransportKind::Timeout);
    assert_eq!(seconds(&bed), 20);
    assert_eq!(*bed.script.open.lock(), 0);
}

#[test]
fn a_caller_who_looks_again_and_again_finds_out_as_well() {
    let silent = (0..10).map(|_| Chunk::Hangs).collect();
    let bed = bed([Act::Answers(200, vec![], silent)]);
    let mut watch = bed.run(bed.client.watch(&get(&bed), &bed.token)).unwrap();
    for _ in 0..3 {
        let soon = bed.token.child_with_deadline(bed.clock.now() + IDLE / 4);
        assert!(bed.run(unless_ended(&soon, watch.next::<u32>())).is_err(), "it is given up");
    }
    assert!(bed.run(watch.next::<u32>()).is_none());
    assert!(watch.is_ended());
    assert_eq!(seconds(&bed), 20);
}

#[test]
fn the_calls_own_end_comes_first() {
    let bed = bed([Act::Hangs]);
    let request = get(&bed).timeout(Duration::from_secs(5));
    let error = bed.run(bed.client.send(&request, &bed.token)).unwrap_err();
    assert!(matches!(error, RequestError::Ended(Reason::DeadlineExceeded)), "{error:?}");
    assert_eq!(seconds(&bed), 5);
}

#[test]
fn patience_begins_anew_with_every_piece() {
    let bed = bed([]);
    let mut pieces = vec![Chunk::Bytes(b"{}".to_vec())];
    pieces.extend((1..=5).map(|count| bed.late(count * IDLE / 2)));
    bed.then(Act::Answers(200, vec![], pieces));
    bed.run(bed.client.send(&get(&bed), &bed.token)).unwrap();
    assert_eq!(seconds(&bed), 50);
}

#[test]
fn a_pause_beyond_all_patience_is_none() {
    for asked in ["601", "9223372036854775807"] {
        let refused = || later(503, asked);
        let bed = bed([refused(), refused(), refused()]);
        let request = get(&bed).max_retries(10);
        let calls = [
            bed.run(bed.client.send(&request, &bed.token)).unwrap_err(),
            bed.run(bed.client.stream(&request, &bed.token)).unwrap_err(),
            bed.run(bed.client.watch(&request, &bed.token)).unwrap_err(),
        ];
        let words = format!("; it asks for a pause of {asked}s, the client waits 600s");
        for error in calls {
            assert!(error.to_string().ends_with(&words), "{error}");
        }
        assert_eq!(bed.times(), [0, 0, 0]);
    }
    let bed = bed([later(503, "600"), answers(200, "{}")]);
    bed.run(bed.client.send(&get(&bed), &bed.token)).unwrap();
    assert_eq!(bed.times(), [0, 600_000]);
}
