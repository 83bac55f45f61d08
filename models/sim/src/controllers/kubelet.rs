//! The one node of the cluster, and the life of the pods on it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Client, Found, Place, is_terminating, text};
use super::pods;

/// How the containers of a pod end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With the exit code 0.
    Success,
    /// With another exit code.
    Failure,
}

/// The life of the pods that have these labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The labels, all of which a pod must have; none are all pods.
    pub labels: BTreeMap<String, String>,
    /// How long it takes from the creation until the containers run.
    pub starts_after: Duration,
    /// How long it takes from then until the pod is ready; never if none.
    pub ready_after: Option<Duration>,
    /// How long the containers run and how they end, if they do.
    pub ends: Option<(Duration, End)>,
    /// How many containers, one after the other, end like that; those after them run on. None are
    /// all of them.
    pub times: Option<u32>,
}

impl Default for Plan {
    /// Runs and is ready after a second each, and never ends.
    fn default() -> Self {
        let second = Duration::from_secs(1);
        Self {
            labels: BTreeMap::new(),
            starts_after: second,
            ready_after: Some(second),
            ends: None,
            times: None,
        }
    }
}

impl Plan {
    fn fits(&self, pod: &Value) -> bool {
        self.labels.iter().all(|(key, value)| pod["metadata"]["labels"][key] == value.as_str())
    }
}

/// The node's record of a pod.
#[derive(Clone, Debug)]
struct Known {
    plan: Plan,
    /// When the containers start, or started.
    starts: Duration,
    restarts: u32,
}

/// The node. The first plan that fits a pod is its plan; one without any becomes ready after two
/// seconds, and succeeds after another if it is not to be started again.
#[derive(Clone, Debug, Default)]
pub struct Kubelet {
    /// The plans, which count for pods that are seen for the first time from now on.
    pub plans: Vec<Plan>,
    known: BTreeMap<String, Known>,
    due: Option<Duration>,
}

/// Between the end of a container and its next start.
const PAUSE: Duration = Duration::from_secs(10);

impl Kubelet {
    pub(super) fn due(&self) -> Option<Duration> {
        self.due
    }

    pub(super) fn turn(&mut self, client: &mut Client<'_>) {
        let place = pods::place();
        let Some(pods) = client.list(&place, "") else { return };
        if !pods.is_empty() {
            register(client);
        }
        self.due = None;
        let uids: Vec<_> = pods.iter().map(|pod| text(pod, "uid")).collect();
        self.known.retain(|uid, _| uids.contains(&uid.as_str()));
        for pod in &pods {
            if is_terminating(pod) || pods::has_ended(pod) {
                continue;
            }
            let status = self.status(client, pod);
            if pod["spec"]["nodeName"].is_null() {
                let target = json!({"kind": "Node", "name": NODE});
                let binding = json!({"metadata": {"name": text(pod, "name")}, "target": target});
                client.create(&format!("{}/binding", place.path_of(pod)), &binding);
            } else {
                client.set_status(&place, pod, &status);
            }
        }
    }

    /// Remembers when something happens next.
    fn expect(&mut self, at: Duration) {
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
    }

    fn plan(&self, pod: &Value) -> Plan {
        let plan = self.plans.iter().find(|plan| plan.fits(pod)).cloned();
        plan.unwrap_or_else(|| {
            let is_task =
                matches!(pod["spec"]["restartPolicy"].as_str(), Some("Never" | "OnFailure"));
            let ends = is_task.then_some((Duration::from_secs(2), End::Success));
            Plan { ends, ..Plan::default() }
        })
    }

    fn status(&mut self, client: &Client<'_>, pod: &Value) -> Value {
        let (now, uid) = (client.now, text(pod, "uid").to_owned());
        if !self.known.contains_key(&uid) {
            let plan = self.plan(pod);
            let starts = now + plan.starts_after;
            self.known.insert(uid.clone(), Known { plan, starts, restarts: 0 });
        }
        let Some(mut known) = self.known.get(&uid).cloned() else { return Value::Null };
        let policy = pod["spec"]["restartPolicy"].as_str().unwrap_or("Always").to_owned();
        let ended = loop {
            let ends = known
                .plan
                .ends
                .filter(|_| known.plan.times.is_none_or(|times| known.restarts < times));
            match ends {
                Some((after, end)) if known.starts + after <= now => {
                    let again = policy == "Always" || policy == "OnFailure" && end == End::Failure;
                    if !again {
                        break Some(end);
                    }
                    known.restarts += 1;
                    known.starts += after + PAUSE;
                }
                Some((after, _)) => {
                    self.expect(known.starts + after);
                    break None;
                }
                None => break None,
            }
        };
        let ready = known.plan.ready_after.map(|after| known.starts + after);
        for at in [Some(known.starts), ready].into_iter().flatten() {
            if at > now && ended.is_none() {
                self.expect(at);
            }
        }
        let state = State {
            runs: known.starts <= now,
            is_ready: ready.is_some_and(|at| at <= now),
            ended,
            restarts: known.restarts,
        };
        self.known.insert(uid, known);
        state.status(client, pod)
    }
}

const NODE: &str = "node-1";

/// Makes the node if it is missing, and sets it ready unless it has conditions already.
fn register(client: &mut Client<'_>) {
    let place = Place { is_namespaced: false, ..Place::new("/api/v1", "nodes", "Node") };
    let node = match client.get(&format!("{}/{NODE}", place.path(""))) {
        Found::Object(node) => Some(node),
        Found::Absent => {
            let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}});
            client.create(&place.path(""), &node)
        }
        Found::Unknown => None,
    };
    if let Some(node) = node.filter(|it| it["status"]["conditions"].is_null()) {
        let ready = json!({
            "type": "Ready", "status": "True", "reason": "KubeletReady",
            "lastHeartbeatTime": client.stamp(), "lastTransitionTime": client.stamp(),
        });
        client.set_status(&place, &node, &json!({"conditions": [ready]}));
    }
}

/// The state of a pod at a moment.
struct State {
    runs: bool,
    is_ready: bool,
    ended: Option<End>,
    restarts: u32,
}

impl State {
    fn status(&self, client: &Client<'_>, pod: &Value) -> Value {
        let phase = match self.ended {
            Some(End::Success) => "Succeeded",
            Some(End::Failure) => "Failed",
            None if self.runs || self.restarts > 0 => "Running",
            None => "Pending",
        };
        let is_ready = self.is_ready && self.ended.is_none();
        let mut status = pod["status"].clone();
        let began = status["startTime"].as_str().map(str::to_owned);
        status["phase"] = phase.into();
        status["startTime"] = began.unwrap_or_else(|| client.stamp()).into();
        status["hostIP"] = "10.0.0.1".into();
        status["conditions"] = [
            ("PodScheduled", true),
            ("Initialized", true),
            ("ContainersReady", is_ready),
            ("Ready", is_ready),
        ]
        .into_iter()
        .map(|(kind, holds)| pods::condition(client, pod, kind, holds, ""))
        .collect();
        let containers = pod["spec"]["containers"].as_array().into_iter().flatten();
        let containers = containers.map(|container| self.container(client, pod, container));
        status["containerStatuses"] = containers.collect();
        status
    }

    fn container(&self, client: &Client<'_>, pod: &Value, container: &Value) -> Value {
        let old = pod["status"]["containerStatuses"].as_array().into_iter().flatten();
        let old = old.into_iter().find(|it| it["name"] == container["name"]);
        let since = |state: &str, field: &str| -> Value {
            let old = old.filter(|it| it["restartCount"] == self.restarts);
            let since = old.and_then(|it| it["state"][state].get(field)).cloned();
            since.unwrap_or_else(|| client.stamp().into())
        };
        let code = i32::from(self.ended == Some(End::Failure));
        let reason = if code == 0 { "Completed" } else { "Error" };
        let state = if self.ended.is_some() {
            let at = since("terminated", "finishedAt");
            json!({"terminated": {"exitCode": code, "reason": reason, "finishedAt": at}})
        } else if self.runs {
            json!({"running": {"startedAt": since("running", "startedAt")}})
        } else if self.restarts > 0 {
            json!({"waiting": {"reason": "CrashLoopBackOff"}})
        } else {
            json!({"waiting": {"reason": "ContainerCreating"}})
        };
        json!({
            "name": container["name"], "image": container["image"], "imageID": "",
            "ready": self.is_ready && self.ended.is_none(), "restartCount": self.restarts,
            "started": self.runs && self.ended.is_none(), "state": state,
        })
    }
}
