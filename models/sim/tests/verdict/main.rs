//! Controllers whose authors must be able to trust the verdict: correct ones hold, each bug is
//! convicted, and a test that says nothing is not a pass.

mod acted;
mod alarms;
mod garbage;
mod hidden;
#[path = "../on_kube/mod.rs"]
mod on_kube;
mod rights;
mod rules;
mod silence;
mod systems;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ObjectMeta, Patch, PatchParams};
use kube::runtime::{Controller, controller::Action, watcher};
use kube::{Client, Error, ResourceExt as _};
use seatrial_sim::simulation::{Failure, Simulation};
use serde_json::{Value, json};

pub(crate) type Done = Result<Action, Error>;

pub(crate) fn config_map(name: &str) -> ConfigMap {
    let labels = BTreeMap::from([("role".to_owned(), "parent".to_owned())]);
    let name = Some(name.to_owned());
    let metadata = ObjectMeta { name, labels: Some(labels), ..ObjectMeta::default() };
    ConfigMap { metadata, ..ConfigMap::default() }
}

pub(crate) fn failure(simulation: Simulation) -> Failure {
    *simulation.try_check().expect_err("something is wrong")
}

/// The same where neither chance nor clocks are under control.
#[cfg(feature = "exact")]
pub(crate) fn by_chance(simulation: Simulation) -> Simulation {
    let (random, clock, ahash, fastrand, hostname) = (false, false, false, false, false);
    let remedies = seatrial_sim::simulation::Remedies { random, clock, ahash, fastrand, hostname };
    simulation.ordered().remedies(remedies)
}

/// The same: nothing is under control anyway.
#[cfg(not(feature = "exact"))]
pub(crate) fn by_chance(simulation: Simulation) -> Simulation {
    simulation.ordered()
}

/// Reconciles the maps of users, as an operator on kube-rs does.
pub(crate) async fn reconciles<F>(client: Client, reconcile: fn(Arc<ConfigMap>, Arc<Client>) -> F)
where
    F: Future<Output = Done> + Send + 'static,
{
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let again =
        |_: Arc<ConfigMap>, _: &Error, _: Arc<Client>| Action::requeue(Duration::from_secs(5));
    let controller = Controller::new(maps, watcher::Config::default().labels("role=parent"));
    controller.run(reconcile, again, Arc::new(client)).for_each(|_| async {}).await;
}

/// Applies the data of a Secret of this name.
pub(crate) async fn apply(client: &Client, name: &str, data: Value) -> Result<(), Error> {
    let secrets: Api<k8s_openapi::api::core::v1::Secret> = Api::default_namespaced(client.clone());
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data,
    });
    let params = PatchParams::apply("verdict").force();
    secrets.patch(name, &params, &Patch::Apply(secret)).await.map(drop)
}

/// Notes something in an annotation of a map.
pub(crate) async fn note(client: &Client, map: &ConfigMap, what: Value) -> Result<(), Error> {
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let patch = Patch::Merge(json!({"metadata": {"annotations": what}}));
    maps.patch(&map.name_any(), &PatchParams::default(), &patch).await.map(drop)
}
