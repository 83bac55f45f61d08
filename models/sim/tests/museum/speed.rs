//! How fast the default plan is: three kinds, ten writes.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Pod, Secret};
use kube::api::{Patch, PatchParams};
use kube::runtime::controller::Action;
use kube::runtime::watcher;
use kube::{Error, ResourceExt as _};
use seatrial_sim::simulation::Simulation;
use serde_json::json;

use super::on_kube::on_kube;
use super::{Context, claim, config_map, ensure, named, pod, run};

/// Makes three of each kind, and notes on the parent that they are there.
async fn three_of_each(parent: Arc<ConfigMap>, context: Arc<Context>) -> Result<Action, Error> {
    if parent.annotations().contains_key("done") {
        return Ok(Action::await_change());
    }
    let name = parent.name_any();
    for number in 0..3 {
        let name = format!("{name}-{number}");
        let secret = Secret { metadata: named(&name, &[]), ..Secret::default() };
        ensure(&context.api::<Secret>(), &secret).await?;
        ensure(&context.api::<PersistentVolumeClaim>(), &claim(&name, &[])).await?;
        ensure(&context.api::<Pod>(), &pod(&name, &[])).await?;
    }
    let done = Patch::Merge(json!({"metadata": {"annotations": {"done": "yes"}}}));
    context.api::<ConfigMap>().patch(&name, &PatchParams::default(), &done).await?;
    Ok(Action::await_change())
}

fn ten_writes() -> Simulation {
    let context = |client| Context { client, is_repaired: true };
    let simulation =
        on_kube(move |client| run(context(client), watcher::Config::default(), three_of_each));
    simulation.create(&config_map("database", &[])).random(100, 1)
}

#[test]
fn the_default_plan_of_ten_writes_tells_its_speed() {
    let report = ten_writes().check();
    assert_eq!(report.alone, [10, 2, 0], "a crash after every write, a restart at both ends");
    assert_eq!((report.plans, report.planned), (112, 112));
    assert!(report.to_string().contains("plans/s"));
    println!("each once: {}", ten_writes().once().random(20, 1).check());
}
