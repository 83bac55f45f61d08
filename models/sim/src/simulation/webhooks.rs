//! The webhooks of a simulation, which answer in this process, and the faults that strike them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use super::Simulation;
use super::driver::lock;
use super::plan::Fault;
use super::requests::Pending;
use super::trace::What;
use super::world::Outside;
use crate::apiserver::{Answer, Attempt, Request, Server, Step, WebhookCall, WebhookReply};
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
        match place.or_else(|| self.0.get(&call.to.host)) {
            Some(answers) => WebhookReply::review(&answers(&call.review)),
            None => tower::unknown(call),
        }
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
    /// Until when nobody listens.
    down: BTreeMap<String, Duration>,
    /// The requests that wait for one.
    pub(crate) pending: BTreeMap<u64, Pending>,
}

/// What happens to a call.
enum Struck {
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
    /// Counts a call, and lets the faults strike that wait for it.
    fn strike_call(&mut self, call: &WebhookCall) -> Struck {
        let (name, now) = (&call.webhook, self.now());
        let count = self.hooks.calls.entry(name.clone()).or_default();
        *count += 1;
        let (number, mut slow) = (*count, Duration::ZERO);
        let is_due = |fault: &Fault| match fault {
            Fault::WebhookDown { webhook, call, .. } | Fault::WebhookSlow { webhook, call, .. } => {
                webhook == name && *call == number
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

    /// Lets a request be answered at once; a webhook that is too slow fails.
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
                        let reply = match self.strike_call(&call) {
                            Struck::Down => refused(&call),
                            Struck::Slow(time) if time >= call.timeout => WebhookReply::late(),
                            Struck::Slow(_) => self.hooks.all.answer(&call),
                        };
                        attempt.reply(call, reply);
                    }
                }
            }
        }
    }
}

/// Calls the webhooks of a run, outside its lock and in its time.
pub(crate) fn caller(world: &Arc<Mutex<Outside>>) -> tower::Webhooks {
    let world = world.clone();
    tower::Webhooks::reaching(Arc::new(move |call| {
        let mut outside = lock(&world);
        let (struck, all) = (outside.strike_call(&call), outside.hooks.all.clone());
        drop(outside);
        Box::pin(async move {
            match struck {
                Struck::Down => return refused(&call),
                Struck::Slow(time) if time.is_zero() => {}
                Struck::Slow(time) => tokio::time::sleep(time).await,
            }
            all.answer(&call)
        })
    }))
}

fn refused(call: &WebhookCall) -> WebhookReply {
    let (host, port) = (&call.to.host, call.to.port);
    WebhookReply::Failed(format!("dial tcp {host}:{port}: connect: connection refused"))
}
