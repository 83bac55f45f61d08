//! Answers that cannot be decoded: the error tells where, and quotes nothing.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::apps;
use super::scripted::{Act, Bed, Chunk, answers};
use crate::elector::{AsyncObjectStore, ObjectName, Timing};
use crate::informer::{ListOptions, ListWatch, Page};
use crate::request::{Collection, Leases, Reply, RequestError, Verb};

const SECRET: &str = "hunter2";

#[derive(Deserialize, Debug)]
#[expect(dead_code, reason = "it is only decoded")]
struct Object {
    spec: Spec,
}

#[derive(Deserialize, Debug)]
#[expect(dead_code, reason = "it is only decoded")]
struct Spec {
    replicas: u32,
    #[serde(default)]
    kind: Option<Kind>,
}

#[derive(Deserialize, Debug)]
enum Kind {
    Plain,
}

fn reply(body: &str) -> Reply {
    let bed = Bed::new([answers(200, body)]);
    bed.run(bed.client.send(&bed.request(Verb::Get), &bed.token)).unwrap()
}

/// Returns everything that an error shows.
fn all(error: &(dyn std::error::Error + 'static)) -> String {
    let (mut text, mut cause) = (format!("{error:?}"), Some(error));
    while let Some(inner) = cause {
        text = format!("{text}\n{inner}\n{inner:?}");
        cause = inner.source();
    }
    text
}

#[test]
fn an_error_names_the_field_and_the_place_and_no_value() {
    for (body, path, position) in [
        (r#"{"spec":{"replicas":"hunter2"}}"#, "spec.replicas", (1, 29)),
        ("{\"spec\":{\"replicas\":1,\n\"kind\":\"hunter2\"}}", "spec.kind", (2, 16)),
        (r#"{"spec":"hunter2"}"#, "spec", (1, 17)),
        (r#""hunter2""#, "", (1, 9)),
    ] {
        let error = reply(body).json::<Object>().unwrap_err();
        let RequestError::Decode(why) = &error else { panic!("{error:?}") };
        assert_eq!((why.path(), why.position()), (path, position), "{body}");
        let text = all(&error);
        assert!(!text.contains(SECRET) && text.contains("another form"), "{text}");
    }
    let error = reply(r#"{"spec": hunter2}"#).json::<Object>().unwrap_err();
    assert!(!all(&error).contains(SECRET) && all(&error).contains("expected value"), "{error:?}");
}

#[test]
fn a_list_names_the_item() {
    let lists = |body: &str| {
        let bed = Bed::new([answers(200, body)]);
        let request = bed.request(Verb::Get);
        let pods = Collection::new(&Arc::new(bed.client), request);
        let list = ListWatch::<Arc<Object>>::list(&pods, ListOptions::default());
        let listed: Result<Page<Arc<Object>>, _> = poll_to_end(list).0;
        all(&listed.unwrap_err())
    };
    let good = r#"{"spec":{"replicas":1}}"#;
    let text = lists(&format!(
        "{{\"metadata\":{{\"resourceVersion\":\"1\"}},\"items\":[{good},\n{{\"spec\":{{\"replicas\":\"{SECRET}\"}}}}]}}"
    ));
    assert!(
        text.contains("items[1].spec.replicas") && text.contains("line 2, column 29"),
        "{text}"
    );
    assert!(!text.contains(SECRET), "{text}");
    let text =
        lists(&format!("{{\"metadata\":{{\"resourceVersion\":{{\"{SECRET}\":1}}}},\"items\":[]}}"));
    assert!(text.contains("metadata.resourceVersion") && !text.contains(SECRET), "{text}");
    assert!(lists(r#"{"metadata":{"resourceVersion":"1"}}"#).contains("another form"), "no list");
}

#[test]
fn events_and_leases_tell_no_value_either() {
    let lines = [
        r#"{"type":"ADDED","object":{"spec":{"replicas":"hunter2"}}}"#,
        r#"{"object":{"spec":{"replicas":"hunter2"}},"type":"ADDED"}"#,
        r#"{"type":"hunter2","object":1}"#,
    ];
    for line in lines {
        let bed = Bed::new([Act::Answers(200, vec![], vec![Chunk::Bytes(line.into())])]);
        let mut watch = bed.run(bed.client.watch(&bed.request(Verb::Get), &bed.token)).unwrap();
        let event = format!("{:?}", bed.run(watch.next::<Object>()).unwrap());
        assert!(event.contains("ClientWatchDecoding") && !event.contains(SECRET), "{event}");
    }
    for spec in [r#"{"renewTime":"hunter2"}"#, r#"{"leaseTransitions":"hunter2"}"#] {
        let lease = format!(r#"{{"metadata":{{"name":"a"}},"spec":{spec}}}"#);
        let bed = Bed::new([answers(200, &lease)]);
        let leases = Leases::new(bed.client, &Timing::DEFAULT);
        let name = ObjectName::new("ns", "a");
        let error = poll_to_end(AsyncObjectStore::get(&leases, &name)).0.unwrap_err();
        assert!(all(&error).contains("no Lease") && !all(&error).contains(SECRET), "{error:?}");
    }
}

/// It says what it cannot write.
struct Refuses;

impl Serialize for Refuses {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom(format!("{SECRET} has no form")))
    }
}

#[test]
fn an_object_that_cannot_be_written_is_not_quoted() {
    let request = apps().body_json(&Refuses);
    assert!(!all(request.mistake().unwrap()).contains(SECRET));
}

/// Polls a future that needs no clock. Returns how often it waited.
fn poll_to_end<T>(work: impl Future<Output = T>) -> (T, usize) {
    let (mut work, mut context) = (pin!(work), Context::from_waker(Waker::noop()));
    for waits in 0..100_000 {
        if let Poll::Ready(value) = work.as_mut().poll(&mut context) {
            return (value, waits);
        }
    }
    panic!("it does not end");
}

#[test]
fn a_large_list_lets_other_tasks_run_while_it_is_decoded() {
    let item = serde_json::json!({ "spec": { "replicas": 1 }, "data": "x".repeat(10_000) });
    let items = vec![item; 500];
    let list = serde_json::json!({ "metadata": { "resourceVersion": "1" }, "items": items });
    let bed = Bed::new([answers(200, &list.to_string())]);
    let request = bed.request(Verb::Get);
    let pods = Collection::new(&Arc::new(bed.client), request);
    let list = ListWatch::<Arc<Object>>::list(&pods, ListOptions::default());
    let (listed, waits) = poll_to_end(list);
    assert_eq!(listed.unwrap().items.len(), 500);
    assert!((10..100).contains(&waits), "{waits}: once for each quarter of a mebibyte");
}

/// The stack is safe from a hostile answer: a value may be nested 127 deep. What is not read may be
/// nested deeper.
#[test]
fn what_is_nested_too_deeply_is_refused_only_where_it_is_read() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let object = |levels| format!(r#"{{"spec":{{"replicas":1}},"other":{}}}"#, deep(levels));
    reply(&object(100_000)).json::<Object>().unwrap();
    reply(&object(100)).json::<Value>().unwrap();
    let error = reply(&object(1000)).json::<Value>().unwrap_err();
    assert!(all(&error).contains("recursion limit"), "{error:?}");
}
