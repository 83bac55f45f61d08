//! Admission: what is asked before a write, of webhooks and of the server's own rules.
//!
//! The server opens no socket, and nothing waits under its lock. A request whose answer depends on a
//! webhook is tried, and undone as soon as that webhook must be called: [`Server::attempt`] returns the
//! calls. Once their replies are known, the request is tried anew, on the state of that time. A reply
//! counts for the same question only, so a webhook is asked again if another client has changed the
//! object meanwhile, as the real server does.

mod chain;
mod conditions;
mod hook;
mod limits;
mod policy;
mod quota;
mod review;
mod rules;
mod scope;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

pub use hook::Address;
use hook::Hook;
pub(super) use review::Wish;
pub(super) use review::{refused, values};
pub(super) use rules::check_client;
use serde_json::Value;

use super::conversion::{self, Converted, Question};
use super::http::{Answer, Request};
use super::random::Random;
use super::status::Failure;
use super::{Resource, Server};

/// The group of the configurations.
pub(super) const GROUP: &str = "admissionregistration.k8s.io";
pub(super) const MUTATING: &str = "mutatingwebhookconfigurations";
pub(super) const VALIDATING: &str = "validatingwebhookconfigurations";
/// How often a request is tried, while others change what it is about.
const TRIES: u32 = 100;

/// A call of a webhook, which somebody must make before a request can be answered.
#[derive(Clone, Debug, PartialEq)]
pub struct WebhookCall {
    /// The name of the webhook.
    pub webhook: String,
    /// The name of its configuration.
    pub configuration: String,
    /// Where it listens.
    pub to: Address,
    /// Who may have signed its certificate, in PEM; empty for the authorities of the machine.
    pub authorities: Vec<u8>,
    /// How long it may take.
    pub timeout: Duration,
    /// The body: an `AdmissionReview`, or a `ConversionReview`.
    pub review: Value,
}

/// The reply to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookReply {
    /// Something came back.
    Answered {
        /// The status.
        status: u16,
        /// The body.
        body: Vec<u8>,
    },
    /// Nothing came back, for this reason.
    Failed(String),
}

impl WebhookCall {
    /// The same for the same question to the same webhook.
    fn key(&self) -> String {
        let mut review = self.review.clone();
        review["request"]["uid"] = Value::Null;
        let Self { configuration, webhook, to, .. } = self;
        format!("{configuration} {webhook} {to:?} {review}")
    }
}

impl WebhookReply {
    /// The reply with this review as its body.
    pub fn review(review: &Value) -> Self {
        Self::Answered { status: 200, body: review.to_string().into_bytes() }
    }

    /// The reply of a webhook that took too long.
    pub fn late() -> Self {
        Self::Failed("context deadline exceeded".to_owned())
    }
}

/// The result of one try of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// It is carried out, or refused.
    Answered(Answer),
    /// It is not: these webhooks must be called first, all at once.
    Waits(Vec<WebhookCall>),
}

/// A request between two tries: the replies so far, and the chance and the time of the first try.
#[derive(Debug, Default)]
pub struct Attempt {
    begun: Option<(Random, Duration)>,
    pub(super) asking: Asking,
    tries: u32,
}

impl Attempt {
    /// Takes in a reply.
    pub fn reply(&mut self, call: WebhookCall, reply: WebhookReply) {
        match conversion::answers(&call, &reply) {
            Some(answers) => self.asking.converted.extend(answers),
            None => drop(self.asking.replies.insert(call.key(), (call, reply))),
        }
    }
}

/// The replies that a request can count on, and the calls that it lacks.
#[derive(Clone, Debug, Default)]
pub(super) struct Asking {
    /// By the keys of their calls.
    replies: BTreeMap<String, (WebhookCall, WebhookReply)>,
    lacks: Vec<WebhookCall>,
    /// Objects in other versions, and those that it lacks.
    pub(super) converted: BTreeMap<String, Converted>,
    pub(super) unconverted: BTreeMap<String, Question>,
    /// No webhook is asked.
    pub(super) is_exempt: bool,
    /// Where the uids of reviews come from.
    pub(super) chance: Option<Random>,
}

/// All webhooks, in the order in which they are asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Hooks {
    mutating: Arc<Vec<Arc<Hook>>>,
    validating: Arc<Vec<Arc<Hook>>>,
    policies: policy::Policies,
}

impl Hooks {
    fn is_empty(&self) -> bool {
        self.mutating.is_empty() && self.validating.is_empty()
    }
}

impl Server {
    /// Answers a request, or says which webhooks must be called first; it is then as if the request had not
    /// come. Tell `attempt` their replies, and try again with the same request.
    pub fn attempt(&mut self, now: Duration, request: &Request, attempt: &mut Attempt) -> Step {
        let is_read = matches!(request.method.as_str(), "GET" | "HEAD");
        let asks = self.registry.converts() || !(is_read || self.hooks.is_empty());
        if !asks && attempt.begun.is_none() {
            return Step::Answered(self.handle(now, request));
        }
        self.advance(now);
        if attempt.begun.is_none() {
            attempt.asking.chance = Some(self.random.fork());
        }
        let begun = attempt.begun.get_or_insert_with(|| (self.random.fork(), self.now)).clone();
        attempt.tries += 1;
        if attempt.tries > TRIES {
            let why = "request did not complete within requested timeout";
            return Step::Answered(Answer::Response(Failure::new(504, "Timeout", why).response()));
        }
        // What is undone, or panics, has happened to a copy.
        let mut tried = self.clone();
        tried.asking = Some(Box::new(std::mem::take(&mut attempt.asking)));
        (tried.random, tried.now) = begun;
        let answer = tried.carry_out(request);
        let mut asking = tried.asking.take().map(|it| *it).unwrap_or_default();
        let mut lacks = std::mem::take(&mut asking.lacks);
        lacks.extend(conversion::calls(&mut asking));
        attempt.asking = asking;
        if !lacks.is_empty() {
            return Step::Waits(lacks);
        }
        (tried.random, tried.now) = (self.random.clone(), self.now.max(tried.now));
        *self = tried;
        Step::Answered(answer)
    }

    /// Answers a request. The function is asked in place of webhooks.
    pub fn handle_with(
        &mut self,
        now: Duration,
        request: &Request,
        webhooks: &mut dyn FnMut(&WebhookCall) -> WebhookReply,
    ) -> Answer {
        let mut attempt = Attempt::default();
        loop {
            match self.attempt(now, request, &mut attempt) {
                Step::Answered(answer) => return answer,
                Step::Waits(calls) => {
                    for call in calls {
                        let reply = webhooks(&call);
                        attempt.reply(call, reply);
                    }
                }
            }
        }
    }

    /// Answers a request about which no webhook is asked.
    pub(crate) fn handle_exempt(&mut self, now: Duration, request: &Request) -> Answer {
        self.exempt(|server| server.handle(now, request))
    }

    /// Lets something be done about which no webhook is asked.
    pub(super) fn exempt<R>(&mut self, act: impl FnOnce(&mut Self) -> R) -> R {
        let exempt = Asking { is_exempt: true, ..Asking::default() };
        let asking = self.asking.replace(Box::new(exempt));
        let result = catch_unwind(AssertUnwindSafe(|| act(self)));
        self.asking = asking;
        result.unwrap_or_else(|panic| resume_unwind(panic))
    }

    /// Tells whether a webhook must be called before the request under way can be answered.
    pub(super) fn lacks_replies(&self) -> bool {
        let lacks = |it: &Asking| !(it.lacks.is_empty() && it.unconverted.is_empty());
        self.asking.as_ref().is_some_and(|it| lacks(it))
    }

    /// Tells whether there are webhooks.
    pub fn has_webhooks(&self) -> bool {
        !self.hooks.is_empty() || self.registry.converts()
    }

    /// Reads the configurations anew after one of them was written. What has not changed stays compiled.
    pub(super) fn hooked(&mut self, resource: &Resource) {
        if resource.group != GROUP {
            return;
        }
        let read = |plural: &str, known: &[Arc<Hook>]| {
            let mut kept: BTreeMap<*const Value, Vec<Arc<Hook>>> = BTreeMap::new();
            for hook in known {
                kept.entry(Arc::as_ptr(&hook.source)).or_default().push(hook.clone());
            }
            let stored = self.store.objects(&format!("{plural}.{GROUP}"));
            let own =
                |it: &Arc<Value>| kept.remove(&Arc::as_ptr(it)).unwrap_or_else(|| Hook::all(it));
            Arc::new(stored.iter().map(|(_, it)| &it.object).flat_map(own).collect())
        };
        let Hooks { mutating, validating, policies } = &self.hooks;
        let (mutating, validating) = (read(MUTATING, mutating), read(VALIDATING, validating));
        self.hooks = Hooks { mutating, validating, policies: self.read_policies(policies) };
    }
}

/// A resource whose objects are configurations of webhooks.
pub(super) fn configuration(resource: Resource) -> Resource {
    Resource { complete: rules::complete, validate: rules::validate, ..resource }
}

pub(super) use policy::{KINDS as POLICIES, resource as policy};

/// The resource whose objects are limit ranges.
pub(super) fn limit_ranges(resource: Resource) -> Resource {
    Resource { complete: limits::complete, ..resource }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::mistake::{Change, Mistake};
    use super::*;
    use crate::apiserver::{Fault, Options, Response};

    /// A server that panics once it has carried out what is about config maps.
    fn brittle() -> Server {
        let panics = |it: &mut Response| {
            let kind = it.json().and_then(|it| it["kind"].as_str()).unwrap_or("");
            assert!(!kind.starts_with("ConfigMap"), "boom");
        };
        let change = Change::Response(panics);
        Server::new(&Options::default()).with_mistake(Mistake { name: "", traces: "", change })
    }

    #[test]
    fn a_panic_after_the_write_of_a_request_that_waited_leaves_the_server_as_it_was() {
        let mut server = brittle();
        let maps = "/api/v1/namespaces/default/configmaps";
        let hooks = json!([{
            "name": "a.b.c", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"url": "https://example.com/"},
            "rules": [{
                "operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"],
                "resources": ["configmaps"],
            }],
        }]);
        let hooks = json!({"metadata": {"name": "h"}, "webhooks": hooks});
        let path = format!("/apis/{GROUP}/v1/{VALIDATING}");
        server.handle(Duration::from_secs(1), &Request::new("POST", &path).json(&hooks));
        let map = Request::new("POST", maps).json(&json!({"metadata": {"name": "m"}}));
        let mut attempt = Attempt::default();
        let waits = server.attempt(Duration::from_secs(2), &map, &mut attempt);
        let Step::Waits(calls) = waits else { panic!("it does not wait: {waits:?}") };
        let [call] = calls.as_slice() else { panic!("one call: {calls:?}") };
        let response = json!({"uid": call.review["request"]["uid"], "allowed": true});
        let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response});
        attempt.reply(call.clone(), WebhookReply::review(&review));
        let (late, revision) = (Duration::from_secs(90), server.revision());
        let panicked = |server: &mut Server, act: &mut dyn FnMut(&mut Server)| {
            assert!(catch_unwind(AssertUnwindSafe(|| act(server))).is_err());
            let is_clean = server.asking.is_none() && server.newest.is_none();
            assert_eq!((server.now(), server.revision(), is_clean), (late, revision, true));
        };
        panicked(&mut server, &mut |it| drop(it.attempt(late, &map, &mut attempt)));
        let read = Request::new("GET", maps);
        panicked(&mut server, &mut |it| drop(it.handle_exempt(late, &read)));
        server.inject(Fault::stale_state("configmaps", 1));
        panicked(&mut server, &mut |it| drop(it.attempt(late, &read, &mut Attempt::default())));
    }
}
