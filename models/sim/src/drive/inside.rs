//! The server of a run as the processes reach it: who asks, and whose connection is cut.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::apiserver::{Answer, Attempt, Failure, Request, Step, WatchId, WebhookCall};
use crate::simulation::Outside;
use crate::simulation::rules::Rules;
use crate::tower::{Backend, Told};

/// What is known of the present life of a process.
#[derive(Debug, Default)]
pub(super) struct Caller {
    /// By it the process is known. Each life has another one, so that what is left of an earlier life is
    /// nobody.
    pub(super) token: String,
    /// It is to be ended, and gets no answer any more.
    pub(super) is_dying: bool,
    /// The resources that it watches, or has watched.
    pub(super) watched: BTreeSet<String>,
    pub(super) requests: u64,
}

/// The world of a run, and the processes in it.
#[derive(Debug)]
pub(super) struct Inside {
    pub(super) outside: Outside,
    pub(super) callers: Vec<Caller>,
    /// When requests came that are work: no watches, renewals or looks at what is served.
    pub(super) work: Vec<Duration>,
    travelling: BTreeMap<u64, usize>,
    strangers: u64,
}

/// A process that looks again and again is at rest after this number of times of rest without a change.
const LOOKS: u32 = 5;
/// The numbers of requests that nobody known has sent begin here.
const STRANGERS: u64 = 1 << 63;

impl Inside {
    pub(super) fn new(outside: Outside, processes: usize) -> Self {
        let callers = (0..processes).map(|_| Caller::default()).collect();
        Self { outside, callers, work: Vec::new(), travelling: BTreeMap::new(), strangers: 0 }
    }

    /// The process that has sent a request, unless its life is over.
    fn caller(&self, request: &Request) -> Option<usize> {
        let token = request.header("Authorization")?.strip_prefix("Bearer ")?.trim();
        self.callers.iter().position(|it| !it.token.is_empty() && it.token == token)
    }

    /// How many processes watch each resource, or have done so in this life.
    pub(super) fn watched(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for resource in self.callers.iter().flat_map(|it| &it.watched) {
            *counts.entry(resource.clone()).or_insert(0) += 1;
        }
        counts
    }

    /// A life is over: a server lets go what waits for a webhook when its client hangs up.
    pub(super) fn bury(&mut self, index: usize) {
        let caller = &mut self.callers[index];
        (caller.is_dying, caller.token) = (false, String::new());
        self.outside.hooks.pending.retain(|_, it| it.process != index);
    }

    /// The process of a watch is the current one.
    fn enter(&mut self, id: WatchId) {
        if let Some((process, _)) = self.outside.watches.get(&id) {
            self.outside.current = *process;
        }
    }

    fn note(&mut self, now: Duration, index: usize, request: &Request) {
        let is_watch = request.parameter("watch").is_some_and(|it| matches!(it, "1" | "true"));
        let Some((resource, _)) = self.outside.server.subject(&request.path) else { return };
        let caller = &mut self.callers[index];
        caller.requests += 1;
        if is_watch {
            caller.watched.insert(resource);
        } else if !Rules::is_noise(&resource) {
            self.work.push(now);
        }
    }
}

/// Of a run in which nothing has happened since then, how many requests a minute it works; none if it is not at
/// rest yet. One that looks again and again needs longer for that.
pub(super) fn rate_at_rest(
    now: Duration,
    since: Duration,
    work: &[Duration],
    rest: Duration,
) -> Option<u32> {
    let calm = now.saturating_sub(since);
    let works = work.last().is_some_and(|it| now.saturating_sub(*it) < rest);
    if calm < rest || works && calm < rest * LOOKS {
        return None;
    }
    let count = work.iter().filter(|it| works && **it >= since).count();
    Some((count as f64 * 60.0 / calm.as_secs_f64()) as u32)
}

impl Backend for Inside {
    fn depart(&mut self, now: Duration, request: Request) -> Option<(Duration, u64)> {
        let Some(index) = self.caller(&request) else {
            self.strangers += 1;
            return Some((Duration::ZERO, STRANGERS + self.strangers));
        };
        if self.callers[index].is_dying {
            return None;
        }
        self.note(now, index, &request);
        self.outside.current = index;
        let (travel, number) = self.outside.depart(now, request)?;
        self.travelling.insert(number, index);
        Some((travel, number))
    }

    fn arrive(&mut self, now: Duration, number: u64) -> Option<Answer> {
        match self.attempt(now, number, &mut Attempt::default())? {
            Step::Answered(answer) => Some(answer),
            Step::Waits(_) => None,
        }
    }

    fn attempt(&mut self, now: Duration, number: u64, attempt: &mut Attempt) -> Option<Step> {
        if number > STRANGERS {
            let answer = Failure::new(401, "Unauthorized", "Unauthorized").response();
            return Some(Step::Answered(Answer::Response(answer)));
        }
        let index = self.travelling.remove(&number)?;
        self.outside.current = index;
        let step = self.outside.attempt(now, number, attempt);
        if let Some(Step::Waits(_)) = step {
            self.travelling.insert(number, index);
        }
        // Only the process that has made this write dies.
        if std::mem::take(&mut self.outside.is_fenced) {
            self.callers[index].is_dying = true;
        }
        step
    }

    fn tell(&mut self, now: Duration, id: WatchId) -> Told {
        self.enter(id);
        self.outside.tell(now, id)
    }

    fn unconverted(
        &mut self,
        now: Duration,
        id: WatchId,
        attempt: &mut Attempt,
    ) -> Vec<WebhookCall> {
        self.enter(id);
        self.outside.unconverted(now, id, attempt)
    }

    fn close(&mut self, id: WatchId) {
        self.outside.close(id);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::apiserver::{Options, Server};
    use crate::simulation::Plan;

    #[test]
    fn a_watch_of_what_a_webhook_converts_asks_for_the_webhook() {
        let version = |name: &str| {
            let schema = json!({"openAPIV3Schema": {"type": "object"}});
            json!({"name": name, "served": true, "storage": name == "v1", "schema": schema})
        };
        let webhook = json!({"conversionReviewVersions": ["v1"],
            "clientConfig": {"url": "https://convert.example.com/"}});
        let definition = json!({
            "metadata": {"name": "foos.example.com"},
            "spec": {"group": "example.com", "scope": "Cluster",
                "names": {"kind": "Foo", "plural": "foos"}, "versions": [version("v1"), version("v2")],
                "conversion": {"strategy": "Webhook", "webhook": webhook}},
        });
        let server = Server::new(&Options::default());
        let outside = Outside::new(server, &Plan::default(), Arc::default(), Arc::default());
        let mut inside = Inside::new(outside, 1);
        inside.callers[0].token = "it".to_owned();
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        inside.outside.user(&Request::new("POST", definitions).json(&definition));
        let (now, seen) = (inside.outside.now(), inside.outside.server.revision());
        let path = format!("/apis/example.com/v2/foos?watch=1&resourceVersion={seen}");
        let watch = Request::new("GET", &path).with_header("Authorization", "Bearer it");
        let (_, number) = inside.depart(now, watch).expect("it leaves");
        let answer = inside.arrive(now, number);
        let Some(Answer::Watch { id, .. }) = answer else { panic!("no watch: {answer:?}") };
        let foo = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"}});
        inside.outside.user(&Request::new("POST", "/apis/example.com/v1/foos").json(&foo));
        let calls = inside.unconverted(now, id, &mut Attempt::default());
        assert_eq!(calls.len(), 1);
    }

    #[test]
    fn who_works_rests_later_and_the_rate_is_that_of_the_rest() {
        let seconds = Duration::from_secs;
        let rate = |now: u64, since: u64, work: &[u64]| {
            let work: Vec<_> = work.iter().copied().map(seconds).collect();
            rate_at_rest(seconds(now), seconds(since), &work, seconds(10))
        };
        assert_eq!([rate(109, 100, &[]), rate(110, 100, &[])], [None, Some(0)]);
        // What it did before is no work of the rest.
        assert_eq!(rate(110, 100, &[50, 99, 100]), Some(0));
        let looks: Vec<u64> = (0..30).map(|it| it * 5).collect();
        assert_eq!(rate(149, 100, &looks), None);
        assert_eq!(rate(150, 100, &looks), Some(12));
        // Something happens in between.
        assert_eq!(rate(150, 149, &looks), None);
    }
}
