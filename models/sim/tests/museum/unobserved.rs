//! Unobserved: an object goes and comes again, no watch tells of it, and the controller takes the new
//! one for the old one.
//!
//! In the manner of instaclustr cassandra-operator 398 and rabbitmq cluster-operator 758 (children
//! outlive their parent), and of percona xtradb 918 (a member that was replaced keeps its old entry).

use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Pod};
use kube::api::{Api, Patch, PatchParams};
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt as _, watcher as watch};
use kube::{Error, ResourceExt as _};
use seatrial_sim::simulation::Simulation;
use serde_json::{Value, json};

use super::on_kube::on_kube;
use super::{Context, claim, config_map, convict, ensure, label, pod, remove};

/// Makes a claim of the size that a parent has when it comes, and deletes it when the parent goes.
async fn resize(context: &Context, parent: &ConfigMap, is_gone: bool) -> Result<(), Error> {
    let claims: Api<PersistentVolumeClaim> = context.api();
    let (name, uid) = (parent.name_any(), parent.uid().unwrap_or_default());
    let size = parent.data.as_ref().and_then(|it| it.get("size")).cloned().unwrap_or_default();
    if let Some(found) = claims.get_opt(&name).await? {
        // The bug: it learns that the parent has gone from the event alone.
        let is_old = context.is_repaired && label(&found, "parent") != uid;
        if is_gone && !is_old || !is_gone && is_old {
            remove(&claims, &found).await?;
        }
    }
    if is_gone {
        Ok(())
    } else {
        ensure(&claims, &claim(&name, &[("parent", &uid), ("size", &size)])).await
    }
}

async fn parents(context: Context) {
    let mut events = watch(context.api(), watcher::Config::default()).default_backoff().boxed();
    while let Some(event) = events.next().await {
        let (parent, is_gone) = match event {
            Ok(Event::Apply(it) | Event::InitApply(it)) => (it, false),
            Ok(Event::Delete(it)) => (it, true),
            _ => continue,
        };
        while resize(&context, &parent, is_gone).await.is_err() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
}

fn sizes(is_repaired: bool) -> Simulation {
    on_kube(move |client| parents(Context { client, is_repaired }))
        .create(&config_map("app", &[("size", "1")]))
        .delete("ConfigMap", "app")
        .create(&config_map("app", &[("size", "2")]))
}

/// Enters each pod into a list of members, with its uid, and takes it out when it goes.
async fn enter(context: &Context, pod: &Pod, is_gone: bool) -> Result<(), Error> {
    let lists: Api<ConfigMap> = context.api();
    let members = lists.get("members").await?.data.unwrap_or_default();
    let (name, uid) = (pod.name_any(), pod.uid().unwrap_or_default());
    let entry = members.get(&name);
    // The bug: an entry of the name is taken for one of this pod.
    let is_known = entry.is_some_and(|it| !context.is_repaired || *it == uid);
    if is_known != is_gone {
        return Ok(());
    }
    let value = if is_gone { Value::Null } else { uid.into() };
    let patch = Patch::Merge(json!({"data": {name: value}}));
    lists.patch("members", &PatchParams::default(), &patch).await.map(drop)
}

async fn members(context: Context) {
    let mut events = watch(context.api(), watcher::Config::default()).default_backoff().boxed();
    while let Some(event) = events.next().await {
        let (pod, is_gone) = match event {
            Ok(Event::Apply(it) | Event::InitApply(it)) => (it, false),
            Ok(Event::Delete(it)) => (it, true),
            _ => continue,
        };
        while enter(&context, &pod, is_gone).await.is_err() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
}

fn replacements(is_repaired: bool) -> Simulation {
    on_kube(move |client| members(Context { client, is_repaired }))
        .given(&config_map("members", &[]))
        .create(&pod("web-0", &[]))
        .delete("Pod", "web-0")
        .create(&pod("web-0", &[]))
}

#[test]
fn a_claim_outlives_a_parent_whose_end_was_not_seen() {
    let failure = convict(
        "unobserved::a_claim_outlives_a_parent_whose_end_was_not_seen",
        || sizes(false),
        "unobserved(configmaps,",
    );
    assert!(failure.to_string().contains("they list anew"), "{failure}");
}

#[test]
fn a_claim_that_knows_its_parent_goes_with_it() {
    sizes(true).check();
}

#[test]
fn a_member_keeps_the_entry_of_its_predecessor() {
    convict(
        "unobserved::a_member_keeps_the_entry_of_its_predecessor",
        || replacements(false),
        "unobserved(pods,",
    );
}

#[test]
fn a_member_that_is_compared_by_uid_gets_its_own_entry() {
    replacements(true).check();
}
