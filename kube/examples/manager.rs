//! An operator of three controllers, on the server of `KUBECONFIG` or on its own: a manager runs
//! them with two shared caches, one election, and one address for probes. Every map with the label
//! `copy=yes` gets a Secret with its data; a second controller removes the Secret before the map is
//! gone; a third counts the values of Secrets. The example ends by itself within a second.
//!
//! ```text
//! cargo run -p seatrial-kube --example manager
//! ```

mod place;

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::{Resource, ResourceExt};
use seatrial_kube::cache::Cache;
use seatrial_kube::controller::{Action, Controller, Predicate};
use seatrial_kube::election::LeaderElection;
use seatrial_kube::events::Recorder;
use seatrial_kube::finalizer::{Error, Event, Finalizer};
use seatrial_kube::manager::Manager;
use seatrial_kube::watcher::Config;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

struct Context {
    maps: Api<ConfigMap>,
    secrets: Api<Secret>,
    events: Recorder,
}

async fn copy(map: Arc<ConfigMap>, context: Arc<Context>) -> kube::Result<Action> {
    if map.metadata.deletion_timestamp.is_some() {
        return Ok(Action::Done);
    }
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "stringData": map.data,
        "metadata": {"name": map.name_any(), "ownerReferences": [map.controller_owner_ref(&())]},
    });
    let ours = PatchParams::apply("copier");
    context.secrets.patch(&map.name_any(), &ours, &Patch::Apply(secret)).await?;
    context.events.normal(&map.object_ref(&()), "Copied", "its Secret is up to date");
    Ok(Action::Done)
}

async fn clean(map: Arc<ConfigMap>, context: Arc<Context>) -> Result<Action, Error<kube::Error>> {
    let work = async |event: Event<ConfigMap>| {
        if let Event::Cleanup(map) = event {
            println!("{} is cleaned up", map.name_any());
            let deleted = context.secrets.delete(&map.name_any(), &DeleteParams::default()).await;
            match deleted {
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                other => drop(other?),
            }
        }
        Ok::<_, kube::Error>(Action::Done)
    };
    Finalizer::new(&context.maps, "example.com/secret").run(map, work).await
}

async fn count(secret: Arc<Secret>, _: Arc<Context>) -> kube::Result<Action> {
    println!(
        "the Secret {} has {} values",
        secret.name_any(),
        secret.data.iter().flatten().count()
    );
    Ok(Action::Done)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (client, _server) = place::connect().await?;
    let (maps, secrets) =
        (Api::default_namespaced(client.clone()), Api::default_namespaced(client.clone()));
    let events = Recorder::new(client.clone(), "example.com");
    let context = Arc::new(Context { maps, secrets, events });

    let map_cache = Cache::new(context.maps.clone(), Config::default().labels("copy=yes"));
    let secret_cache = Cache::new(context.secrets.clone(), Config::default());
    let copier = Controller::of(&map_cache)
        .owns_of(&secret_cache.filter_updates(Predicate::resource_version()))
        .concurrency(2);
    let (cleaner, counter) = (Controller::of(&map_cache), Controller::of(&secret_cache));
    let (one, two, three) = (Arc::clone(&context), Arc::clone(&context), Arc::clone(&context));
    let (stop, stopped) = oneshot::channel::<()>();
    let manager = Manager::new()
        .serve(TcpListener::bind("127.0.0.1:0").await?)
        .election(LeaderElection::new(client, "default", "example"))
        .cache(&map_cache)
        .cache(&secret_cache)
        .controller("copier", |it| {
            copier.graceful_shutdown_on(it).run(copy, |_, _, _| Action::Requeue, one)
        })
        .controller("cleaner", |it| {
            cleaner.graceful_shutdown_on(it).run(clean, |_, _, _| Action::Requeue, two)
        })
        .controller("counter", |it| {
            counter.graceful_shutdown_on(it).run(count, |_, _, _| Action::Requeue, three)
        })
        .graceful_shutdown_on(async move { drop(stopped.await) });
    let running = tokio::spawn(manager.run());

    let map = json!({"metadata": {"name": "colours", "labels": {"copy": "yes"}}, "data": {"sky": "blue"}});
    context.maps.create(&PostParams::default(), &serde_json::from_value(map)?).await?;
    until(async || Ok(context.secrets.get_opt("colours").await?.is_some())).await?;
    until(async || Ok(!context.maps.get("colours").await?.finalizers().is_empty())).await?;
    context.maps.delete("colours", &DeleteParams::default()).await?;
    until(async || Ok(context.maps.get_opt("colours").await?.is_none())).await?;
    drop(stop);
    running.await??;
    println!("the operator has ended");
    Ok(())
}

/// Waits until something is so.
async fn until(mut is_so: impl AsyncFnMut() -> kube::Result<bool>) -> kube::Result<()> {
    while !is_so().await? {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}
