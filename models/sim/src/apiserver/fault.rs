//! Faults between a client and its server, as data: the same faults at the same requests give the
//! same run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Server;
use super::http::{Answer, Request};
use super::negotiate;
use super::route::Target;
use super::status::Failure;
use super::store::Key;

/// A fault: the requests that it applies to, which of them it strikes, and its effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The requests.
    pub at: Point,
    /// How many of them go well before.
    #[serde(default)]
    pub after: u32,
    /// How many of them are struck then.
    pub times: u32,
    /// The effect on each of them.
    pub what: Trouble,
}

/// A pattern of requests; a part that is left out matches anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Point {
    /// `GET`, `POST` and so on; `READ` and `WRITE` match all reads and all writes.
    pub method: Option<String>,
    /// The resource as in paths, such as `configmaps`.
    pub resource: Option<String>,
    /// The object.
    pub name: Option<String>,
}

/// The effects of faults on a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Trouble {
    /// It is not carried out, and this is the answer.
    Refuse {
        /// The status, such as 409, 410, 429, 500, 503 or 504.
        status: u16,
        /// When the client may come again, in seconds.
        #[serde(default)]
        retry_after: Option<u32>,
    },
    /// An admission webhook refuses it, for this reason. Reads are not struck.
    Deny(String),
    /// It would make a new object, and is refused if its namespace has that many of its resource.
    Quota(usize),
    /// The storage takes no write, as an etcd without space. Reads are not struck.
    ReadOnly,
    /// It never arrives.
    LoseRequest,
    /// It is carried out, and the answer never arrives.
    LoseAnswer,
    /// It is carried out twice, as a network may deliver it, and the second answer arrives.
    Repeat,
    /// The answer takes so much longer, as by a slow admission webhook.
    Delay(Duration),
    /// A server answers that is that many revisions behind. Writes are not struck.
    Stale(u64),
    /// From now on and for this long, reads are answered by a server that is some revisions behind.
    Lag {
        /// How many revisions.
        by: u64,
        /// How long.
        time: Duration,
    },
    /// From now on the server's clock is this many seconds ahead of the caller's.
    Skew(u32),
    /// Before it, the watches of its resource break off.
    CutWatches,
    /// From now on and for this long, the watches of its resource say nothing.
    SilenceWatches(Duration),
    /// Before it, the storage is compacted at its newest revision.
    Compact,
    /// Before it, the server restarts: the stored objects are kept, and every watch breaks off.
    Restart,
}

impl Fault {
    /// A client reads a state that is `by` revisions old, as from a replica that lags.
    pub fn stale_state(resource: &str, by: u64) -> Self {
        let at = Point::of("READ", resource);
        Self { at, after: 0, times: 1, what: Trouble::Stale(by) }
    }

    /// A client does not learn of the write after the first `writes` ones: it is left in the middle
    /// of what it was about to do.
    pub fn intermediate_state(resource: &str, writes: u32) -> Self {
        let at = Point::of("WRITE", resource);
        Self { at, after: writes, times: 1, what: Trouble::LoseAnswer }
    }

    /// No watch tells of the writes of this time after the next write as they happen. A client sees
    /// their final result, but not the states in between.
    pub fn unobserved_state(resource: &str, silence: Duration) -> [Self; 2] {
        let at = Point::of("WRITE", resource);
        let begin = Self { at, after: 0, times: 1, what: Trouble::SilenceWatches(silence) };
        let end = Self { what: Trouble::Compact, after: 1, ..begin.clone() };
        [begin, end]
    }
}

impl Point {
    /// The requests to a resource with a method.
    pub fn of(method: &str, resource: &str) -> Self {
        Self { method: Some(method.to_owned()), resource: Some(resource.to_owned()), name: None }
    }

    fn is_struck(&self, method: &str, target: Option<&Target>) -> bool {
        let is_read = method == "GET";
        let fits = match self.method.as_deref() {
            None => true,
            Some("READ") => is_read,
            Some("WRITE") => !is_read,
            Some(wanted) => wanted == method,
        };
        let resource = target.map(|it| it.resource.plural.as_str());
        let name = target.and_then(|it| it.name.as_deref());
        let is_one = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| Some(wanted) == found)
        };
        fits && is_one(&self.resource, resource) && is_one(&self.name, name)
    }
}

/// A fault that waits for its requests.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    fault: Fault,
    seen: u32,
}

impl Server {
    /// Adds a fault. Faults that were added before strike first.
    pub fn inject(&mut self, fault: Fault) {
        self.faults.push(Pending { fault, seen: 0 });
    }

    /// The faults that have not struck as often as they are to.
    pub fn pending_faults(&self) -> usize {
        self.faults.len()
    }

    /// The troubles that strike a request.
    fn troubles(&mut self, request: &Request, target: Option<&Target>) -> Vec<Trouble> {
        let mut troubles = Vec::new();
        for pending in &mut self.faults {
            if pending.fault.at.is_struck(&request.method, target) {
                pending.seen += 1;
                if pending.seen > pending.fault.after {
                    troubles.push(pending.fault.what.clone());
                }
            }
        }
        self.faults.retain(|it| it.seen < it.fault.after.saturating_add(it.fault.times));
        troubles
    }

    /// Answers a request that something may go wrong with.
    pub(super) fn handle_with_faults(&mut self, request: &Request) -> Answer {
        let target = Target::parse(&self.registry, &request.path).ok();
        let troubles = self.troubles(request, target.as_ref());
        let (mut delay, mut is_lost, mut stale, mut repeats) = (Duration::ZERO, false, None, false);
        for trouble in troubles {
            if let Some(failure) = self.refusal(&trouble, request, target.as_ref()) {
                return Answer::Response(negotiate::told(request, failure.response()));
            }
            match trouble {
                Trouble::Refuse { .. }
                | Trouble::Deny(_)
                | Trouble::Quota(_)
                | Trouble::ReadOnly => {}
                Trouble::LoseRequest => return Answer::Lost,
                Trouble::LoseAnswer => is_lost = true,
                Trouble::Repeat => repeats = true,
                Trouble::Delay(time) => delay += time,
                Trouble::Stale(by) => stale = Some(by),
                Trouble::Lag { by, time } => self.lag = Some((by, self.now.saturating_add(time))),
                Trouble::Skew(seconds) => self.skew = Duration::from_secs(seconds.into()),
                Trouble::CutWatches => self.cut_watches(target.as_ref()),
                Trouble::SilenceWatches(time) => self.silence_watches(target.as_ref(), time),
                Trouble::Compact => self.compact(self.store.revision),
                Trouble::Restart => self.cut_watches(None),
            }
        }
        if repeats {
            self.answer_request(request);
        }
        let lag = self.lag.filter(|(_, until)| self.now < *until).map(|(by, _)| by);
        let mut answer = match stale.or(lag).filter(|_| request.method == "GET") {
            Some(by) => {
                let revision = self.store.revision.saturating_sub(by);
                self.late(revision, |server| server.answer_request(request))
            }
            None => self.answer_request(request),
        };
        if let Answer::Response(response) | Answer::Watch { head: response, .. } = &mut answer {
            response.after += delay;
        }
        if is_lost { Answer::Lost } else { answer }
    }

    /// The failure with which a trouble refuses a request, if it refuses it.
    fn refusal(
        &self,
        trouble: &Trouble,
        request: &Request,
        target: Option<&Target>,
    ) -> Option<Box<Failure>> {
        let is_write = request.method != "GET";
        match trouble {
            Trouble::Refuse { status, retry_after } => Some(refused(*status, *retry_after)),
            Trouble::Deny(why) if is_write => {
                let why =
                    format!("admission webhook \"fault.seatrial.dev\" denied the request: {why}");
                Some(Failure::new(403, "Forbidden", why))
            }
            Trouble::ReadOnly if is_write => {
                Some(Failure::internal("etcdserver: mvcc: database space exceeded"))
            }
            Trouble::Quota(most) if request.method == "POST" => {
                self.over_quota(*most, request, target?)
            }
            _ => None,
        }
    }

    fn over_quota(&self, most: usize, request: &Request, target: &Target) -> Option<Box<Failure>> {
        let resource = target.resource.qualified();
        let prefix = Key::new(&target.namespace, "").0;
        let objects = self.store.objects(&resource);
        let used = objects.iter().filter(|(key, _)| key.0.starts_with(&*prefix)).count();
        let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let name = body["metadata"]["name"].as_str().unwrap_or("");
        (used >= most).then(|| {
            let count = format!("count/{resource}");
            let why = format!(
                "{resource} \"{name}\" is forbidden: exceeded quota: fault, requested: {count}=1, used: {count}={used}, limited: {count}={most}"
            );
            Failure::new(403, "Forbidden", why)
        })
    }
}

/// A failure as a real server tells it.
fn refused(status: u16, retry_after: Option<u32>) -> Box<Failure> {
    let (reason, message) = match status {
        400 => ("BadRequest", "the server rejected our request for an unknown reason"),
        401 => ("Unauthorized", "Unauthorized"),
        403 => ("Forbidden", "the request is forbidden"),
        404 => ("NotFound", "the server could not find the requested resource"),
        409 => (
            "Conflict",
            "the object has been modified; please apply your changes to the latest version and try again",
        ),
        410 => ("Expired", "too old resource version"),
        413 => ("RequestEntityTooLarge", "the request is too large"),
        422 => ("Invalid", "the server rejected our request due to an error in our request"),
        429 => (
            "TooManyRequests",
            "the server has received too many requests and has asked us to try again later",
        ),
        503 => ("ServiceUnavailable", "the server is currently unable to handle the request"),
        504 => (
            "Timeout",
            "the server was unable to return a response in the time allotted, but may still be processing the request",
        ),
        _ => ("InternalError", "an error on the server has prevented the request from succeeding"),
    };
    let mut failure = Failure::new(status, reason, message);
    failure.details = retry_after.map(|seconds| serde_json::json!({"retryAfterSeconds": seconds}));
    failure
}
