//! Validation of events. The API `events.k8s.io` has stricter rules than the core group. The
//! messages of both name fields as the core group does, except for the reporter.

use serde_json::Value;

use super::cause::{Cause, Causes};
use super::metadata::text;
use super::names;
use super::twin;

/// The most bytes that a word of an event may have.
const WORD: usize = 128;
/// The most bytes that its message may have.
const MESSAGE: usize = 1024;

/// The rules of the core group, for new events and for changes.
pub(crate) fn lax(event: &Value, _: Option<&Value>) -> Causes {
    let mut causes = Causes::default();
    basic(event, "reportingComponent", &mut causes);
    causes
}

/// The rules of `events.k8s.io`.
pub(crate) fn strict(event: &Value, old: Option<&Value>) -> Causes {
    let mut causes = Causes::default();
    let event = twin::with_core_names(event);
    basic(&event, "reportingController", &mut causes);
    match old {
        None => new(&event, &mut causes),
        Some(old) => changed(&event, &twin::with_core_names(old), &mut causes),
    }
    causes
}

fn part<'a>(event: &'a Value, field: &str) -> &'a str {
    event[field].as_str().unwrap_or("")
}

/// The rules for every event. Older events, without `eventTime`, need to fulfil fewer of them.
fn basic(event: &Value, reporter: &str, causes: &mut Causes) {
    let (own, about) = (text(event, "namespace"), &event["involvedObject"]["namespace"]);
    let is_new = !event["eventTime"].is_null();
    let fits = match about.as_str().unwrap_or("") {
        "" if is_new => matches!(own, "default" | "kube-system"),
        "" => matches!(own, "" | "default"),
        about => is_new || about == own,
    };
    if !fits {
        let about = about.as_str().unwrap_or("").into();
        let why = "does not match event.namespace";
        causes.push(Cause::invalid("involvedObject.namespace", &about, why));
    }
    if !is_new {
        return;
    }
    let who = part(event, "reportingComponent");
    if who.is_empty() {
        causes.push(Cause::required(reporter, ""));
    }
    for why in names::qualified(who) {
        causes.push(Cause::invalid(reporter, &who.into(), &why));
    }
    for field in ["reportingInstance", "action", "reason"] {
        if part(event, field).is_empty() {
            causes.push(Cause::required(field, ""));
        }
        short(event, field, WORD, causes);
    }
    short(event, "message", MESSAGE, causes);
}

fn short(event: &Value, field: &str, most: usize, causes: &mut Causes) {
    if part(event, field).len() > most {
        let why = format!("can have at most {most} characters");
        causes.push(Cause::invalid(field, &"".into(), &why));
    }
}

fn new(event: &Value, causes: &mut Causes) {
    series(event, causes);
    if event["eventTime"].is_null() {
        causes.push(Cause::required("eventTime", ""));
    }
    let kind = part(event, "type");
    if !matches!(kind, "Normal" | "Warning") {
        causes.push(Cause::invalid("type", &"".into(), format!("has invalid value: {kind}")));
    }
    let source = &event["source"];
    let is_set = [
        ("firstTimestamp", !event["firstTimestamp"].is_null()),
        ("lastTimestamp", !event["lastTimestamp"].is_null()),
        ("count", event["count"].as_i64().unwrap_or(0) != 0),
        ("source", !part(source, "component").is_empty() || !part(source, "host").is_empty()),
    ];
    for (field, _) in is_set.into_iter().filter(|(_, is_set)| *is_set) {
        causes.push(Cause::invalid(field, &"".into(), "needs to be unset"));
    }
}

fn series(event: &Value, causes: &mut Causes) {
    let series = &event["series"];
    if series.is_null() {
        return;
    }
    if series["count"].as_i64().unwrap_or(0) < 2 {
        causes.push(Cause::invalid("series.count", &"".into(), "should be at least 2"));
    }
    if series["lastObservedTime"].is_null() {
        causes.push(Cause::required("series.lastObservedTime", ""));
    }
}

/// Nothing but its series changes. The reason is looked at twice.
fn changed(event: &Value, old: &Value, causes: &mut Causes) {
    if event["series"] != old["series"] {
        series(event, causes);
    }
    for (field, shown) in [
        ("involvedObject", "involvedObject"),
        ("reason", "reason"),
        ("message", "message"),
        ("source", "source"),
        ("firstTimestamp", "firstTimestamp"),
        ("lastTimestamp", "lastTimestamp"),
        ("count", "count"),
        ("reason", "reason"),
        ("type", "type"),
        ("eventTime", "eventTime"),
        ("action", "action"),
        ("related", "related"),
        ("reportingComponent", "reportingController"),
        ("reportingInstance", "reportingInstance"),
    ] {
        if event[field] != old[field] {
            causes.push(Cause::invalid(shown, &event[field], "field is immutable"));
        }
    }
}
