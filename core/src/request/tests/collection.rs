//! Lists and watches of a collection: the requests, and the decoded answers.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::scripted::{Act, Bed, Chunk, Script, answers};
use crate::informer::{
    Event, ListOptions, ListWatch, Match, Page, SourceError, SourceKind, WatchOptions,
};
use crate::request::{Base, Client, Collection, Limits, TransportKind, Verb};
use crate::runtime::Manual;

/// Makes a collection, and the bed with its clock and server.
fn pods(acts: impl IntoIterator<Item = Act>) -> (Bed, Collection<Manual, Script>) {
    let bed = Bed::new(acts);
    let base = Base::parse("https://h").unwrap();
    let client = Client::new(&bed.clock, base, bed.script.clone()).with_limiter(None);
    let request =
        client.request(Verb::Get, "api/v1").resource("pods").param("labelSelector", "a=b");
    let pods = Collection::new(&Arc::new(client), request.max_retries(0));
    (bed, pods)
}

fn list(act: Act) -> Result<Page<Arc<Value>>, SourceError> {
    let (bed, pods) = pods([act]);
    bed.run(pods.list(ListOptions::default()))
}

#[test]
fn what_is_asked_for_goes_out() {
    let listed = || answers(200, r#"{"metadata":{"resourceVersion":"7"},"items":[]}"#);
    let watched = || Act::Answers(200, vec![], vec![]);
    let (bed, pods) = pods([listed(), listed(), watched(), watched()]);
    let list = |options| bed.run(ListWatch::<Arc<Value>>::list(&pods, options)).unwrap();
    list(ListOptions::default());
    list(ListOptions {
        resource_version: "5".to_owned(),
        resource_version_match: Some(Match::Exact),
        limit: 500,
        continue_token: "t/1".to_owned(),
    });
    let watch = |options| drop(bed.run(ListWatch::<Arc<Value>>::watch(&pods, options)).unwrap());
    watch(WatchOptions::default());
    watch(WatchOptions {
        resource_version: "5".to_owned(),
        resource_version_match: Some(Match::NotOlderThan),
        timeout: Duration::from_millis(300_900),
        allow_bookmarks: true,
        send_initial_events: true,
    });
    let asked: Vec<_> = bed.script.seen.lock().iter().map(|seen| seen.target.clone()).collect();
    assert_eq!(
        asked,
        [
            "/api/v1/pods?labelSelector=a%3Db",
            "/api/v1/pods?continue=t%2F1&labelSelector=a%3Db&limit=500&resourceVersion=5\
             &resourceVersionMatch=Exact",
            "/api/v1/pods?labelSelector=a%3Db&watch=true",
            "/api/v1/pods?allowWatchBookmarks=true&labelSelector=a%3Db&resourceVersion=5\
             &resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=300\
             &watch=true",
        ]
    );
}

#[test]
fn what_is_no_list_empties_no_store() {
    let empty = list(answers(200, r#"{"metadata":{"resourceVersion":"7"},"items":null}"#)).unwrap();
    assert_eq!((empty.items.len(), empty.resource_version.as_str()), (0, "7"));
    for body in [
        r#"{"kind":"Table","metadata":{"resourceVersion":"7"},"rows":[]}"#,
        r#"{"metadata":{},"items":[]}"#,
        r#"{"items":[]}"#,
        r#"{"kind":"Status","status":"Failure","code":500,"reason":"InternalError"}"#,
        "[]",
        "",
    ] {
        assert!(list(answers(200, body)).is_err(), "{body}");
    }
}

#[test]
fn failures_are_sorted() {
    let status = |code: u16, reason: &str, rest: &str| {
        let body = format!(
            r#"{{"kind":"Status","status":"Failure","code":{code},"reason":"{reason}"{rest}}}"#
        );
        answers(code, &body)
    };
    let timeout = r#","message":"Timeout: Too large resource version: 9, current: 7""#;
    let cause = r#","details":{"causes":[{"message":"Too large resource version"}]}"#;
    let of_type = r#","details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}"#;
    let later = r#","details":{"retryAfterSeconds":4}"#;
    let cases = [
        (status(410, "Expired", ""), SourceKind::Expired),
        (status(410, "Gone", ""), SourceKind::Expired),
        (answers(410, ""), SourceKind::Expired),
        (status(504, "Timeout", timeout), SourceKind::TooLarge),
        (status(504, "Timeout", cause), SourceKind::TooLarge),
        (status(400, "BadRequest", of_type), SourceKind::TooLarge),
        (status(400, "BadRequest", timeout), SourceKind::Invalid),
        (status(422, "Invalid", ""), SourceKind::Invalid),
        (status(504, "Timeout", ""), SourceKind::Other),
        (status(429, "TooManyRequests", later), SourceKind::TooManyRequests),
        (status(500, "InternalError", ""), SourceKind::Internal),
        (status(403, "Forbidden", ""), SourceKind::Other),
        (Act::Fails(TransportKind::Refused, "x"), SourceKind::Refused),
        (Act::Fails(TransportKind::Reset, "x"), SourceKind::Eof),
        (Act::Fails(TransportKind::Untrusted, "x"), SourceKind::Other),
        (Act::Answers(200, vec![], vec![Chunk::Fails(TransportKind::Eof)]), SourceKind::Eof),
    ];
    for (act, kind) in cases {
        let error = list(act).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        let delay = Some(Duration::from_secs(4)).filter(|_| kind == SourceKind::TooManyRequests);
        assert_eq!(error.retry_after(), delay);
    }
}

#[test]
fn bookmarks_and_errors_of_a_watch_are_sorted() {
    let bookmark = |version: &str, value: &str| {
        format!(
            r#"{{"type":"BOOKMARK","object":{{"metadata":{{"resourceVersion":"{version}","annotations":{{"k8s.io/initial-events-end":"{value}"}}}}}}}}"#
        )
    };
    let gone = r#"{"type":"ERROR","object":{"code":410,"reason":"Expired"}}"#;
    let lines = [&bookmark("7", "true"), &bookmark("8", "yes"), &bookmark("", "true"), gone];
    let body = lines.map(|line| format!("{line}\n")).concat();
    let chunks = vec![Chunk::Bytes(body.into_bytes()), Chunk::Hangs];
    let (bed, pods) = pods([Act::Answers(200, vec![], chunks)]);
    let watch = ListWatch::<Arc<Value>>::watch(&pods, WatchOptions::default());
    let mut stream = bed.run(watch).unwrap();
    let mut told = Vec::new();
    while let Some(event) = bed.run(stream.next()) {
        told.push(match event {
            Event::Bookmark { resource_version, ends_initial } => {
                format!("{resource_version} {ends_initial}")
            }
            Event::Foreign(_) => "foreign".to_owned(),
            Event::Error(error) => format!("{:?}", error.kind()),
            other => panic!("{other:?}"),
        });
    }
    assert_eq!(told, ["7 true", "8 false", "foreign", "Expired"]);
}

#[test]
fn a_list_that_is_larger_than_the_client_reads_says_so() {
    let body = format!(r#"{{"metadata":{{"resourceVersion":"1"}},"items":[{:9000}]}}"#, 1);
    let bed = Bed::new([answers(200, &body)]);
    let limits = Limits { body: 8 << 10, ..Limits::default() };
    let client = Client::new(&bed.clock, Base::parse("https://h").unwrap(), bed.script.clone());
    let client = client.with_limiter(None).with_limits(limits);
    let pods = Collection::new(&Arc::new(client), bed.request(Verb::Get));
    let listed = ListWatch::<Arc<Value>>::list(&pods, ListOptions::default());
    assert_eq!(bed.run(listed).unwrap_err().kind(), SourceKind::Oversized);
}
