//! A controller on the server of `KUBECONFIG`, or on its own. Every map with the label `copy=yes`
//! gets a Secret with its data, which is created again when somebody deletes it. The example ends
//! by itself within a second.
//!
//! ```text
//! cargo run -p seatrial-kube --example controller
//! ```

mod place;

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::{Client, Resource, ResourceExt};
use seatrial_kube::controller::{Action, Controller};
use seatrial_kube::watcher::Config;
use serde_json::json;
use tokio::sync::oneshot;

async fn reconcile(map: Arc<ConfigMap>, client: Arc<Client>) -> kube::Result<Action> {
    let name = map.name_any();
    println!("reconcile {name}");
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": name, "ownerReferences": [map.controller_owner_ref(&())]},
        "stringData": map.data,
    });
    let secrets: Api<Secret> = Api::default_namespaced((*client).clone());
    let ours = PatchParams::apply("copier");
    secrets.patch(&name, &ours, &Patch::Apply(secret)).await?;
    Ok(Action::Done)
}

fn error_policy(map: Arc<ConfigMap>, error: &kube::Error, _: Arc<Client>) -> Action {
    eprintln!("{}: {error}", map.name_any());
    Action::Requeue // later each time, until it succeeds
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Your operator uses `Client::try_default().await?` instead.
    let (client, _server) = place::connect().await?;

    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let secrets: Api<Secret> = Api::default_namespaced(client.clone());
    let (stop, stopped) = oneshot::channel::<()>();
    let controller = Controller::new(maps.clone(), Config::default().labels("copy=yes"))
        .owns(secrets.clone(), Config::default())
        .concurrency(2)
        .graceful_shutdown_on(async move { drop(stopped.await) })
        .run(reconcile, error_policy, Arc::new(client));
    let running = tokio::spawn(controller);

    let map = json!({"metadata": {"name": "colours", "labels": {"copy": "yes"}}, "data": {"sky": "blue"}});
    maps.create(&PostParams::default(), &serde_json::from_value(map)?).await?;
    let first = appears(&secrets, "colours", None).await?;
    println!("somebody deletes the Secret");
    secrets.delete("colours", &DeleteParams::default()).await?;
    let second = appears(&secrets, "colours", first.uid()).await?;
    println!("it is there again, with another uid: {}", first.uid() != second.uid());
    drop(stop);
    running.await??;
    maps.delete("colours", &DeleteParams::default()).await?;
    secrets.delete("colours", &DeleteParams::default()).await?;
    Ok(())
}

/// Waits for a Secret that is not the one with this uid.
async fn appears(secrets: &Api<Secret>, name: &str, old: Option<String>) -> kube::Result<Secret> {
    loop {
        match secrets.get_opt(name).await? {
            Some(secret) if secret.uid() != old => return Ok(secret),
            _ => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}
