//! Owned objects are collected while the controller runs, and sometimes late.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use futures::future::join;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use kube::runtime::{Controller, controller::Action, watcher};
use kube::{Client, Error, Resource as _, ResourceExt as _};
use seatrial_sim::simulation::{Simulation, State};
use serde_json::json;

use crate::on_kube::on_kube;
use crate::{Done, by_chance, config_map, failure, reconciles};

const FINALIZER: &str = "example.com/external";

/// A Secret that the map owns. What is outside of the cluster, for which it has a finalizer, is a map too.
async fn owned(map: Arc<ConfigMap>, client: Arc<Client>, finalizers: &[&str]) -> Done {
    let secrets: Api<Secret> = Api::default_namespaced(Client::clone(&client));
    if map.metadata.deletion_timestamp.is_none() {
        let metadata = json!({
            "name": map.name_any(), "finalizers": finalizers,
            "ownerReferences": [map.controller_owner_ref(&())],
        });
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata});
        let params = PatchParams::apply("verdict").force();
        secrets.patch(&map.name_any(), &params, &Patch::Apply(secret)).await?;
    }
    Ok(Action::await_change())
}

async fn external(secret: Arc<Secret>, client: Arc<Client>, is_hasty: bool) -> Done {
    let secrets: Api<Secret> = Api::default_namespaced(Client::clone(&client));
    let maps: Api<ConfigMap> = Api::default_namespaced(Client::clone(&client));
    let (name, params) = (format!("external-{}", secret.name_any()), PatchParams::apply("outside"));
    let let_go = async || {
        let none = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        secrets.patch(&secret.name_any(), &PatchParams::default(), &none).await.map(drop)
    };
    if secret.metadata.deletion_timestamp.is_none() {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
        maps.patch(&name, &params, &Patch::Apply(map)).await?;
        return Ok(Action::await_change());
    }
    if is_hasty && !secret.finalizers().is_empty() {
        let_go().await?;
    }
    match maps.delete(&name, &DeleteParams::default()).await {
        Err(Error::Api(why)) if why.code == 404 => {}
        other => drop(other?),
    }
    if !is_hasty && !secret.finalizers().is_empty() {
        let_go().await?;
    }
    Ok(Action::await_change())
}

async fn run(client: Client, is_hasty: bool) {
    let secrets: Api<Secret> = Api::default_namespaced(client.clone());
    let again = |_: Arc<Secret>, _: &Error, _: Arc<Client>| Action::requeue(Duration::from_secs(5));
    let outside = Controller::new(secrets, watcher::Config::default())
        .run(move |it, client| external(it, client, is_hasty), again, Arc::new(client.clone()))
        .for_each(|_| async {});
    join(reconciles(client, |it, client| owned(it, client, &[FINALIZER])), outside).await;
}

fn nothing_is_left(state: &State) -> Result<(), String> {
    let left = [("configmaps", "default/external-a"), ("secrets", "default/a")];
    match left.iter().find(|(resource, key)| state.get(resource, key).is_some()) {
        None => Ok(()),
        Some((resource, _)) => Err(format!("{resource} are left")),
    }
}

/// The user makes a map, and deletes it.
fn used(simulation: Simulation) -> Simulation {
    simulation.create(&config_map("a")).delete("ConfigMap", "a")
}

#[test]
fn finalizers_of_owned_objects_are_run() {
    let simulation = || used(on_kube(|it| run(it, false))).at_end(nothing_is_left);
    for simulation in [simulation(), by_chance(simulation())] {
        simulation.check();
    }
}

#[test]
fn a_finalizer_that_is_removed_before_its_work_is_convicted() {
    let simulation = || used(on_kube(|it| run(it, true))).at_end(nothing_is_left);
    for simulation in [simulation(), by_chance(simulation())] {
        let failed = failure(simulation);
        assert_eq!((failed.plan.to_string().as_str(), &failed.inadmissible), ("crash(3)", &None));
        assert_eq!(failed.violations[0].text, ["configmaps are left"]);
        assert!(failed.picture.contains("garbage: change secrets default/a"), "{failed}");
    }
}

/// Finds a Secret of that name, and believes that it is its own.
async fn by_name(map: Arc<ConfigMap>, client: Arc<Client>) -> Done {
    let secrets: Api<Secret> = Api::default_namespaced(Client::clone(&client));
    match secrets.get_opt(&map.name_any()).await? {
        Some(_) => Ok(Action::await_change()),
        None => owned(map, client, &[]).await,
    }
}

#[test]
fn a_successor_of_the_same_name_is_there_before_the_collector() {
    let again = |it| used(it).create(&config_map("a"));
    let by_uid = again(on_kube(|it| reconciles(it, |map, client| owned(map, client, &[]))));
    let text = by_uid.check().to_string();
    assert!(!text.contains("(0 others"), "{text}");
    let failed = failure(again(on_kube(|it| reconciles(it, by_name))));
    assert_eq!(failed.violations[0].text, ["- secrets default/a is missing"], "{failed}");
    assert!(failed.plan.to_string().starts_with("uncollected("), "{failed}");
}
