//! Intermediate: a controller dies between two writes, and its successor takes the first for both.
//!
//! In the manner of k8ssandra cass-operator 1023 and percona 578 (the second object is made only
//! together with the first), and of nifikop 49 (what was applied is noted before it is).

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kube::api::{Api, Patch, PatchParams};
use kube::runtime::controller::Action;
use kube::runtime::watcher;
use kube::{Error, ResourceExt as _};
use seatrial_sim::simulation::Simulation;
use serde_json::json;

use super::on_kube::on_kube;
use super::{Context, config_map, convict, ensure, label, named, pod, run};

/// Makes a secret and a pod that uses it.
async fn together(parent: Arc<ConfigMap>, context: Arc<Context>) -> Result<Action, Error> {
    let (secrets, pods): (Api<Secret>, Api<Pod>) = (context.api(), context.api());
    let name = parent.name_any();
    let is_new = secrets.get_opt(&name).await?.is_none();
    if is_new {
        let metadata = named(&name, &[]);
        let password = BTreeMap::from([("password".to_owned(), "secret".to_owned())]);
        let string_data = Some(password);
        ensure(&secrets, &Secret { metadata, string_data, ..Secret::default() }).await?;
    }
    // The bug: the pod is made only by the process that has made the secret.
    if is_new || context.is_repaired {
        ensure(&pods, &pod(&name, &[])).await?;
    }
    Ok(Action::await_change())
}

fn togethers(is_repaired: bool) -> Simulation {
    on_kube(move |client| {
        run(Context { client, is_repaired }, watcher::Config::default(), together)
    })
    .create(&config_map("database", &[]))
}

/// Brings the version of a parent to its pod, and notes on the parent that this is done.
async fn upgrade(parent: Arc<ConfigMap>, context: Arc<Context>) -> Result<Action, Error> {
    let (parents, pods): (Api<ConfigMap>, Api<Pod>) = (context.api(), context.api());
    let name = parent.name_any();
    let version = parent.data.as_ref().and_then(|it| it.get("version")).cloned();
    let version = version.unwrap_or_default();
    let applied = parent.annotations().get("applied").cloned();
    if applied.as_ref() == Some(&version) {
        return Ok(Action::await_change());
    }
    let note = Patch::Merge(json!({"metadata": {"annotations": {"applied": version}}}));
    // The bug: it is noted before it is done.
    if !context.is_repaired {
        parents.patch(&name, &PatchParams::default(), &note).await?;
    }
    ensure(&pods, &pod(&name, &[("version", &version)])).await?;
    if label(&pods.get(&name).await?, "version") != version {
        let patch = Patch::Merge(json!({"metadata": {"labels": {"version": version}}}));
        pods.patch(&name, &PatchParams::default(), &patch).await?;
    }
    if context.is_repaired {
        parents.patch(&name, &PatchParams::default(), &note).await?;
    }
    Ok(Action::await_change())
}

fn upgrades(is_repaired: bool) -> Simulation {
    on_kube(move |client| run(Context { client, is_repaired }, watcher::Config::default(), upgrade))
        .create(&config_map("cluster", &[("version", "1")]))
        .patch("ConfigMap", "cluster", json!({"data": {"version": "2"}}))
}

#[test]
fn a_crash_between_the_secret_and_the_pod_leaves_no_pod() {
    let failure = convict(
        "intermediate::a_crash_between_the_secret_and_the_pod_leaves_no_pod",
        || togethers(false),
        "crash(1)",
    );
    assert_eq!(failure.violations[0].text, ["- pods default/database is missing"]);
}

#[test]
fn each_object_that_is_missing_is_made() {
    togethers(true).check();
}

#[test]
fn a_crash_after_the_note_leaves_the_old_version() {
    let failure = convict(
        "intermediate::a_crash_after_the_note_leaves_the_old_version",
        || upgrades(false),
        "crash(",
    );
    assert!(failure.violations[0].text[0].contains("pods default/cluster"), "{failure}");
}

#[test]
fn what_is_noted_when_it_is_done_is_done() {
    upgrades(true).check();
}
