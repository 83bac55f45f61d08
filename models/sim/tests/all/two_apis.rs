//! Events have two APIs and one storage: each API reads the other one's events with its own names.

use seatrial_sim::apiserver::{Events, Request, Response, Server};
use serde_json::{Value, json};

use crate::common::{DEFINITIONS, MAPS, answer as send, causes, empty as server, watch};

const CORE: &str = "/api/v1/namespaces/default/events";
const NEW: &str = "/apis/events.k8s.io/v1/namespaces/default/events";

fn body(response: &Response) -> &Value {
    response.json().expect("it is JSON")
}

fn get(server: &mut Server, path: &str) -> Value {
    let response = send(server, &Request::new("GET", path));
    assert_eq!(response.status, 200, "{path}");
    body(&response).clone()
}

fn post(server: &mut Server, path: &str, event: &Value) -> Value {
    let response = send(server, &Request::new("POST", path).json(event));
    assert_eq!(response.status, 201, "{:?}", response.body);
    body(&response).clone()
}

fn patch(server: &mut Server, path: &str, kind: &str, patch: &Value) -> Response {
    let kind = format!("application/{kind}");
    send(server, &Request::new("PATCH", path).content(&kind, patch.to_string()))
}

/// An event as `events.k8s.io` has it.
fn new(name: &str) -> Value {
    json!({
        "metadata": {"name": name}, "eventTime": "2026-01-01T00:00:00.000000Z",
        "regarding": {"kind": "Pod", "name": "p", "namespace": "default"}, "reason": "Made",
        "action": "Making", "note": "hello", "type": "Normal", "reportingController": "a.io/b",
        "reportingInstance": "i",
    })
}

/// An event as older clients of the core group have it.
fn old(name: &str) -> Value {
    json!({
        "metadata": {"name": name}, "reason": "Made", "message": "hello", "type": "Normal",
        "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
        "source": {"component": "c"}, "firstTimestamp": "2026-01-01T00:00:00Z", "count": 2,
    })
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or("")
}

#[test]
fn each_api_reads_what_the_other_has_written() {
    let mut server = server();
    let made = post(&mut server, NEW, &new("a"));
    let read = get(&mut server, &format!("{CORE}/a"));
    for (core, other) in [
        ("message", "note"),
        ("involvedObject", "regarding"),
        ("reportingComponent", "reportingController"),
        ("eventTime", "eventTime"),
        ("reason", "reason"),
        ("metadata", "metadata"),
    ] {
        assert_eq!(read[core], made[other], "{core}");
    }
    assert_eq!((&read["apiVersion"], &read["source"]), (&json!("v1"), &json!({})));
    assert_eq!((read.get("note"), read.get("firstTimestamp")), (None, Some(&Value::Null)));

    let made = post(&mut server, CORE, &old("b"));
    let read = get(&mut server, &format!("{NEW}/b"));
    for (core, other) in [
        ("count", "deprecatedCount"),
        ("source", "deprecatedSource"),
        ("firstTimestamp", "deprecatedFirstTimestamp"),
        ("lastTimestamp", "deprecatedLastTimestamp"),
        ("metadata", "metadata"),
    ] {
        assert_eq!(read[other], made[core], "{core}");
    }
    assert_eq!(read["apiVersion"], "events.k8s.io/v1");
    // The core group writes this although it is empty.
    assert_eq!(
        (made["reportingComponent"].as_str(), read.get("reportingController")),
        (Some(""), None)
    );

    for (path, version) in [(CORE, "v1"), (NEW, "events.k8s.io/v1")] {
        let list = get(&mut server, path);
        assert_eq!((&list["apiVersion"], &list["kind"]), (&json!(version), &json!("EventList")));
        assert_eq!(list["items"].as_array().map(Vec::len), Some(2));
    }
    assert_eq!(send(&mut server, &Request::new("POST", CORE).json(&old("a"))).status, 409);
    assert_eq!(send(&mut server, &Request::new("DELETE", &format!("{NEW}/b"))).status, 200);
    assert_eq!(send(&mut server, &Request::new("GET", &format!("{CORE}/b"))).status, 404);
    assert_eq!(send(&mut server, &Request::new("DELETE", CORE)).status, 200);
    assert_eq!(get(&mut server, NEW)["items"], json!([]));
}

#[test]
fn a_watch_of_either_api_tells_of_every_write_at_the_same_version() {
    let mut server = server();
    let watches =
        [CORE, NEW].map(|path| watch(&mut server, &format!("{path}?watch=true&resourceVersion=0")));
    post(&mut server, NEW, &new("a"));
    let count = json!({"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:05.000000Z"}});
    assert_eq!(patch(&mut server, &format!("{NEW}/a"), "merge-patch+json", &count).status, 200);
    post(&mut server, CORE, &old("b"));
    send(&mut server, &Request::new("DELETE", &format!("{CORE}/a")));
    let [core, other] = watches.map(|id| server.events(id));
    let told = |events: &Events, text: &str| -> Vec<(&'static str, Value, Value)> {
        let events = events.events.iter();
        let version = |it: &Value| it["metadata"]["resourceVersion"].clone();
        events.map(|it| (it.kind, version(&it.object), it.object[text].clone())).collect()
    };
    let (core, other) = (told(&core, "message"), told(&other, "note"));
    assert_eq!(core, other);
    let kinds: Vec<_> = core.iter().map(|(kind, ..)| *kind).collect();
    assert_eq!(kinds, ["ADDED", "MODIFIED", "ADDED", "DELETED"]);
    assert!(core.iter().all(|(_, _, text)| text == "hello"), "{core:?}");
    let writes: Vec<_> =
        server.writes_after(0).into_iter().filter(|it| *it.resource == *"events").collect();
    assert_eq!(writes.len(), 4, "each write is told once");
    assert_eq!(server.contents().iter().filter(|it| it.1.ends_with("/b")).count(), 1);
}

#[test]
fn each_api_selects_by_its_own_names() {
    let mut server = server();
    post(&mut server, NEW, &new("a"));
    post(&mut server, CORE, &old("b"));
    for (path, selector, found) in [
        (NEW, "regarding.name=p", 2),
        (NEW, "regarding.name=q", 0),
        (NEW, "reportingController=a.io/b", 1),
        (CORE, "involvedObject.name=p", 2),
        (CORE, "reportingComponent=a.io/b", 1),
        (CORE, "involvedObject.resourceVersion=7", 0),
        (CORE, "source=c", 1),
        (CORE, "source=a.io/b", 1),
    ] {
        let list = get(&mut server, &format!("{path}?fieldSelector={selector}"));
        assert_eq!(list["items"].as_array().map(Vec::len), Some(found), "{selector}");
    }
    for (path, selector) in
        [(NEW, "involvedObject.name"), (NEW, "source"), (CORE, "regarding.name")]
    {
        let list = Request::new("GET", &format!("{path}?fieldSelector={selector}=p"));
        assert_eq!(send(&mut server, &list).status, 400, "{selector}");
    }
}

#[test]
fn the_newer_api_wants_more_of_an_event() {
    let mut server = server();
    let (missing, wrong) = ("FieldValueRequired", "FieldValueInvalid");
    let long = "x".repeat(129);
    for (path, change, expected) in [
        (NEW, json!({"eventTime": null}), &[("eventTime", missing)][..]),
        (NEW, json!({"type": "Other"}), &[("type", wrong)]),
        (NEW, json!({"action": ""}), &[("action", missing)]),
        (NEW, json!({"reason": long}), &[("reason", wrong)]),
        (NEW, json!({"note": "x".repeat(1025)}), &[("message", wrong)]),
        (NEW, json!({"reportingInstance": ""}), &[("reportingInstance", missing)]),
        (NEW, json!({"reportingController": "a b"}), &[("reportingController", wrong)]),
        (NEW, json!({"regarding": {"kind": "Pod", "namespace": "other"}}), &[]),
        (
            NEW,
            json!({"series": {"count": 1, "lastObservedTime": null}}),
            &[("series.count", wrong), ("series.lastObservedTime", missing)],
        ),
        (
            NEW,
            json!({
                "deprecatedCount": 1, "deprecatedFirstTimestamp": "2026-01-01T00:00:00Z",
                "deprecatedLastTimestamp": "2026-01-01T00:00:00Z",
                "deprecatedSource": {"host": "h"},
            }),
            &[
                ("firstTimestamp", wrong),
                ("lastTimestamp", wrong),
                ("count", wrong),
                ("source", wrong),
            ],
        ),
        (CORE, json!({"count": 3, "type": "Other", "series": {"count": 1}}), &[]),
        (
            CORE,
            json!({"involvedObject": {"namespace": "other"}}),
            &[("involvedObject.namespace", wrong)],
        ),
        (
            CORE,
            json!({"eventTime": "2026-01-01T00:00:00.000000Z", "action": "a"}),
            &[
                ("reportingComponent", missing),
                ("reportingComponent", wrong),
                ("reportingComponent", wrong),
                ("reportingInstance", missing),
            ],
        ),
    ] {
        let mut event = if path == NEW { new("w") } else { old("w") };
        for (field, value) in change.as_object().into_iter().flatten() {
            event[field] = value.clone();
        }
        let answer =
            send(&mut server, &Request::new("POST", &format!("{path}?dryRun=All")).json(&event));
        assert_eq!(answer.status, if expected.is_empty() { 201 } else { 422 }, "{change}");
        assert_eq!(causes(body(&answer)), expected, "{change}");
        // Failures call it an event of the core group.
        assert_eq!(body(&answer)["details"].get("group"), None, "{change}");
    }
    for (path, event, status) in
        [(NEW, new("A"), 422), (CORE, old("A"), 201), (CORE, old("a%"), 422)]
    {
        let post = Request::new("POST", path).json(&event);
        assert_eq!(send(&mut server, &post).status, status, "{event}");
    }
}

#[test]
fn by_the_newer_api_nothing_of_an_event_changes_but_its_series() {
    let mut server = server();
    post(&mut server, NEW, &new("a"));
    post(&mut server, CORE, &old("b"));
    let (a, b) = (format!("{NEW}/a"), format!("{NEW}/b"));
    let merge = "merge-patch+json";
    let series = json!({"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:05.000000Z"}});
    assert_eq!(patch(&mut server, &a, merge, &series).status, 200);
    let answer = patch(&mut server, &a, merge, &json!({"note": "other", "series": {"count": 1}}));
    assert_eq!(answer.status, 422);
    assert_eq!(
        causes(body(&answer)),
        [("series.count", "FieldValueInvalid"), ("message", "FieldValueInvalid")]
    );
    let everything = json!({
        "deprecatedCount": 3, "note": "N", "reason": "R", "type": "Warning", "action": "A",
        "eventTime": "2026-01-01T00:00:09.000000Z", "reportingController": "c",
        "reportingInstance": "i", "regarding": {"name": "q"}, "related": {"name": "q"},
        "deprecatedSource": {"host": "h"}, "deprecatedFirstTimestamp": null,
        "deprecatedLastTimestamp": "2026-01-01T00:00:09Z",
    });
    let answer = patch(&mut server, &b, merge, &everything);
    let fields: Vec<_> = causes(body(&answer)).iter().map(|(field, _)| *field).collect();
    let about =
        ["involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp"];
    let rest = ["count", "reason", "type", "eventTime", "action", "related"];
    let reporter = ["reportingController", "reportingInstance"];
    assert_eq!(fields, [&about[..], &rest, &reporter].concat());
    // The core group lets anything change.
    let answer =
        patch(&mut server, &format!("{CORE}/b"), merge, &json!({"count": 3, "reason": "Other"}));
    assert_eq!(answer.status, 200);
    assert_eq!(get(&mut server, &b)["deprecatedCount"], 3);
}

#[test]
fn what_is_wrong_with_the_metadata_of_a_core_event_is_said_once() {
    let mut server = server();
    let mut event = old("a");
    event["metadata"]["finalizers"] = json!(["a.io/x"]);
    let map = json!({"metadata": {"name": "a", "finalizers": ["a.io/x"]}});
    for (path, object, said) in [(CORE, event, 1), (MAPS, map, 2)] {
        post(&mut server, path, &object);
        let one = format!("{path}/a");
        assert_eq!(send(&mut server, &Request::new("DELETE", &one)).status, 200);
        let more = json!({"metadata": {"finalizers": ["a.io/x", "a.io/y"]}});
        let answer = patch(&mut server, &one, "merge-patch+json", &more);
        assert_eq!(
            causes(body(&answer)),
            vec![("metadata.finalizers", "FieldValueForbidden"); said]
        );
    }
}

/// The manager, the version and the fields of each entry.
fn managers(event: &Value) -> Vec<(&str, &str, &Value)> {
    let entries = event["metadata"]["managedFields"].as_array().into_iter().flatten();
    entries.map(|it| (text(it, "manager"), text(it, "apiVersion"), &it["fieldsV1"])).collect()
}

#[test]
fn who_has_used_the_other_api_owns_nothing_after_a_write() {
    let mut server = server();
    let kind = "apply-patch+yaml";
    let mut first = new("a");
    (first["kind"], first["apiVersion"]) = ("Event".into(), "events.k8s.io/v1".into());
    assert_eq!(patch(&mut server, &format!("{NEW}/a?fieldManager=m"), kind, &first).status, 201);
    let second = json!({
        "kind": "Event", "apiVersion": "v1", "metadata": {"name": "a"}, "message": "other",
    });
    // No conflict, though another one has applied the same text by the other API.
    assert_eq!(patch(&mut server, &format!("{CORE}/a?fieldManager=n"), kind, &second).status, 200);
    let found = get(&mut server, &format!("{NEW}/a"));
    assert_eq!((&found["note"], &found["action"]), (&json!("other"), &json!("Making")));
    assert_eq!(managers(&found), [("n", "v1", &json!({"f:message": {}}))]);
    let label = json!({"metadata": {"labels": {"x": "y"}}});
    let by_o = format!("{NEW}/a?fieldManager=o");
    assert_eq!(patch(&mut server, &by_o, "merge-patch+json", &label).status, 200);
    let found = get(&mut server, &format!("{CORE}/a"));
    let fields = json!({"f:metadata": {"f:labels": {".": {}, "f:x": {}}}});
    assert_eq!(managers(&found), [("o", "events.k8s.io/v1", &fields)]);
}

#[test]
fn a_definition_does_not_replace_a_built_in_kind() {
    let mut server = server();
    post(&mut server, NEW, &new("a"));
    let definition = json!({
        "metadata": {"name": "events.events.k8s.io"},
        "spec": {
            "group": "events.k8s.io", "scope": "Namespaced",
            "names": {"plural": "events", "kind": "Event"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }],
        },
    });
    post(&mut server, DEFINITIONS, &definition);
    assert_eq!(get(&mut server, &format!("{NEW}/a"))["note"], "hello");
    let one = format!("{DEFINITIONS}/events.events.k8s.io");
    assert_eq!(send(&mut server, &Request::new("DELETE", &one)).status, 200);
    assert_eq!(get(&mut server, &format!("{CORE}/a"))["message"], "hello");
}
