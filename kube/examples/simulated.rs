//! A controller under crashes, replicas that lag and watches that break, without a cluster. Every
//! map gets a Secret with its data, once, and a note that this is done. One version copies first
//! and passes. The other notes first, and the simulation finds its bug. In your crate this would be
//! the body of a `#[test]`.
//!
//! ```text
//! cargo run -p seatrial-kube --example simulated
//! ```

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, ResourceExt};
use seatrial_kube::Tokio;
use seatrial_kube::controller::{Action, Controller};
use seatrial_kube::watcher::Config;
use seatrial_sim::simulation::Simulation;
use serde_json::json;

struct Context {
    client: Client,
    notes_first: bool,
}

async fn reconcile(map: Arc<ConfigMap>, context: Arc<Context>) -> kube::Result<Action> {
    if map.annotations().contains_key("copied") {
        return Ok(Action::Done);
    }
    if context.notes_first {
        note(&map, &context).await?;
        copy(&map, &context).await?;
    } else {
        copy(&map, &context).await?;
        note(&map, &context).await?;
    }
    Ok(Action::Done)
}

async fn copy(map: &ConfigMap, context: &Context) -> kube::Result<()> {
    let name = map.name_any();
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": map.data,
    });
    let secrets: Api<Secret> = Api::default_namespaced(context.client.clone());
    let params = PatchParams::apply("copier");
    secrets.patch(&name, &params, &Patch::Apply(secret)).await.map(drop)
}

async fn note(map: &ConfigMap, context: &Context) -> kube::Result<()> {
    let maps: Api<ConfigMap> = Api::default_namespaced(context.client.clone());
    let patch = Patch::Merge(json!({"metadata": {"annotations": {"copied": "yes"}}}));
    maps.patch(&map.name_any(), &PatchParams::default(), &patch).await.map(drop)
}

async fn operator(client: Client, notes_first: bool) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    // In `main` you would use `Controller::new`. A simulation needs random numbers from a seed.
    Controller::on(&Tokio::seeded(1), maps, Config::default())
        .run(reconcile, |_, _, _| Action::Requeue, Arc::new(Context { client, notes_first }))
        .await
        .expect("the maps are listed");
}

fn main() {
    let map = json!({"metadata": {"name": "colours"}, "data": {"sky": "blue"}});
    let map: ConfigMap = serde_json::from_value(map).expect("a map");
    let simulation = |notes_first| {
        let run = move |connection| operator(Client::new(connection, "default"), notes_first);
        Simulation::of(run).create(&map)
    };
    println!("copies first:");
    simulation(false).check();
    println!("\nnotes first:");
    match simulation(true).try_check() {
        Err(failure) => println!("{failure}"),
        Ok(report) => panic!("the bug was not found: {report}"),
    }
}
