//! The promises of a lock over requests, as checks of a history.

use serde_json::Value;

use super::machine::Said;
use super::{History, Leases, Spec};
use crate::trial::{Invariant, Violation};
use crate::wire::fixtures::at_every_call;

type Checked = Result<(), Violation>;

pub(super) fn all() -> Vec<Invariant<Leases>> {
    vec![
        Invariant::always(
            "others_keep_what_is_theirs",
            "a write changes the record and the labels of the lock, and nothing else",
            &["election:LK-2", "election:LK-15"],
            |history| bodies(history, theirs),
        ),
        Invariant::always(
            "updates_name_their_version",
            "an update names the version that was seen last, and a new Lease names none",
            &["election:LK-2", "election:LK-4"],
            |history| bodies(history, |body| body["metadata"]["resourceVersion"].clone()),
        ),
        Invariant::always(
            "records_are_written_as_they_are",
            "a record is written field by field, with six digits in its times, and without the \
             fields that it lacks",
            &["election:LK-11", "election:LK-12"],
            |history| bodies(history, |body| only(&body["spec"], RECORD)),
        ),
        Invariant::always(
            "each_is_sent_once",
            "a call sends one request, whatever the result, and takes no turns with others",
            &["election:LK-6", "election:LK-29"],
            |history| each(history, |said, right| said.sent.len() == right.sent.len()),
        ),
        Invariant::always(
            "calls_are_bounded",
            "a call sends its time-out to the server, and gives a silent server up",
            &["election:LK-6", "election:LK-28"],
            calls_are_bounded,
        ),
        Invariant::always(
            "tells_what_became_of_it",
            "a call returns the record and its version, or what a failure means for an election",
            &[
                "election:LK-3",
                "election:LK-11",
                "election:LK-29",
                "election:RQ-70",
                "election:RQ-84",
            ],
            |history| each(history, |said, right| said.told == right.told),
        ),
    ]
}

/// The fields of a record.
const RECORD: &[&str] = &[
    "holderIdentity",
    "leaseDurationSeconds",
    "leaseTransitions",
    "acquireTime",
    "renewTime",
    "strategy",
    "preferredHolder",
];

/// Returns only the fields with these names.
fn only(spec: &Value, names: &[&str]) -> Value {
    let fields = spec.as_object().into_iter().flatten();
    fields.filter(|(name, _)| names.contains(&name.as_str())).map(pair).collect()
}

fn pair((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

/// Returns a Lease without its record and its version.
fn theirs(body: &Value) -> Value {
    let mut theirs = body.clone();
    let fields = body["spec"].as_object().into_iter().flatten();
    let is_of_others = |(name, _): &(&String, &Value)| !RECORD.contains(&name.as_str());
    theirs["spec"] = fields.filter(is_of_others).map(pair).collect();
    theirs["metadata"]["resourceVersion"] = Value::Null;
    theirs
}

/// Checks every call against the expected result.
fn each(history: &History, check: impl Fn(&Said, &Said) -> bool) -> Checked {
    at_every_call::<Leases, Spec>(history, |before, call, said| {
        let right = before.clone().call(call);
        if check(said, &right) {
            return Ok(());
        }
        let Said { told, sent, .. } = right;
        Err(format!(
            "{call:?}: it tells {} of {:?}, right is {told} of {sent:?}",
            said.told, said.sent
        ))
    })
}

/// Compares a part of all Leases that are sent.
fn bodies(history: &History, part: fn(&Value) -> Value) -> Checked {
    each(history, |said, right| {
        let both = said.sent.iter().zip(&right.sent);
        both.into_iter()
            .all(|((_, said), (_, right))| said.as_ref().map(part) == right.as_ref().map(part))
    })
}

fn calls_are_bounded(history: &History) -> Checked {
    at_every_call::<Leases, Spec>(history, |_, call, said| {
        let unbounded = said.sent.iter().find(|(line, _)| !line.ends_with("?timeout=5s"));
        match unbounded {
            Some((line, _)) => Err(format!("{line} has no bound")),
            None if said.told == "hangs" => Err(format!("{call:?} does not return")),
            None => Ok(()),
        }
    })
}
