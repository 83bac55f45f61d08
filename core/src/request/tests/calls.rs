//! Calls: their number, their times, and their results.

use std::sync::Arc;
use std::time::Duration;

use super::scripted::{Act, Bed, Chunk, answers, later};
use crate::cancel::Reason as End;
use crate::limiter::{FlowLimiter, NeverAccept, TokenBucketFlow};
use crate::request::{HostBackoff, Limits, Reason, RequestError, TransportKind, Verb, WatchEvent};
use crate::runtime::Ambient;

const MODES: [TransportKind; 5] = [
    TransportKind::Refused,
    TransportKind::Reset,
    TransportKind::Eof,
    TransportKind::ConnectionLost,
    TransportKind::Timeout,
];

#[test]
fn an_object_comes_back() {
    let bed = Bed::new([answers(201, r#"{"a":1}"#)]);
    let request = bed.request(Verb::Post).body_json(&[1, 2]);
    let reply = bed.run(bed.client.send(&request, &bed.token)).unwrap();
    assert!(reply.was_created());
    assert_eq!(reply.json::<serde_json::Value>().unwrap()["a"], 1);
    let seen = bed.script.seen.lock();
    assert_eq!(seen[0].target, "/api/v1/pods");
    assert_eq!(seen[0].headers.get("content-type"), Some("application/json"));
    assert_eq!(seen[0].headers.get("Accept"), Some("application/json, */*"));
    assert_eq!(seen[0].body.as_deref(), Some(&b"[1,2]"[..]));
}

#[test]
fn a_busy_server_is_asked_again_when_it_says_so() {
    for verb in [Verb::Get, Verb::Post, Verb::Delete] {
        let bed =
            Bed::new([later(429, "2"), later(503, "1"), later(500, "-4"), answers(200, "{}")]);
        let request = bed.request(verb).body(*b"same");
        bed.run(bed.client.send(&request, &bed.token)).unwrap();
        assert_eq!(bed.times(), [0, 2000, 3000, 3000]);
        let seen = bed.script.seen.lock();
        assert!(seen.iter().all(|it| it.headers == seen[0].headers && it.body == seen[0].body));
        assert_eq!(*bed.script.open.lock(), 0, "every answer was closed");
    }
}

#[test]
fn other_answers_are_final() {
    let date = later(429, "Fri, 31 Dec 1999 23:59:59 GMT");
    for (act, code) in [(later(404, "1"), 404), (date, 429), (answers(500, "x"), 500)] {
        let bed = Bed::new([act]);
        let error = bed.run(bed.client.send(&bed.request(Verb::Get), &bed.token)).unwrap_err();
        assert_eq!(error.status().unwrap().code, code);
    }
}

#[test]
fn attempts_end_at_the_limit_and_the_last_answer_counts() {
    let bed = Bed::new((0..3).map(|_| later(429, "1")));
    let request = bed.request(Verb::Get).max_retries(2);
    let error = bed.run(bed.client.send(&request, &bed.token)).unwrap_err();
    let status = error.status().unwrap();
    assert_eq!(
        (status.reason.clone(), status.details.retry_after_seconds),
        (Reason::TooManyRequests, 1)
    );
    assert_eq!(bed.times(), [0, 1000, 2000]);
}

#[test]
fn only_reads_are_repeated_after_a_broken_connection() {
    use TransportKind::{ConnectionLost, Eof, Reset};
    for kind in MODES {
        let repeats = matches!(kind, Reset | Eof | ConnectionLost);
        let bed = Bed::new([Act::Fails(kind, "broken"), answers(200, "{}")]);
        let got = bed.run(bed.client.send(&bed.request(Verb::Get), &bed.token));
        assert_eq!(got.is_ok(), repeats, "{kind:?}");
        let bed = Bed::new([Act::Fails(kind, "broken")]);
        let got = bed.run(bed.client.send(&bed.request(Verb::Put), &bed.token));
        assert_eq!(got.unwrap_err().to_string(), "broken");
    }
}

#[test]
fn an_earlier_failure_is_told_beside_the_last() {
    let reset = || Act::Fails(TransportKind::Reset, "first");
    let bed = Bed::new([reset(), Act::Fails(TransportKind::Refused, "second")]);
    let error = bed.run(bed.client.send(&bed.request(Verb::Get), &bed.token)).unwrap_err();
    assert_eq!(error.to_string(), "second (an earlier attempt: first)");
    let bed = Bed::new([reset(), reset()]);
    let request = bed.request(Verb::Get).max_retries(1);
    let error = bed.run(bed.client.send(&request, &bed.token)).unwrap_err();
    assert_eq!(error.to_string(), "first");
}

#[test]
fn a_timeout_bounds_attempts_and_sleeps_together() {
    let bed = Bed::new([later(503, "3"), Act::Hangs]);
    let request = bed.request(Verb::Get).timeout(Duration::from_secs(5));
    let error = bed.run(bed.client.send(&request, &bed.token)).unwrap_err();
    assert!(matches!(error, RequestError::Ended(End::DeadlineExceeded)), "{error:?}");
    assert_eq!(bed.clock.now().as_nanos(), 5_000_000_000);
    assert_eq!(bed.script.seen.lock()[0].target, "/api/v1/pods?timeout=5s");
}

#[test]
fn a_cancelled_call_ends_wherever_it_is() {
    let hanging_body = Act::Answers(200, vec![], vec![Chunk::Hangs]);
    for act in [Act::Hangs, hanging_body, later(503, "60")] {
        let bed = Bed::new([act]);
        let (token, clock) = (bed.token.clone(), bed.clock.clone());
        let request = bed.request(Verb::Get);
        let call = async {
            let call = bed.client.send(&request, &bed.token);
            let mut call = std::pin::pin!(call);
            std::future::poll_fn(|context| {
                let polled = call.as_mut().poll(context);
                if clock.now().as_nanos() >= 1_000_000_000 {
                    token.cancel();
                }
                polled
            })
            .await
        };
        let error = bed.run(call).unwrap_err();
        assert!(matches!(error, RequestError::Ended(End::Cancelled)), "{error:?}");
        assert!(bed.clock.now().as_nanos() <= 1_100_000_000, "within one step");
        assert_eq!(*bed.script.open.lock(), 0);
    }
}

#[test]
fn nothing_is_sent_for_a_token_that_has_ended() {
    let bed = Bed::new([]);
    bed.token.cancel();
    for call in 0..3 {
        let request = bed.request(Verb::Get);
        let error = match call {
            0 => bed.run(bed.client.send(&request, &bed.token)).unwrap_err(),
            1 => bed.run(bed.client.stream(&request, &bed.token)).unwrap_err(),
            _ => bed.run(bed.client.watch(&request, &bed.token)).unwrap_err(),
        };
        assert!(matches!(error, RequestError::Ended(End::Cancelled)));
    }
}

#[test]
fn a_request_with_a_mistake_is_not_sent() {
    let bed = Bed::new([]);
    let request = bed.request(Verb::Get).name("a/b");
    assert!(matches!(bed.run(bed.client.send(&request, &bed.token)), Err(RequestError::Build(_))));
}

#[test]
fn the_limiter_comes_before_the_first_attempt_of_all_but_watches() {
    let bed = Bed::new([answers(200, ""), answers(200, "{}")]);
    let never: Arc<dyn FlowLimiter<_>> = Arc::new(NeverAccept::new(&bed.clock));
    let Bed { client, .. } = Bed::new([]);
    drop(client);
    let client = crate::request::Client::new(
        &bed.clock,
        crate::request::Base::parse("https://h").unwrap(),
        bed.script.clone(),
    )
    .with_limiter(Some(never));
    let request = bed.request(Verb::Get);
    let refused = bed.run(client.send(&request, &bed.token)).unwrap_err();
    assert!(matches!(refused, RequestError::Throttled(_)));
    assert!(bed.run(client.stream(&request, &bed.token)).is_err());
    assert!(bed.run(client.watch(&request, &bed.token)).is_ok());
}

#[test]
fn a_shared_limiter_spreads_calls() {
    let mut bed = Bed::new((0..4).map(|_| answers(200, "{}")));
    let limiter = Arc::new(TokenBucketFlow::new(&bed.clock, 1.0, 2));
    bed.client = bed.client.with_limiter(Some(limiter));
    for _ in 0..4 {
        bed.run(bed.client.send(&bed.request(Verb::Get), &bed.token)).unwrap();
    }
    assert_eq!(bed.times(), [0, 0, 1000, 2000]);
}

#[test]
fn a_host_that_fails_is_left_alone_for_longer_each_time() {
    let acts = [500, 500, 502, 200, 200].map(|status| answers(status, "{}"));
    let mut bed = Bed::new(acts);
    let backoff = HostBackoff::new(&bed.clock, Duration::from_secs(1), Duration::from_secs(60));
    bed.client = bed.client.with_backoff(Arc::new(backoff));
    for _ in 0..5 {
        drop(bed.run(bed.client.send(&bed.request(Verb::Get), &bed.token)));
    }
    assert_eq!(bed.times(), [0, 1000, 3000, 7000, 7000]);
}

#[test]
fn the_servers_own_words_are_told() {
    let words = r#"{"kind":"Status","status":"Failure","reason":"NotFound","code":404,
        "message":"pods \"a\" not found","details":{"name":"a","kind":"pods","causes":null}}"#;
    let bed = Bed::new([answers(404, words)]);
    let error = bed.run(bed.client.send(&bed.request(Verb::Get), &bed.token)).unwrap_err();
    assert_eq!(error.to_string(), r#"pods "a" not found"#);
    assert!(error.status().unwrap().is(&Reason::NotFound));
}

#[test]
fn an_answer_of_a_proxy_becomes_a_status() {
    let page = Act::Answers(
        409,
        vec![("Content-Type", "text/html")],
        vec![Chunk::Bytes(b" no ".to_vec())],
    );
    let bed = Bed::new([page]);
    let request = bed.request(Verb::Post).namespace("n");
    let error = bed.run(bed.client.send(&request, &bed.token)).unwrap_err();
    let status = error.status().unwrap();
    assert_eq!((&status.reason, status.details.kind.as_str()), (&Reason::AlreadyExists, "pods"));
    assert_eq!(status.details.causes[0].message, "no");
    assert!(status.message.ends_with("(post pods)"), "{status}");
}

#[test]
fn half_an_answer_is_never_read() {
    let half = vec![Chunk::Bytes(b"{}".to_vec()), Chunk::Fails(TransportKind::Reset)];
    let bed = Bed::new([Act::Answers(200, vec![], half)]);
    let got = bed.run(bed.client.send(&bed.request(Verb::Get), &bed.token));
    assert!(matches!(got, Err(RequestError::Incomplete(_))));
}

#[test]
fn an_endless_answer_takes_no_more_memory_than_allowed() {
    let chunks = (0..20).map(|_| Chunk::Bytes(vec![b'x'; 100])).collect();
    let mut bed = Bed::new([Act::Answers(200, vec![], chunks)]);
    bed.client = bed.client.with_limits(Limits { body: 1000, ..Limits::default() });
    let got = bed.run(bed.client.send(&bed.request(Verb::Get), &bed.token));
    assert!(matches!(got, Err(RequestError::TooLarge(1000))));
    assert_eq!(*bed.script.open.lock(), 0);
}

pub(super) type Event = WatchEvent<serde_json::Value>;

pub(super) fn watched(chunks: Vec<Chunk>, limit: usize) -> Vec<Event> {
    let mut bed = Bed::new([Act::Answers(200, vec![], chunks)]);
    bed.client = bed.client.with_limits(Limits { event: limit, ..Limits::default() });
    let request = bed.request(Verb::Get).param("watch", "true");
    let events = bed.run(async {
        let mut watch = bed.client.watch(&request, &bed.token).await.unwrap();
        let mut events = vec![];
        while let Some(event) = watch.next().await {
            events.push(event);
        }
        events
    });
    assert_eq!(*bed.script.open.lock(), 0);
    events
}

#[test]
fn events_come_however_their_bytes_do() {
    let text = "{\"type\":\"ADDED\",\"object\":{\"n\":1}}\n\n{\"object\":{\"n\":2},\"type\":\"DELETED\"}\n\
                {\"type\":\"BOOKMARK\",\"object\":{\"n\":3}}";
    let all = [("n", 1), ("n", 2), ("n", 3)].map(|(key, n)| serde_json::json!({ key: n }));
    let [one, two, three] = all;
    let expected = vec![Event::Added(one), Event::Deleted(two), Event::Bookmark(three)];
    for size in 1..text.len() {
        let chunks = text.as_bytes().chunks(size).map(|bytes| Chunk::Bytes(bytes.to_vec()));
        assert_eq!(watched(chunks.collect(), 1000), expected, "{size}");
    }
}

#[test]
fn an_error_is_the_last_event() {
    let text = b"{\"type\":\"ERROR\",\"object\":{\"code\":410,\"reason\":\"Expired\"}}\n{\"type\":\"ADDED\",\"object\":1}\n";
    let events = watched(vec![Chunk::Bytes(text.to_vec())], 1000);
    let [Event::Error(status)] = events.as_slice() else { panic!("{events:?}") };
    assert!(status.is(&Reason::Expired));
}

#[test]
fn what_has_no_sense_is_told_and_ends_the_watch() {
    let long = "x".repeat(2000);
    let cases =
        ["nonsense", "{\"type\":\"NEW\",\"object\":1}", "{\"object\":1}", "[]", "\u{ff}", &long];
    for text in cases {
        let events =
            watched(vec![Chunk::Bytes(format!("{text}\n").into_bytes()), Chunk::Hangs], 1000);
        let [Event::Error(status)] = events.as_slice() else { panic!("{text}: {events:?}") };
        assert_eq!(status.details.causes[1].reason, "ClientWatchDecoding");
    }
}

#[test]
fn a_connection_that_ends_ends_the_watch_quietly() {
    for kind in [TransportKind::Eof, TransportKind::Reset, TransportKind::Timeout] {
        assert_eq!(watched(vec![Chunk::Fails(kind)], 1000), []);
    }
    let [Event::Error(_)] = watched(vec![Chunk::Fails(TransportKind::ConnectionLost)], 1000)[..]
    else {
        panic!("another failure is told")
    };
}

#[test]
fn a_watch_that_cannot_begin_has_ended() {
    for kind in [TransportKind::Eof, TransportKind::Reset, TransportKind::Timeout] {
        let bed = Bed::new((0..2).map(|_| Act::Fails(kind, "cut")));
        let request = bed.request(Verb::Get).max_retries(1);
        let mut watch = bed.run(bed.client.watch(&request, &bed.token)).unwrap();
        assert_eq!(bed.run(watch.next::<serde_json::Value>()), None);
        assert_eq!(bed.times(), [0, 1000]);
    }
    let bed = Bed::new([Act::Fails(TransportKind::Refused, "no")]);
    assert!(bed.run(bed.client.watch(&bed.request(Verb::Get), &bed.token)).is_err());
}

#[test]
fn warnings_are_told() {
    use crate::request::{Observer, Warning};
    #[derive(Default)]
    struct Told(parking_lot::Mutex<Vec<Warning>>);
    impl Observer for Told {
        fn warned(&self, warning: &Warning) {
            self.0.lock().push(warning.clone());
        }
    }
    let headers = vec![
        ("Warning", r#"299 - "a \"b\"" "date", 299 agent "c", nonsense, 299 - "lost""#),
        ("warning", "299 - \"d\""),
        ("Warning", "299 - \"unfinished"),
    ];
    let mut bed = Bed::new([Act::Answers(200, headers, vec![])]);
    let told = Arc::new(Told::default());
    bed.client = bed.client.with_observer(told.clone());
    bed.run(bed.client.send(&bed.request(Verb::Get), &bed.token)).unwrap();
    let texts: Vec<_> = told.0.lock().iter().map(|warning| warning.text.clone()).collect();
    assert_eq!(texts, ["a \"b\"", "c", "d"]);
}

#[test]
fn a_bookmark_need_not_be_an_object_of_the_kind_that_is_watched() {
    #[derive(Debug, serde::Deserialize)]
    struct Whole {
        #[expect(dead_code, reason = "that it is there is all that counts")]
        spec: String,
    }
    let text = b"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"7\"}}}\n";
    let bed = Bed::new([Act::Answers(200, vec![], vec![Chunk::Bytes(text.to_vec())])]);
    let request = bed.request(Verb::Get);
    let mut watch = bed.run(bed.client.watch(&request, &bed.token)).unwrap();
    let event: WatchEvent<Whole> = bed.run(watch.next()).unwrap();
    let WatchEvent::Bookmark(object) = event else { panic!("{event:?}") };
    assert_eq!(object["metadata"]["resourceVersion"], "7");
}

#[test]
fn the_first_sleep_is_inside_the_timeout() {
    let mut bed = Bed::new([answers(500, "{}")]);
    let backoff = HostBackoff::new(&bed.clock, Duration::from_secs(60), Duration::from_secs(60));
    bed.client = bed.client.with_backoff(Arc::new(backoff));
    let request = bed.request(Verb::Get).timeout(Duration::from_secs(5));
    drop(bed.run(bed.client.send(&request, &bed.token)));
    let error = bed.run(bed.client.send(&request, &bed.token)).unwrap_err();
    assert!(matches!(error, RequestError::Ended(End::DeadlineExceeded)), "{error:?}");
    assert_eq!(bed.clock.now().as_nanos(), 5_000_000_000);
}

#[test]
fn nothing_that_is_printed_has_a_body() {
    let bed = Bed::new([answers(200, "secret")]);
    let request = bed.request(Verb::Post).body(*b"secret").header("X-Key", &["secret"]);
    let reply = bed.run(bed.client.send(&request, &bed.token)).unwrap();
    assert!(!format!("{reply:?} {request:?}").contains("secret"));
}

#[test]
fn two_calls_of_a_request_share_nothing() {
    let bed = Bed::new([later(429, "1"), later(429, "1"), later(429, "1"), later(429, "1")]);
    let request = bed.request(Verb::Get).max_retries(1);
    for attempts in [2, 4] {
        let error = bed.run(bed.client.send(&request, &bed.token)).unwrap_err();
        assert_eq!(error.status().unwrap().code, 429);
        assert_eq!(bed.script.seen.lock().len(), attempts);
    }
}

#[test]
fn a_stream_carries_its_body() {
    let bed = Bed::new([answers(200, "{}"), answers(200, "")]);
    let request = bed.request(Verb::Post).body(*b"body");
    drop(bed.run(bed.client.stream(&request, &bed.token)).unwrap());
    drop(bed.run(bed.client.watch(&request, &bed.token)).unwrap());
    assert!(bed.script.seen.lock().iter().all(|seen| seen.body.as_deref() == Some(b"body")));
    assert_eq!(*bed.script.open.lock(), 0);
}
