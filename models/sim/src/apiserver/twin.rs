//! One storage behind two APIs: an `Event` of the core group is one of `events.k8s.io`, which has other
//! names for some fields.
//!
//! Each API has a table of its own. A write to one goes to the other at the same revision, so lists,
//! watches and states of the past need not know of it.

use serde_json::{Map, Value};

use super::builtin;
use super::types::{self, Type};

/// Fields as the core group names them, and as the other API does.
const NAMES: [(&str, &str); 7] = [
    ("count", "deprecatedCount"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("involvedObject", "regarding"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
];

/// One of the two APIs.
#[derive(Debug)]
pub(crate) struct Face {
    /// The name of its table.
    pub(crate) table: &'static str,
    version: &'static str,
    of: &'static Type,
}

static CORE: Face = Face { table: "events", version: "v1", of: &builtin::EVENT };
static OTHER: Face =
    Face { table: "events.events.k8s.io", version: "events.k8s.io/v1", of: &builtin::NEW_EVENT };

/// The other API of what lies in a table, if there is one.
pub(crate) fn other(table: &str) -> Option<&'static Face> {
    match table {
        it if it == CORE.table => Some(&OTHER),
        it if it == OTHER.table => Some(&CORE),
        _ => None,
    }
}

/// Whether a table shows what is stored in another one.
pub(crate) fn is_copy(table: &str) -> bool {
    table == OTHER.table
}

impl Face {
    fn is_core(&self) -> bool {
        self.version == CORE.version
    }

    /// An object of the other API as this one shows it.
    pub(crate) fn show(&self, object: &Value) -> Value {
        let mut object = object.clone();
        if let Some(fields) = object.as_object_mut() {
            rename(fields, self.is_core());
            fields.insert("apiVersion".to_owned(), self.version.into());
        }
        // Each API leaves out some empty fields that the other one writes.
        types::read(object.clone(), self.of, &mut Vec::new()).unwrap_or(object)
    }
}

/// An event with the names of the core group.
pub(crate) fn with_core_names(event: &Value) -> Value {
    let mut event = event.clone();
    if let Some(fields) = event.as_object_mut() {
        rename(fields, true);
    }
    event
}

fn rename(fields: &mut Map<String, Value>, to_core: bool) {
    for (core, other) in NAMES {
        let (from, to) = if to_core { (other, core) } else { (core, other) };
        if let Some(value) = fields.remove(from) {
            fields.insert(to.to_owned(), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_one_api_shows_the_other_shows_with_its_names_and_back() {
        let event = json!({
            "kind": "Event", "apiVersion": "v1", "metadata": {"name": "a", "namespace": "default"},
            "involvedObject": {"kind": "Pod"}, "reason": "R", "message": "m",
            "source": {"component": "c"}, "firstTimestamp": "2026-01-01T00:00:00Z",
            "lastTimestamp": null, "count": 3, "eventTime": null,
            "series": {"lastObservedTime": null}, "reportingComponent": "", "reportingInstance": "",
        });
        let shown = OTHER.show(&event);
        let expected = json!({
            "kind": "Event", "apiVersion": "events.k8s.io/v1",
            "metadata": {"name": "a", "namespace": "default"}, "eventTime": null,
            "series": {"count": 0, "lastObservedTime": null}, "reason": "R",
            "regarding": {"kind": "Pod"}, "note": "m", "deprecatedSource": {"component": "c"},
            "deprecatedFirstTimestamp": "2026-01-01T00:00:00Z", "deprecatedLastTimestamp": null,
            "deprecatedCount": 3,
        });
        assert_eq!(shown, expected);
        assert_eq!(CORE.show(&shown), event);
    }
}
