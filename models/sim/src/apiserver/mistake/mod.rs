//! Servers that get one thing wrong. The recorded traces must notice each of them.
//!
//! Most mistakes are made around the rules: a server that ignores an option is one whose requests
//! lose the option on the way in. [`Slip`]s are the mistakes that can only be made inside.

mod access;
mod admission;
mod kinds;
mod reads;
mod writes;

use serde_json::Value;

use super::http::{Body, Request, Response};
use super::resource::Resource;
use super::watch::WatchEvent;

/// One mistake.
#[derive(Clone, Copy, Debug)]
pub struct Mistake {
    /// The behaviour of the server, as `the_server_...`.
    pub name: &'static str,
    /// The check that notices it: a file of recorded traces, `made-up` programs, or, where both
    /// seldom go, a few `requests` of the tests or the facts about `policies`.
    pub traces: &'static str,
    pub(crate) change: Change,
}

/// The part of the server in which a mistake is made.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    Request(fn(&mut Request)),
    Response(fn(&mut Response)),
    Resource(fn(&mut Resource)),
    /// None: the event is lost.
    Event(fn(WatchEvent) -> Option<WatchEvent>),
    Inside(Slip),
}

/// A mistake inside a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slip {
    NothingIsWritten,
    LabelsCount,
    LastFinalizerIsNothing,
    PagesAreOfNow,
    CompactedIsReadable,
    LeavingIsChanging,
    DeletedKeepsItsVersion,
    WatchesForgive,
    FinalizersMayCome,
    OddIsAsRead,
    StatusNamesKinds,
    JudgesAgain,
    ScalesOwn,
    NamesAreIgnored,
    PartsGoWithTheWhole,
    RolesReachEverywhere,
    GrantsAnything,
    AnybodyIsAnybody,
    ChangesCreate,
    OnlyTheNewIsSelected,
    IgnoredFailuresRefuse,
    LastPatchIsLost,
    ReadsTheCache,
    ManagersKnowOneVersion,
    ReturnsWhatWasSent,
    EveryActionDenies,
    PoliciesComeOnce,
    NothingIsExcluded,
}

const fn inside(name: &'static str, traces: &'static str, slip: Slip) -> Mistake {
    Mistake { name, traces, change: Change::Inside(slip) }
}

const fn request(name: &'static str, traces: &'static str, change: fn(&mut Request)) -> Mistake {
    Mistake { name, traces, change: Change::Request(change) }
}

const fn response(name: &'static str, traces: &'static str, change: fn(&mut Response)) -> Mistake {
    Mistake { name, traces, change: Change::Response(change) }
}

const fn resource(name: &'static str, traces: &'static str, change: fn(&mut Resource)) -> Mistake {
    Mistake { name, traces, change: Change::Resource(change) }
}

type Event = fn(WatchEvent) -> Option<WatchEvent>;

const fn event(name: &'static str, change: Event) -> Mistake {
    Mistake { name, traces: "watch", change: Change::Event(change) }
}

/// The traces are those of made-up programs.
const MADE_UP: &str = "made-up";
const REQUESTS: &str = "requests";
const APPLIES: &str = "application/apply-patch+yaml";

/// All of them, by the [rules](crate::conformance::RULES) that they break.
pub const MISTAKES: &[(&str, &[Mistake])] = &[
    ("create", writes::CREATE),
    ("update", writes::UPDATE),
    ("patch", writes::PATCH),
    ("apply", writes::APPLY),
    ("delete", writes::DELETE),
    ("list", reads::LIST),
    ("watch", reads::WATCH),
    ("lease", writes::LEASE),
];

pub use access::ACCESS as ACCESS_MISTAKES;
pub use admission::ADMISSION as ADMISSION_MISTAKES;
pub use admission::CONVERSION as CONVERSION_MISTAKES;
pub use kinds::KINDS as KIND_MISTAKES;

fn lose(request: &mut Request, parameter: &str) {
    request.query.retain(|(key, _)| key != parameter);
}

fn retype(request: &mut Request, from: &str, to: &str) {
    if request.method != "PATCH" {
        return;
    }
    for (_, value) in request.headers.iter_mut().filter(|(_, value)| value == from) {
        value.replace_range(.., to);
    }
}

/// Changes the body. A body without anything to change stays the same, down to the byte: the
/// effects of another spelling are not a mistake of this kind.
fn edit(request: &mut Request, method: &str, change: impl Fn(&mut Value)) {
    if request.method == method
        && let Ok(body) = serde_json::from_slice::<Value>(&request.body)
    {
        let mut changed = body.clone();
        change(&mut changed);
        if changed != body {
            request.body = changed.to_string().into_bytes();
        }
    }
}

fn forget(body: &mut Value, field: &str) {
    if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove(field);
    }
}

fn say(response: &mut Response, from: u16, to: u16) {
    if response.status == from {
        response.status = to;
    }
}

fn change_body(response: &mut Response, change: impl Fn(&mut Value)) {
    if let Body::Json(body) = &mut response.body {
        change(std::sync::Arc::make_mut(body));
    }
}
