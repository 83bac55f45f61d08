//! The server as a machine.
//!
//! [`Server::handle`] takes the time and a request and gives an [`Answer`]. A watch is pulled:
//! [`Server::events`] yields what it has to say since it was last asked. A copy of a server shares
//! its content with the original and costs next to nothing, so a checker may branch anywhere.

mod access;
mod admission;
mod bounds;
mod builtin;
mod catalogue;
mod cause;
mod clock;
mod commit;
mod conversion;
mod crd;
mod create;
mod decode;
mod delete;
mod described;
mod discovery;
mod ending;
mod event;
mod fault;
mod field;
mod history;
mod http;
mod jsonpath;
mod kinds;
mod label;
mod list;
mod metadata;
mod mistake;
mod negotiate;
mod openapi;
mod options;
mod patching;
mod pods;
mod random;
mod read;
mod resource;
mod route;
mod rules;
mod scale;
mod schema;
mod status;
mod store;
mod stored;
mod table;
mod token;
mod twin;
mod typed;
mod types;
mod update;
mod versions;
mod watch;

#[cfg(doctest)]
#[doc = include_str!("../../../../docs/apiserver.md")]
struct Guide;

use std::sync::Arc;
use std::time::Duration;

pub use access::{Attributes, Decision, User};
#[cfg_attr(not(feature = "ordered"), allow(unused_imports, reason = "simulations ask"))]
pub(crate) use access::{Noted, Policy, Rule, cluster_role};
pub use admission::{Address, Attempt, Step, WebhookCall, WebhookReply};
pub(crate) use clock::stamp;
pub use fault::{Fault, Point, Trouble};
pub use history::Written;
pub use http::{Answer, Body, Request, Response, WatchId};
pub(crate) use label::Labels;
pub use mistake::{
    ACCESS_MISTAKES, ADMISSION_MISTAKES, CONVERSION_MISTAKES, KIND_MISTAKES, MISTAKES, Mistake,
};
use mistake::{Change, Slip};
use options::Writing;
pub(crate) use random::Random;
use resource::Registry;
pub use resource::Resource;
use route::Target;
pub(crate) use rules::enumerated;
use serde_json::json;
pub(crate) use status::Failure;
use status::Outcome;
#[cfg_attr(not(feature = "ordered"), allow(unused_imports, reason = "simulations ask"))]
pub(crate) use store::Key;
use store::Store;
#[cfg(feature = "ordered")]
pub(crate) use store::{Objects, Stored};
pub(crate) use token::read as read_token;
pub(crate) use typed::kind as type_of_kind;
pub(crate) use types::Type;
pub use watch::{Events, WatchEvent};

use crate::map::Map;
use crate::names;
use crate::protobuf;

/// The options of a new server.
#[derive(Clone, Debug)]
pub struct Options {
    /// Decides uids and generated names.
    pub seed: u64,
    /// The time of its first objects, since the Unix epoch.
    pub begins_at: Duration,
    /// The revision of the storage before the first write; older ones are compacted.
    pub revision: u64,
    /// How often the states that are older than that are made unreadable; never if it is none.
    pub compacts_every: Option<Duration>,
    /// How many revisions may be readable. More are compacted at once, so that memory is bounded.
    pub history: u64,
}

impl Default for Options {
    fn default() -> Self {
        let compacts_every = Some(Duration::from_secs(5 * 60));
        let begins_at = Duration::ZERO;
        Self { seed: 0, begins_at, revision: 1_000, compacts_every, history: 10_000 }
    }
}

/// The largest body that is read.
pub(crate) const LARGEST: usize = 3 * 1024 * 1024;

/// A server and everything in it.
#[derive(Clone, Debug)]
pub struct Server {
    registry: Registry,
    store: Store,
    /// The newest state, while an older one answers.
    newest: Option<Store>,
    random: Random,
    watches: Map<u64, watch::Watch>,
    next_watch: u64,
    now: Duration,
    compaction: Compaction,
    faults: Vec<fault::Pending>,
    /// How many revisions behind the server that answers reads is, and until when.
    lag: Option<(u64, Duration)>,
    /// How far the clock is ahead of the caller's.
    skew: Duration,
    mistake: Option<Mistake>,
    /// Who may do what, if that is asked.
    access: Option<access::Access>,
    issued: access::Issued,
    hooks: admission::Hooks,
    shown: conversion::Shown,
    /// What webhooks have said about the request under way.
    asking: Option<Box<admission::Asking>>,
}

/// When the storage is compacted next, and up to where.
#[derive(Clone, Debug)]
struct Compaction {
    every: Option<Duration>,
    history: u64,
    /// The time and the revision of the last look.
    mark: (Duration, u64),
}

/// A request on its way.
struct Call<'a> {
    request: &'a Request,
    target: Target,
    warnings: Vec<String>,
    /// Who makes it; nobody knows if nobody asks.
    user: Option<Arc<User>>,
}

impl Call<'_> {
    fn resource(&self) -> &Resource {
        &self.target.resource
    }

    /// The name in the path; empty if there is none.
    fn name(&self) -> &str {
        self.target.name.as_deref().unwrap_or("")
    }

    fn key(&self) -> Key {
        Key::new(&self.target.namespace, self.name())
    }
}

impl Server {
    /// A server with the namespaces that every cluster has.
    pub fn new(options: &Options) -> Self {
        let mut server = Self {
            registry: catalogue::registry(),
            store: Store::new(options.revision),
            newest: None,
            random: Random::new(options.seed),
            watches: Map::default(),
            next_watch: 1,
            now: options.begins_at,
            compaction: Compaction {
                every: options.compacts_every,
                history: options.history.max(1),
                mark: (options.begins_at, options.revision),
            },
            faults: Vec::new(),
            lag: None,
            skew: Duration::ZERO,
            mistake: None,
            access: None,
            issued: access::Issued::default(),
            hooks: admission::Hooks::default(),
            shown: conversion::Shown::default(),
            asking: None,
        };
        for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
            let body = json!({"metadata": {"name": name}});
            let request = Request::new("POST", "/api/v1/namespaces").json(&body);
            server.handle(options.begins_at, &request);
        }
        server
    }

    /// The same server, except that it makes a mistake from now on.
    #[must_use]
    pub fn with_mistake(mut self, mistake: Mistake) -> Self {
        self.mistake = Some(mistake);
        if let Change::Resource(change) = mistake.change {
            self.registry.change(change);
        }
        self
    }

    /// The mistake inside a rule that this server makes.
    fn slip(&self) -> Option<Slip> {
        match self.mistake?.change {
            Change::Inside(slip) => Some(slip),
            _ => None,
        }
    }

    fn slips(&self, slip: Slip) -> bool {
        self.slip() == Some(slip)
    }

    /// Answers a request. `now` is the time since the Unix epoch; it never runs backwards. Nobody calls
    /// webhooks: for that there are [`attempt`](Self::attempt) and [`handle_with`](Self::handle_with).
    pub fn handle(&mut self, now: Duration, request: &Request) -> Answer {
        self.advance(now);
        self.carry_out(request)
    }

    fn carry_out(&mut self, request: &Request) -> Answer {
        if self.faults.is_empty() && self.lag.is_none() {
            self.answer_request(request)
        } else {
            self.handle_with_faults(request)
        }
    }

    fn answer_request(&mut self, request: &Request) -> Answer {
        let mut changed;
        let request = match self.mistake.map(|it| it.change) {
            Some(Change::Request(change)) => {
                changed = request.clone();
                change(&mut changed);
                &changed
            }
            _ => request,
        };
        let answer = self.dispatch(request);
        let mut answer = answer.unwrap_or_else(|failure| Answer::Response(failure.response()));
        if let Answer::Response(response) = answer {
            answer = Answer::Response(negotiate::told(request, response));
        }
        if let Some(Change::Response(change)) = self.mistake.map(|it| it.change)
            && let Answer::Response(response) = &mut answer
        {
            change(response);
        }
        answer
    }

    /// Lets time pass.
    pub fn advance(&mut self, now: Duration) {
        self.now = self.now.max(now.saturating_add(self.skew));
        let Compaction { every, history, mark } = self.compaction;
        if every.is_some_and(|every| self.now.saturating_sub(mark.0) >= every) {
            self.compaction.mark = (self.now, self.store.revision);
            self.compact(mark.1);
        }
        if self.store.revision - self.store.compacted > history {
            self.compact(self.store.revision - history / 2);
        }
        if let Some(revision) = self.store.too_heavy() {
            // Watches that have not seen it end, as those of slow clients do.
            self.store.compact(revision, u64::MAX);
            self.store.forgotten = self.store.compacted;
            self.store.revision += 1;
        }
    }

    /// The revision of the newest write.
    pub fn revision(&self) -> u64 {
        self.store.revision
    }

    /// Makes the states before a revision unreadable. The servers of a cluster tell each other of
    /// that through the storage, so it is a write as well.
    pub fn compact(&mut self, revision: u64) {
        let ended = self.watches.iter().filter(|(_, watch)| watch.deadline <= self.now);
        for id in ended.map(|(id, _)| *id).collect::<Vec<_>>() {
            // No client has read it to its end.
            self.watches.remove(&id);
        }
        let needed = self.watches.iter().map(|(_, watch)| watch.seen).min();
        self.store.compact(revision, needed.unwrap_or(u64::MAX));
        self.store.revision += 1;
    }

    /// Everything that is served and stored.
    pub fn resources(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.registry.iter().filter(|it| !it.is_question())
    }

    fn dispatch(&mut self, request: &Request) -> Outcome<Answer> {
        let user = self.admit(request)?;
        self.serve(request, user)
    }

    /// Answers a request that may be made.
    fn serve(&mut self, request: &Request, user: Option<Arc<User>>) -> Outcome<Answer> {
        if let Some(answer) = discovery::answer(&self.registry, request) {
            return answer.map(Answer::Response);
        }
        let target = Target::parse(&self.registry, &request.path)?;
        decode::fits(request)?;
        let mut call = Call { request, target, warnings: Vec::new(), user };
        if request.method == "PATCH" {
            patching::check_format(&call)?;
        }
        let (view, is_binary) = negotiate::View::wanted(request, call.resource())?;
        let answer = match self.answer(&mut call, view) {
            Ok(answer) => answer,
            Err(failure) => Answer::Response(failure.response()),
        };
        Ok(match answer {
            Answer::Response(response) => {
                let object = request.parameter("includeObject");
                let shown = negotiate::Shown { resource: call.resource(), now: self.now, object };
                let mut response = view.apply(&shown, response);
                response.warn(&call.warnings);
                let is_binary = is_binary && response.status < 400;
                Answer::Response(if is_binary { response.into_protobuf() } else { response })
            }
            Answer::Watch { id, mut head } if is_binary => {
                head.headers[0].1 = format!("{};stream=watch", protobuf::MEDIA_TYPE);
                Answer::Watch { id, head }
            }
            other => other,
        })
    }

    fn answer(&mut self, call: &mut Call<'_>, view: negotiate::View) -> Outcome<Answer> {
        let (has_name, sub) = (call.target.name.is_some(), call.target.subresource.clone());
        let asks = call.request.parameter("watch").is_some_and(options::boolean);
        let method = call.request.method.as_str();
        if call.target.is_watch && method != "GET" {
            return Err(Failure::method_not_allowed());
        }
        let response = match (method, has_name, sub.as_deref()) {
            ("POST", false, None) if call.resource().is_question() => self.ask(call),
            _ if call.resource().is_question() => Err(Failure::method_not_allowed()),
            ("GET", _, None) if call.target.is_watch => return self.open_watch(call, view),
            ("GET", false, None) if asks => return self.open_watch(call, view),
            ("GET", false, None) => self.list(call),
            ("GET", true, Some("scale")) => self.get_scale(call),
            ("PUT" | "PATCH", true, Some("scale")) => self.put_scale(call),
            ("POST", true, Some(sub)) if pods::posted(call.resource(), sub).is_some() => {
                self.ask_object(call, sub)
            }
            (_, true, Some(sub)) if pods::posted(call.resource(), sub).is_some() => {
                Err(Failure::method_not_allowed())
            }
            ("GET", true, _) => self.get(call),
            ("POST", false, None) => self.post(call),
            ("PUT", true, _) => self.put(call),
            ("PATCH", true, _) => self.patch(call),
            ("DELETE", true, None) => self.delete(call),
            ("DELETE", false, None) => self.delete_collection(call),
            _ => Err(Failure::method_not_allowed()),
        };
        response.map(Answer::Response)
    }

    fn writing(call: &Call<'_>, kind: &str) -> Outcome<Writing> {
        Writing::parse(call.request, kind, false)
    }
}
