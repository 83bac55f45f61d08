//! The promises of a lock over requests, as checks of a history.

use serde_json::Value;

use super::machine::Said;
use super::{Leases, Spec};
use crate::trial::Invariant;
use crate::wire::fixtures::at_every_call;

pub(super) fn all() -> Vec<Invariant<Leases>> {
    vec![
        at_every_call::<Leases, Spec>(
            "others_keep_what_is_theirs",
            "a write changes the record and the labels of the lock, and nothing else",
            &["election:LK-2", "election:LK-15"],
            |_, _, said, right| bodies(said, right, theirs),
        ),
        at_every_call::<Leases, Spec>(
            "updates_name_their_version",
            "an update names the version that was seen last, and a new Lease names none",
            &["election:LK-2", "election:LK-4"],
            |_, _, said, right| {
                bodies(said, right, |body| body["metadata"]["resourceVersion"].clone())
            },
        ),
        at_every_call::<Leases, Spec>(
            "records_are_written_as_they_are",
            "a record is written field by field, with six digits in its times, and without the \
             fields that it lacks",
            &["election:LK-11", "election:LK-12"],
            |_, _, said, right| bodies(said, right, |body| only(&body["spec"], RECORD)),
        ),
        at_every_call::<Leases, Spec>(
            "each_is_sent_once",
            "a call sends one request, whatever the result, and takes no turns with others",
            &["election:LK-6", "election:LK-29"],
            |_, _, said, right| said.sent.len() == right.sent.len(),
        ),
        at_every_call::<Leases, Spec>(
            "calls_are_bounded",
            "a call sends its time-out to the server, and gives a silent server up",
            &["election:LK-6", "election:LK-28"],
            |_, _, said, _| {
                let is_bounded = |(line, _): &(String, _)| line.ends_with("?timeout=5s");
                said.told != "hangs" && said.sent.iter().all(is_bounded)
            },
        ),
        at_every_call::<Leases, Spec>(
            "tells_what_became_of_it",
            "a call returns the record and its version, or what a failure means for an election",
            &[
                "election:LK-3",
                "election:LK-11",
                "election:LK-29",
                "election:RQ-70",
                "election:RQ-84",
            ],
            |_, _, said, right| said.told == right.told,
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

/// Compares a part of all Leases that are sent.
fn bodies(said: &Said, right: &Said, part: fn(&Value) -> Value) -> bool {
    let mut both = said.sent.iter().zip(&right.sent);
    both.all(|((_, said), (_, right))| said.as_ref().map(part) == right.as_ref().map(part))
}
