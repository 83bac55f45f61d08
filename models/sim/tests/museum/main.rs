//! Two bugs of operators for each pattern of partial histories (stale, intermediate, unobserved), as
//! small reconcilers on kube-rs. The default plan convicts each; the repaired version holds.

mod intermediate;
#[path = "../on_kube/mod.rs"]
mod on_kube;
mod orders;
mod speed;
mod stale;
mod systems;
mod unobserved;
mod webhooks;
mod wishes;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Pod};
use kube::api::{Api, DeleteParams, ObjectMeta, PostParams, Preconditions};
use kube::runtime::Controller;
use kube::runtime::controller::Action;
use kube::runtime::watcher;
use kube::{Client, Error, Resource, ResourceExt as _};
use seatrial_sim::simulation::{Failure, Plan, Simulation, untimed};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The context of every reconciler here.
pub(crate) struct Context {
    pub(crate) client: Client,
    pub(crate) is_repaired: bool,
}

impl Context {
    /// The objects of a kind.
    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>,
    {
        Api::default_namespaced(self.client.clone())
    }
}

/// Runs a reconciler for the objects of a kind, as a `main` would.
pub(crate) async fn run<K, F>(
    context: Context,
    config: watcher::Config,
    reconcile: fn(Arc<K>, Arc<Context>) -> F,
) where
    K: Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>
        + Clone
        + Debug
        + DeserializeOwned
        + Send
        + Sync
        + 'static,
    K::DynamicType: Eq + Hash + Clone,
    F: Future<Output = Result<Action, Error>> + Send + 'static,
{
    let again = |_: Arc<K>, _: &Error, _: Arc<Context>| Action::requeue(Duration::from_secs(5));
    let controller = Controller::new(context.api::<K>(), config);
    controller.run(reconcile, again, Arc::new(context)).for_each(|_| async {}).await;
}

/// Creates an object unless there is one of its name.
pub(crate) async fn ensure<K>(api: &Api<K>, object: &K) -> Result<(), Error>
where
    K: Clone + Debug + DeserializeOwned + Resource + Serialize,
{
    match api.create(&PostParams::default(), object).await {
        Ok(_) => Ok(()),
        Err(Error::Api(status)) if status.code == 409 => Ok(()),
        Err(error) => Err(error),
    }
}

/// Deletes an object if it is still the same one, by its uid.
pub(crate) async fn remove<K>(api: &Api<K>, object: &K) -> Result<(), Error>
where
    K: Clone + Debug + DeserializeOwned + Resource,
{
    let preconditions = Some(Preconditions { uid: object.uid(), resource_version: None });
    let params = DeleteParams { preconditions, ..DeleteParams::default() };
    match api.delete(&object.name_any(), &params).await {
        Ok(_) => Ok(()),
        Err(Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(error),
    }
}

pub(crate) fn named(name: &str, labels: &[(&str, &str)]) -> ObjectMeta {
    let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    ObjectMeta {
        name: Some(name.to_owned()),
        labels: Some(labels.collect()),
        ..ObjectMeta::default()
    }
}

pub(crate) fn config_map(name: &str, data: &[(&str, &str)]) -> ConfigMap {
    let data = data.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let data = Some(data.collect::<BTreeMap<_, _>>());
    ConfigMap { metadata: named(name, &[]), data, ..ConfigMap::default() }
}

pub(crate) fn claim(name: &str, labels: &[(&str, &str)]) -> PersistentVolumeClaim {
    let spec =
        json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    PersistentVolumeClaim { metadata: named(name, labels), ..typed(json!({"spec": spec})) }
}

pub(crate) fn pod(name: &str, labels: &[(&str, &str)]) -> Pod {
    let spec = json!({"containers": [{"name": "main", "image": "example"}]});
    Pod { metadata: named(name, labels), ..typed(json!({"spec": spec})) }
}

pub(crate) fn typed<K: DeserializeOwned>(value: Value) -> K {
    let mut value = value;
    value["metadata"] = json!({});
    serde_json::from_value(value).expect("the object is as its kind wants it")
}

pub(crate) fn label<'a, K: Resource>(object: &'a K, name: &str) -> &'a str {
    object.meta().labels.as_ref().and_then(|it| it.get(name)).map_or("", String::as_str)
}

/// The default plan convicts it, by a plan of one fault, and so does that plan alone: here and in fresh
/// processes, each of which runs the test of that name again. `SEATRIAL_REPLAYS` is the number of each.
pub(crate) fn convict(
    test: &str,
    simulation: impl Fn() -> Simulation,
    fault: &str,
) -> Box<Failure> {
    if std::env::var_os("SEATRIAL_REPLAY").is_some() {
        // In a fresh process, the failure is the output.
        simulation().check();
    }
    let began = Instant::now();
    let failure = simulation().try_check().expect_err("the default plan convicts it");
    let (seconds, held) = (began.elapsed().as_secs_f64(), failure.held);
    println!("{failure}");
    assert_eq!(failure.inadmissible, None);
    assert_eq!(failure.plan.faults.len(), 1, "{}", failure.plan);
    assert!(held < 50, "it is found early: {held}");
    assert!(failure.plan.to_string().starts_with(fault), "{}", failure.plan);
    assert!(failure.picture.contains(">>>>>>>>>> FAULT"), "the fault is marked");
    let replays = std::env::var("SEATRIAL_REPLAYS").ok().and_then(|it| it.parse().ok());
    let replays: u32 = replays.unwrap_or(2);
    for _ in 0..replays {
        let again = simulation().replay(&failure.plan.to_string()).try_check();
        assert_eq!(again.expect_err("it fails again").violations, failure.violations);
        assert_eq!(replayed(test, &failure.plan), told(&failure.to_string()));
    }
    println!(
        "{test}: found in {seconds:.3} s after {held} plans that hold; one fault; replayed {replays} of {replays} in fresh processes"
    );
    failure
}

/// The failure that a fresh process reports for a plan.
fn replayed(test: &str, plan: &Plan) -> String {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args([test, "--exact", "--nocapture"]).env("RUST_BACKTRACE", "0");
    let output = command.env("SEATRIAL_REPLAY", plan.to_string()).output().expect("it runs");
    assert!(!output.status.success(), "it holds in a fresh process");
    told(&String::from_utf8_lossy(&output.stderr))
}

/// The violations, and the picture: without times, which may differ at the level `ordered`.
fn told(text: &str) -> String {
    let (_, told) = text.split_once("this one fails: ").expect("a failure");
    let ends = ["\nit also fails so", "\nanother failure", "\nto see it again"];
    let end = ends.iter().filter_map(|it| told.find(it)).min().unwrap_or(told.len());
    untimed(&told[..end])
}
