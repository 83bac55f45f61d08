//! What a delivery touches, and which deliveries commute.

use std::time::Duration;

use serde_json::Value;

use crate::apiserver::{Request, Server};
use crate::simulation::trace::Asked;

/// A delivery that waits: the news of a watch, or a request. It keeps its id for as long as it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Id {
    News(u64),
    Request(u64),
}

/// The objects of a resource that are touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    One(String),
    /// One that nobody knows yet: its name is drawn.
    New,
    All,
}

impl Reach {
    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => true,
            (Self::One(one), Self::One(other)) => one == other,
            _ => false,
        }
    }
}

/// What is done to the objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// A watch tells all that it has not told yet.
    Tells,
    Reads(Reach),
    Writes(Reach),
}

/// A request on its way to the server, or what a watch has to tell.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    pub(crate) id: Id,
    pub(crate) process: usize,
    pub(crate) since: Duration,
    pub(crate) resource: String,
    pub(crate) act: Act,
    /// Somebody may see in which order the objects of the resource were written.
    pub(crate) is_ordered: bool,
    /// The server has objects by which it decides about writes of others, such as quotas, or the test has rules
    /// about the states between them.
    pub(crate) is_bound: bool,
    /// The delivery as a person would call it.
    pub(crate) text: String,
}

/// Whether two deliveries commute.
pub(crate) type Relation = fn(&Delivery, &Delivery) -> bool;

impl Delivery {
    /// A request that leaves its process.
    pub(crate) fn of(server: &Server, request: &Request, (process, number): (usize, u64)) -> Self {
        let asked = Asked::of(server, request);
        let is_read = matches!(request.method.as_str(), "GET" | "HEAD");
        let mut reach = match asked.key.as_str() {
            "" if request.method == "POST" => created(request),
            "" => Reach::All,
            key => Reach::One(key.to_owned()),
        };
        if request.path.ends_with("/eviction") {
            reach = Reach::All; // it looks at budgets, which know of other pods
        }
        Self {
            id: Id::Request(number),
            process,
            since: server.now(),
            text: asked.text().replace(" -> no answer", ""),
            resource: asked.resource,
            act: if is_read { Act::Reads(reach) } else { Act::Writes(reach) },
            is_ordered: false,
            is_bound: false,
        }
    }

    /// Whether it may change what the server thinks of any other request.
    fn is_for_all(&self) -> bool {
        matches!(self.act, Act::Writes(_)) && is_for_all(&self.resource)
    }
}

/// The object that a request creates.
fn created(request: &Request) -> Reach {
    let Ok(body) = serde_json::from_slice::<Value>(&request.body) else { return Reach::All };
    let Some(name) = body["metadata"]["name"].as_str() else { return Reach::New };
    let mut parts = request.path.split('/').skip_while(|it| *it != "namespaces").skip(1);
    Reach::One(parts.next().map_or(name.to_owned(), |namespace| format!("{namespace}/{name}")))
}

/// The groups and resources that decide about requests for other objects.
const GROUPS: [&str; 4] = [
    ".admissionregistration.k8s.io",
    ".apiextensions.k8s.io",
    ".apiregistration.k8s.io",
    ".rbac.authorization.k8s.io",
];
const RESOURCES: [&str; 6] = [
    "limitranges",
    "namespaces",
    "nodes",
    "priorityclasses.scheduling.k8s.io",
    "resourcequotas",
    "storageclasses.storage.k8s.io",
];

fn is_for_all(resource: &str) -> bool {
    RESOURCES.contains(&resource) || GROUPS.iter().any(|it| resource.ends_with(it))
}

/// Whether an object of this resource makes two writes of other objects depend on each other.
pub(crate) fn binds(resource: &str) -> bool {
    resource == "resourcequotas" || resource.ends_with(GROUPS[0])
}

/// Whether the order of two deliveries makes no difference, but for times and what the server counts and
/// draws. Those of one process never commute: it may do this or that by the first. A watch tells all that
/// there is, so a write of its resource comes before that or after it. Reads commute. Writes of different
/// objects do, unless somebody sees them in their order: a watch, one that may be opened from a list, or a rule of
/// the test. Where a quota may count a write, the write is one of the quota, too.
pub(crate) fn commute(one: &Delivery, other: &Delivery) -> bool {
    if one.process == other.process || one.is_for_all() || other.is_for_all() {
        return false;
    }
    let is_same = one.resource == other.resource;
    let counts = |it: &Delivery, by: &Delivery| it.is_bound && by.resource == "resourcequotas";
    match (&one.act, &other.act) {
        (Act::Tells | Act::Reads(_), Act::Tells | Act::Reads(_)) => true,
        (Act::Writes(_), Act::Writes(_)) if one.is_bound || other.is_bound => false,
        (_, Act::Writes(_)) if counts(other, one) => false,
        (Act::Writes(_), _) if counts(one, other) => false,
        _ if !is_same => true,
        (Act::Tells, Act::Writes(_)) | (Act::Writes(_), Act::Tells) => false,
        (Act::Writes(a), Act::Writes(b)) => !one.is_ordered && !other.is_ordered && !a.meets(b),
        (Act::Reads(a), Act::Writes(b)) | (Act::Writes(a), Act::Reads(b)) => !a.meets(b),
    }
}
