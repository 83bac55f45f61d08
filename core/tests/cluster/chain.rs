//! A controller of two processes, from end to end: each competes for a Lease; the one that leads
//! follows Deployments, queues their names, and writes their status. One process is killed.

use std::env;
use std::num::NonZeroUsize;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use seatrial_core::cancel::CancelToken;
use seatrial_core::elector::{Bounds, Callbacks, Config, Elector, Leadership, LeaseLock, Timing};
use seatrial_core::informer::{Change, Informer, ObjectChange};
use seatrial_core::limited_queue::LimitedQueue;
use seatrial_core::pool::{Action, Attempt, Fault, Pool, Reconcile};
use seatrial_core::request::{Collection, Leases, RequestError, Verb};
use seatrial_core::runtime::{Runtime, System};
use seatrial_core::store::{Described, Metadata};
use seatrial_sim::apiserver::{Request, Trouble};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::bed::{self, Address, Cluster, Http};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases/controller";

const TIMING: Timing = Timing {
    lease: Duration::from_secs(3),
    renew: Duration::from_secs(1),
    retry: Duration::from_millis(50),
};

/// The test below, which starts itself as processes of its own.
const TEST: &str = "chain::when_the_process_that_leads_is_killed_the_other_does_its_work";

/// A process with this name takes part in the election.
const NAME: &str = "SEATRIAL_REPLICA";

#[derive(Deserialize, Debug)]
struct Deployment(Value);

impl Described for Deployment {
    fn metadata(&self) -> Option<Metadata<'_>> {
        let text = |field: &str| self.0["metadata"][field].as_str();
        Some(Metadata {
            namespace: text("namespace")?,
            name: text("name")?,
            uid: text("uid")?,
            resource_version: text("resourceVersion")?,
        })
    }
}

type Deployments = Informer<Arc<Deployment>>;

/// One process of the controller.
struct Replica {
    system: System,
    client: Arc<Http>,
    name: String,
}

impl Callbacks<System> for Replica {
    fn started_leading(&self, leadership: &Leadership<System>) {
        let system = &self.system;
        let request = self.client.request(Verb::Get, "/apis/apps/v1").resource("deployments");
        let source = Arc::new(Collection::new(&self.client, request));
        let informer: Arc<Deployments> = Arc::new(Informer::new(system, source));
        let queue = Arc::new(LimitedQueue::with_default_limiter(system));
        let (stop, mut changes) = (CancelToken::new(system), informer.subscribe());
        let following = system.spawn("informer", {
            let (informer, stop) = (Arc::clone(&informer), stop.clone());
            move || informer.run(&stop).expect("it runs once")
        });
        let queueing = system.spawn("changes", {
            let queue = Arc::clone(&queue);
            move || {
                while let Ok(change) = changes.next() {
                    queue.add(key_of(&change));
                }
            }
        });
        let worker = Worker {
            client: Arc::clone(&self.client),
            informer,
            stop: stop.clone(),
            name: self.name.clone(),
        };
        let workers = NonZeroUsize::new(2).expect("two");
        let pool = Pool::start(system, &queue, workers, worker);
        leadership.wait();
        stop.cancel();
        system.join(following).expect("the informer ends");
        system.join(queueing).expect("the changes end");
        assert!(pool.shut_down(Duration::from_secs(10)).is_complete());
    }

    fn stopped_leading(&self) {}
}

fn key_of(change: &ObjectChange<Arc<Deployment>>) -> String {
    match change {
        Change::Added { object, .. } | Change::Updated { new: object, .. } => {
            object.key().expect("it has a name")
        }
        Change::Deleted(last) => {
            seatrial_core::store::metadata_key_of_last_state(last).expect("it had a name")
        }
    }
}

struct Worker {
    client: Arc<Http>,
    informer: Arc<Deployments>,
    stop: CancelToken,
    name: String,
}

impl Reconcile<String> for Worker {
    type Error = RequestError;

    fn reconcile(&self, key: &String, _: Attempt<'_>) -> Result<Action, Fault<RequestError>> {
        let Some(deployment) = self.informer.store().get(key) else { return Ok(Action::Done) };
        let mut object = deployment.0.clone();
        if object["status"]["observedGeneration"] == object["metadata"]["generation"] {
            return Ok(Action::Done);
        }
        let by = json!({ "type": "Available", "status": "True", "message": self.name });
        object["status"] = json!({
            "observedGeneration": object["metadata"]["generation"], "conditions": [by],
        });
        let (namespace, name) = key.split_once('/').expect("it is in a namespace");
        let request = self.client.request(Verb::Put, "/apis/apps/v1").namespace(namespace);
        let request = request.resource("deployments").name(name).sub_resource(&["status"]);
        self.client.send_blocking(&request.body_json(&object), &self.stop)?;
        Ok(Action::Done)
    }
}

/// Competes until the process is killed, or its starter is gone.
fn replica(name: String) {
    std::thread::spawn(|| {
        drop(std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
        std::process::exit(0);
    });
    let address = Address::given().expect("the test tells it");
    let (system, tokio) = (System::new(), bed::tokio());
    let client = || address.client(&tokio);
    let lock = LeaseLock::new(Leases::new(client(), &TIMING), "default", "controller");
    let bounds = Bounds::default().work(Duration::from_millis(500));
    let config = Config::new(name.as_str()).timing(TIMING).bounds(bounds);
    let elector = Elector::new(&system, lock, config).unwrap();
    let client = Arc::new(client());
    let replica = Arc::new(Replica { system, client, name });
    elector.run(&CancelToken::new(&system), &replica).unwrap();
}

/// A process, which does not outlive its test.
struct Process(Child);

impl Process {
    fn start(cluster: &Cluster, name: &str) -> Self {
        let mut command = Command::new(env::current_exe().expect("this program"));
        command.args(["--exact", TEST, "--nocapture"]);
        command.env(NAME, name).envs(cluster.address.environment());
        Self(command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn create(cluster: &Cluster, name: &str) {
    let pod = json!({
        "metadata": { "labels": { "a": "b" } }, "spec": { "containers": [{ "name": "c", "image": "i" }] },
    });
    let spec = json!({ "selector": { "matchLabels": { "a": "b" } }, "template": pod });
    cluster.post(DEPLOYMENTS, &json!({ "metadata": { "name": name }, "spec": spec }));
}

/// Waits until a process has written the status of a Deployment in its newest generation.
fn wait_for(cluster: &Cluster, name: &str, by: &str) {
    cluster.wait_for(&Request::new("GET", &format!("{DEPLOYMENTS}/{name}")), |object| {
        let status = &object["status"];
        let is_new = status["observedGeneration"] == object["metadata"]["generation"];
        is_new && status["conditions"][0]["message"] == by
    });
}

#[test]
fn when_the_process_that_leads_is_killed_the_other_does_its_work() {
    if let Ok(name) = env::var(NAME) {
        return replica(name);
    }
    let cluster = Cluster::start();
    ["a", "b"].into_iter().for_each(|name| create(&cluster, name));
    let first = Process::start(&cluster, "first");
    wait_for(&cluster, "a", "first");
    wait_for(&cluster, "b", "first");
    let _second = Process::start(&cluster, "second");

    // What goes wrong on the way is made good on the way.
    cluster.strike("PUT", "deployments", Trouble::Refuse { status: 409, retry_after: None });
    cluster.strike("GET", "leases", Trouble::LoseAnswer);
    cluster.strike("POST", "deployments", Trouble::CutWatches);
    create(&cluster, "c");
    wait_for(&cluster, "c", "first");

    drop(first);
    create(&cluster, "d");
    let scaled = json!({ "spec": { "replicas": 2 } }).to_string();
    let patch = Request::new("PATCH", &format!("{DEPLOYMENTS}/a"));
    cluster.ask(&patch.content("application/merge-patch+json", scaled));
    wait_for(&cluster, "a", "second");
    wait_for(&cluster, "d", "second");
    let lease = cluster.get(LEASE);
    assert_eq!(lease["spec"]["holderIdentity"], "second");
    assert_eq!(lease["spec"]["leaseTransitions"], 1);
    assert_eq!(
        cluster.get(&format!("{DEPLOYMENTS}/b"))["status"]["conditions"][0]["message"],
        "first",
        "what is done is not done again"
    );
}
