//! Observers that panic, and answers that do not end.

use std::sync::Arc;
use std::time::Duration;

use super::scripted::{Act, Bed, Chunk, answers, later};
use crate::request::{Observer, RequestError, Retry, TransportKind, Verb, Warning};
use crate::runtime::Ambient;

#[test]
fn an_observer_that_panics_ends_no_call() {
    struct Broken;
    impl Observer for Broken {
        fn attempted(&self, _: &Verb, _: &str, _: u32, _: Result<u16, TransportKind>) {
            panic!("a bug of the observer");
        }
        fn retries(&self, _: &Verb, _: &str, _: &Retry) {
            panic!("a bug of the observer");
        }
        fn throttled(&self, _: &Verb, _: &str, _: Duration) {
            panic!("a bug of the observer");
        }
        fn began(&self, _: &Verb, _: &str) {
            panic!("a bug of the observer");
        }
        fn finished(&self, _: &Verb, _: &str, _: Duration, _: bool) {
            panic!("a bug of the observer");
        }
        fn warned(&self, _: &Warning) {
            panic!("a bug of the observer");
        }
    }
    let warned = vec![("Warning", "299 - \"old\"")];
    let mut bed = Bed::new([later(429, "1"), Act::Answers(200, warned, vec![])]);
    bed.client = bed.client.with_observer(Arc::new(Broken));
    bed.run(bed.client.send(&bed.request(Verb::Get), &bed.token)).unwrap();
}

#[test]
fn an_answer_that_does_not_end_delays_no_other_attempt() {
    let held = Act::Answers(429, vec![("Retry-After", "2")], vec![Chunk::Hangs]);
    let bed = Bed::new([held, answers(200, "{}")]);
    bed.run(bed.client.send(&bed.request(Verb::Get), &bed.token)).unwrap();
    assert_eq!(bed.times(), [0, 3000], "one second for the rest of the answer");
}

#[test]
fn a_refusal_of_a_watch_that_does_not_end_is_told_without_its_body() {
    let bed = Bed::new([Act::Answers(410, vec![], vec![Chunk::Hangs])]);
    let error = bed.run(bed.client.watch(&bed.request(Verb::Get), &bed.token)).unwrap_err();
    assert_eq!(error.status().unwrap().code, 410);
    assert_eq!(bed.clock.now().as_nanos(), 300_000_000_000);
    assert_eq!(*bed.script.open.lock(), 0);
}

#[test]
fn what_was_not_processed_is_sent_again_for_any_verb_and_less_and_less_often() {
    for verb in [Verb::Get, Verb::Post, Verb::Put, Verb::Patch, Verb::Delete] {
        let refuses = (0..5).map(|_| Act::Fails(TransportKind::Unprocessed, "it goes away"));
        let bed = Bed::new(refuses.chain([answers(200, "{}")]));
        bed.run(bed.client.send(&bed.request(verb), &bed.token)).unwrap();
        assert_eq!(bed.times(), [0, 0, 1000, 3000, 7000, 15000]);
    }
    let bed = Bed::new((0..3).map(|_| Act::Fails(TransportKind::Unprocessed, "it goes away")));
    let request = bed.request(Verb::Post).max_retries(2);
    let error = bed.run(bed.client.send(&request, &bed.token)).unwrap_err();
    assert!(matches!(error, RequestError::Transport { .. }), "{error:?}");
    assert_eq!(bed.times().len(), 3);
    let stream =
        Bed::new([Act::Fails(TransportKind::Unprocessed, "it goes away"), answers(200, "")]);
    stream.run(stream.client.stream(&stream.request(Verb::Get), &stream.token)).unwrap();
}
