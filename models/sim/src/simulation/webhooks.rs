//! The webhooks of a simulation, which answer in this process, and the faults that strike them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use super::Simulation;
use super::driver::lock;
use super::panics;
use super::plan::Fault;
use super::requests::Pending;
use super::state::State;
use super::trace::{What, Who};
use super::world::Outside;
use crate::apiserver::{Answer, Attempt, Request, Server, Step, User, WebhookCall, WebhookReply};
use crate::tower;

/// What a webhook says to a review.
type Answers = dyn Fn(&Value) -> Value + Send + Sync;

/// The webhooks by host.
#[derive(Clone, Default)]
pub(crate) struct Webhooks(BTreeMap<String, Arc<Answers>>);

impl fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Webhooks {
    fn answer(&self, call: &WebhookCall) -> WebhookReply {
        let place = self.0.get(&format!("{}:{}", call.to.host, call.to.port));
        let Some(answers) = place.or_else(|| self.0.get(&call.to.host)) else {
            return tower::unknown(call);
        };
        let answer = panics::apart(|| WebhookReply::review(&answers(&call.review)));
        // A webhook that panics hangs up.
        answer.unwrap_or_else(|| WebhookReply::Failed("EOF".to_owned()))
    }

    /// Lets a server answer a request, without faults.
    pub(crate) fn handle(&self, server: &mut Server, request: &Request) -> Answer {
        server.handle_with(server.now(), request, &mut |call| self.answer(call))
    }
}

/// The webhooks of a run.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    pub(crate) all: Webhooks,
    /// How often each was called.
    pub(crate) calls: BTreeMap<String, u32>,
    /// Those that a request may do without.
    pub(crate) ignored: BTreeSet<String>,
    /// Until when nobody listens.
    pub(crate) down: BTreeMap<String, Duration>,
    /// The requests that wait for one.
    pub(crate) pending: BTreeMap<u64, Pending>,
}

/// What happens to a call.
pub(crate) enum Struck {
    Down,
    Slow(Duration),
}

impl Simulation {
    /// Answers the webhooks at a host, for admission or conversion: the function is given each
    /// `AdmissionReview` or `ConversionReview`, and returns the one with the response. The host is that of the
    /// URL, or `name.namespace.svc` for a service, with its port or without. The configuration or the
    /// definition that names it is [`given`](Self::given). Faults name a webhook as its configuration does, and
    /// one that converts by the name of the definition.
    #[must_use]
    pub fn webhook(
        mut self,
        host: &str,
        answer: impl Fn(&Value) -> Value + Send + Sync + 'static,
    ) -> Self {
        self.setup.webhooks.0.insert(host.to_owned(), Arc::new(answer));
        self
    }
}

impl Outside {
    /// Counts a call, and lets the faults strike that wait for it. What is answered at once has no time for a
    /// webhook that is slow, but for one that is too slow.
    pub(crate) fn strike_call(&mut self, call: &WebhookCall, is_at_once: bool) -> Struck {
        let (name, now) = (&call.webhook, self.now());
        if is_ignored(&self.server, call) {
            self.hooks.ignored.insert(name.clone());
        }
        let count = self.hooks.calls.entry(name.clone()).or_default();
        *count += 1;
        let (number, mut slow) = (*count, Duration::ZERO);
        let is_due = |fault: &Fault| match fault {
            Fault::WebhookDown { webhook, call, .. } => webhook == name && *call == number,
            Fault::WebhookSlow { webhook, call: of, seconds } => {
                let is_late = Duration::from_secs((*seconds).into()) >= call.timeout;
                webhook == name && *of == number && (is_late || !is_at_once)
            }
            _ => false,
        };
        let all = std::mem::take(&mut self.faults).into_iter();
        let (due, rest): (Vec<_>, Vec<_>) = all.partition(is_due);
        self.faults = rest;
        for fault in due {
            self.note(What::Struck { text: fault.to_string() });
            match fault {
                Fault::WebhookDown { seconds, .. } => {
                    let until = now + Duration::from_secs(seconds.into());
                    self.hooks.down.insert(name.clone(), until);
                }
                Fault::WebhookSlow { seconds, .. } => slow = Duration::from_secs(seconds.into()),
                _ => {}
            }
        }
        match self.hooks.down.get(name) {
            Some(until) if now < *until => Struck::Down,
            _ => Struck::Slow(slow),
        }
    }

    /// Lets a request be answered at once, where no webhook can be reached.
    pub(crate) fn settle(
        &mut self,
        mut step: impl FnMut(&mut Self, &mut Attempt) -> Step,
    ) -> Answer {
        let mut attempt = Attempt::default();
        loop {
            match step(self, &mut attempt) {
                Step::Answered(answer) => return answer,
                Step::Waits(calls) => {
                    for call in calls {
                        let reply = tower::unknown(&call);
                        attempt.reply(call, reply);
                    }
                }
            }
        }
    }
}

/// Lets a request of a run be answered at once; a webhook that is too slow fails. Webhooks are called outside the
/// lock: they may look at the world.
fn settle(
    world: &Mutex<Outside>,
    mut step: impl FnMut(&mut Outside, &mut Attempt) -> Step,
) -> Answer {
    let mut attempt = Attempt::default();
    loop {
        let mut outside = lock(world);
        let calls = match step(&mut outside, &mut attempt) {
            Step::Answered(answer) => return answer,
            Step::Waits(calls) => calls,
        };
        let strike = |call: WebhookCall| (outside.strike_call(&call, true), call);
        let calls: Vec<_> = calls.into_iter().map(strike).collect();
        let all = outside.hooks.all.clone();
        drop(outside);
        for (struck, call) in calls {
            let reply = match struck {
                Struck::Down => refused(&call),
                Struck::Slow(time) if time >= call.timeout => WebhookReply::late(),
                Struck::Slow(_) => all.answer(&call),
            };
            attempt.reply(call, reply);
        }
    }
}

/// Sends a request of the user, and returns the answer.
pub(crate) fn user(world: &Mutex<Outside>, request: Request) -> Answer {
    let request = request.by(User::admin());
    let answer = settle(world, |it, attempt| it.server.attempt(it.now(), &request, attempt));
    lock(world).absorb(Who::User);
    answer
}

/// A process is dead. Requests that it had sent arrive all the same.
pub(crate) fn bury(world: &Mutex<Outside>, own: usize) {
    // A server lets go what waits for a webhook when its client hangs up.
    lock(world).hooks.pending.retain(|_, it| it.process != own);
    loop {
        let mut outside = lock(world);
        outside.current = own;
        let now = outside.now();
        let sent = outside.travelling.iter().find(|it| it.1.0 == own).map(|it| *it.0);
        let Some(pending) = sent.and_then(|it| outside.begin(now, it)) else {
            return outside.close_all(own);
        };
        drop(outside);
        let answer = settle(world, |it, attempt| it.answer(now, &pending, attempt));
        drop(lock(world).end(now, pending, answer));
    }
}

/// Whether a request goes on if this webhook does not answer.
fn is_ignored(server: &Server, call: &WebhookCall) -> bool {
    let state = State::of(server);
    ["mutating", "validating"].into_iter().any(|kind| {
        let resource = format!("{kind}webhookconfigurations.admissionregistration.k8s.io");
        let configuration = state.get(&resource, &call.configuration);
        let hooks = configuration.and_then(|it| it["webhooks"].as_array()).into_iter().flatten();
        hooks.into_iter().any(|it| it["name"] == *call.webhook && it["failurePolicy"] == "Ignore")
    })
}

/// Calls the webhooks of a run, outside its lock and in its time.
pub(crate) fn caller(world: &Arc<Mutex<Outside>>) -> tower::Webhooks {
    let (all, world) = (lock(world).hooks.all.clone(), world.clone());
    let answer = Arc::new(move |call| {
        let reply = all.answer(&call);
        Box::pin(std::future::ready(reply)) as tower::Replying
    });
    struck(move |call| lock(&world).strike_call(call, false), answer)
}

/// Lets faults strike the calls of webhooks that somebody answers.
pub(crate) fn struck(
    strike: impl Fn(&WebhookCall) -> Struck + Send + Sync + 'static,
    answer: tower::Caller,
) -> tower::Webhooks {
    tower::Webhooks::reaching(Arc::new(move |call| {
        let (struck, answer) = (strike(&call), Arc::clone(&answer));
        Box::pin(async move {
            match struck {
                Struck::Down => return refused(&call),
                Struck::Slow(time) if time.is_zero() => {}
                Struck::Slow(time) => tokio::time::sleep(time).await,
            }
            answer(call).await
        })
    }))
}

fn refused(call: &WebhookCall) -> WebhookReply {
    let (host, port) = (&call.to.host, call.to.port);
    WebhookReply::Failed(format!("dial tcp {host}:{port}: connect: connection refused"))
}
