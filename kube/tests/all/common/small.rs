//! A small reconciler: every map with the label `role=parent` owns a Secret with its data, which is
//! created again when it is gone, and deleted before its parent.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::{Client, Resource, ResourceExt};
use seatrial_kube::controller::{Action, Controller};
use seatrial_kube::watcher::Config;
use serde_json::{Value, json};

const FINALIZER: &str = "tests.seatrial.dev/secret";

pub(crate) fn maps(client: &Client) -> Api<ConfigMap> {
    Api::namespaced(client.clone(), "default")
}

pub(crate) fn secrets(client: &Client) -> Api<Secret> {
    Api::namespaced(client.clone(), "default")
}

pub(crate) async fn create(client: &Client, name: &str, labels: &[(&str, &str)]) {
    let labels: BTreeMap<_, _> = labels.iter().copied().collect();
    let map = json!({"metadata": {"name": name, "labels": labels}, "data": {"x": "1"}});
    let map: ConfigMap = serde_json::from_value(map).unwrap();
    maps(client).create(&PostParams::default(), &map).await.expect("created");
}

pub(crate) async fn change(client: &Client, name: &str, to: &str) -> ConfigMap {
    let patch = Patch::Merge(json!({"data": {"x": to}}));
    maps(client).patch(name, &PatchParams::default(), &patch).await.expect("changed")
}

pub(crate) fn controller(client: &Client) -> Controller<ConfigMap> {
    Controller::new(maps(client), Config::default().labels("role=parent"))
        .owns(secrets(client), Config::default())
}

pub(crate) async fn reconcile(map: Arc<ConfigMap>, client: Arc<Client>) -> kube::Result<Action> {
    let (maps, secrets, name) = (maps(&client), secrets(&client), map.name_any());
    let finalizers = map.finalizers();
    let ours = finalizers.iter().any(|it| it == FINALIZER);
    if map.metadata.deletion_timestamp.is_some() {
        if ours {
            gone(secrets.delete(&name, &DeleteParams::default()).await)?;
            let kept: Vec<_> = finalizers.iter().filter(|it| *it != FINALIZER).collect();
            gone(finalizers_of(&maps, &map, json!(kept)).await)?;
        }
        return Ok(Action::Done);
    }
    if !ours {
        let mut wanted = finalizers.to_vec();
        wanted.push(FINALIZER.to_owned());
        finalizers_of(&maps, &map, json!(wanted)).await?;
    }
    let data = map.data.clone().unwrap_or_default();
    let Some(secret) = secrets.get_opt(&name).await? else {
        let secret = json!({
            "metadata": {"name": name, "ownerReferences": [map.controller_owner_ref(&())]},
            "stringData": data,
        });
        let secret = serde_json::from_value(secret).map_err(kube::Error::SerdeError)?;
        secrets.create(&PostParams::default(), &secret).await?;
        return Ok(Action::Done);
    };
    if value(&secret) != data.get("x").map(String::as_str) {
        let patch = Patch::Merge(json!({"stringData": data}));
        secrets.patch(&name, &PatchParams::default(), &patch).await?;
    }
    Ok(Action::Done)
}

/// Returns the value of `x` in a Secret.
pub(crate) fn value(secret: &Secret) -> Option<&str> {
    let bytes = &secret.data.as_ref()?.get("x")?.0;
    std::str::from_utf8(bytes).ok()
}

async fn finalizers_of(
    maps: &Api<ConfigMap>,
    map: &ConfigMap,
    finalizers: Value,
) -> kube::Result<ConfigMap> {
    // With the version that was seen, so that finalizers of others are not lost.
    let version = map.resource_version();
    let patch = json!({"metadata": {"finalizers": finalizers, "resourceVersion": version}});
    maps.patch(&map.name_any(), &PatchParams::default(), &Patch::Merge(patch)).await
}

/// Treats an object that is already gone as deleted.
fn gone<T>(result: kube::Result<T>) -> kube::Result<()> {
    match result {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        other => other.map(drop),
    }
}
