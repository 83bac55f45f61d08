//! A server with its controllers, and the objects that they work on.

use std::time::Duration;

use seatrial_sim::apiserver::{Answer, Options, Request, Server};
use seatrial_sim::controllers::Controllers;
use serde_json::{Value, json};

pub(crate) const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
pub(crate) const SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";
pub(crate) const STATEFUL: &str = "/apis/apps/v1/namespaces/default/statefulsets";
pub(crate) const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
pub(crate) const PODS: &str = "/api/v1/namespaces/default/pods";
pub(crate) const HOUR: Duration = Duration::from_secs(3600);

pub(crate) struct Cluster {
    pub(crate) server: Server,
    pub(crate) controllers: Controllers,
    pub(crate) now: Duration,
}

impl Cluster {
    pub(crate) fn new() -> Self {
        let server = Server::new(&Options::default());
        Self { server, controllers: Controllers::all(), now: Duration::ZERO }
    }

    pub(crate) fn send(&mut self, request: &Request) -> (u16, Value) {
        match self.server.handle(self.now, request) {
            Answer::Response(response) => {
                (response.status, response.json().cloned().unwrap_or(Value::Null))
            }
            other => panic!("no response: {other:?}"),
        }
    }

    pub(crate) fn create(&mut self, path: &str, body: &Value) -> Value {
        let (status, object) = self.send(&Request::new("POST", path).json(body));
        assert_eq!(status, 201, "{object}");
        object
    }

    pub(crate) fn get(&mut self, path: &str) -> Value {
        self.send(&Request::new("GET", path)).1
    }

    pub(crate) fn list(&mut self, path: &str) -> Vec<Value> {
        self.get(path)["items"].as_array().cloned().unwrap_or_default()
    }

    pub(crate) fn names(&mut self, path: &str) -> Vec<String> {
        let name = |it: &Value| it["metadata"]["name"].as_str().unwrap_or("").to_owned();
        self.list(path).iter().map(name).collect()
    }

    pub(crate) fn patch(&mut self, path: &str, patch: &Value) {
        let request = Request::new("PATCH", path);
        let request = request.content("application/merge-patch+json", patch.to_string());
        assert_eq!(self.send(&request).0, 200);
    }

    pub(crate) fn delete(&mut self, path: &str, policy: &str) {
        let request = Request::new("DELETE", &format!("{path}?propagationPolicy={policy}"));
        assert!(self.send(&request).0 < 300);
    }

    pub(crate) fn settle(&mut self) {
        assert!(self.controllers.settle(&mut self.server, self.now));
    }

    /// Goes on to the next time at which something happens; none if nothing will.
    pub(crate) fn tick(&mut self) -> bool {
        self.settle();
        let due = self.controllers.due();
        self.now = due.unwrap_or(self.now);
        due.is_some()
    }

    pub(crate) fn run(&mut self) {
        let end = self.now + HOUR;
        self.now = self.controllers.run(&mut self.server, self.now, end);
        assert!(self.now < end, "it does not become quiet");
    }
}

pub(crate) fn workload(name: &str, replicas: usize) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "c", "image": "i:1"}]},
            },
        },
    })
}

pub(crate) fn other_image() -> Value {
    json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i:2"}]}}}})
}

pub(crate) fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|it| it["type"] == "Ready" && it["status"] == "True")
}

pub(crate) fn image(pod: &Value) -> &str {
    pod["spec"]["containers"][0]["image"].as_str().unwrap_or("")
}

pub(crate) fn job(backoff: u32) -> Value {
    let pod = json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]});
    json!({
        "metadata": {"name": "j"},
        "spec": {
            "completions": 3, "parallelism": 2, "backoffLimit": backoff, "template": {"spec": pod},
        },
    })
}
