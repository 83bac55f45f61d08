//! What the controllers of this test are written with: objects as JSON, and one call for each request.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt as _;
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::{Controller, controller::Action, watcher};
use kube::{Client, Error};
use serde_json::{Value, json};

pub(crate) type Done = Result<Action, Error>;

/// A controller's process.
pub(crate) struct Kit {
    client: Client,
    /// It has its bug.
    pub(crate) is_wrong: bool,
    /// The number of its replica.
    pub(crate) shard: usize,
    /// Drawn anew by each process.
    pub(crate) drawn: u32,
    /// What dies with the process.
    memory: Mutex<BTreeMap<String, usize>>,
}

impl Kit {
    fn api(&self, kind: &str) -> Api<DynamicObject> {
        let resource = resource(kind);
        Api::default_namespaced_with(self.client.clone(), &resource)
    }

    pub(crate) async fn get(&self, kind: &str, name: &str) -> Result<Option<Value>, Error> {
        Ok(self.api(kind).get_opt(name).await?.map(json))
    }

    pub(crate) async fn has(&self, kind: &str, name: &str) -> Result<bool, Error> {
        Ok(self.get(kind, name).await?.is_some())
    }

    /// The objects of a label.
    pub(crate) async fn list(&self, kind: &str, label: &str) -> Result<Vec<Value>, Error> {
        let list = self.api(kind).list(&ListParams::default().labels(label)).await?;
        Ok(list.items.into_iter().map(json).collect())
    }

    /// The same from a replica that may lag.
    pub(crate) async fn old_list(&self, kind: &str, label: &str) -> Result<Vec<Value>, Error> {
        let params = ListParams::default().labels(label).match_any();
        Ok(self.api(kind).list(&params).await?.items.into_iter().map(json).collect())
    }

    pub(crate) async fn create(&self, kind: &str, name: &str, body: Value) -> Result<(), Error> {
        let object = serde_json::from_value(whole(kind, name, body)).expect("an object");
        self.api(kind).create(&PostParams::default(), &object).await.map(drop)
    }

    /// The same, and one that is there is fine.
    pub(crate) async fn ensure(&self, kind: &str, name: &str, body: Value) -> Result<(), Error> {
        match self.create(kind, name, body).await {
            Err(Error::Api(why)) if why.code == 409 => Ok(()),
            other => other,
        }
    }

    pub(crate) async fn apply(&self, kind: &str, name: &str, body: Value) -> Result<(), Error> {
        self.apply_as("pattern", kind, name, body).await
    }

    /// Applies an object for another manager of fields.
    pub(crate) async fn apply_as(
        &self,
        manager: &str,
        kind: &str,
        name: &str,
        body: Value,
    ) -> Result<(), Error> {
        let params = PatchParams::apply(manager).force();
        self.api(kind).patch(name, &params, &Patch::Apply(whole(kind, name, body))).await.map(drop)
    }

    pub(crate) async fn merge(&self, kind: &str, name: &str, patch: Value) -> Result<(), Error> {
        let patch = Patch::Merge(patch);
        self.api(kind).patch(name, &PatchParams::default(), &patch).await.map(drop)
    }

    pub(crate) async fn status(&self, app: &Value, status: Value) -> Result<(), Error> {
        let patch = Patch::Merge(json!({"status": status}));
        self.api("App").patch_status(name(app), &PatchParams::default(), &patch).await.map(drop)
    }

    /// Notes something in an annotation of a map, unless it is there.
    pub(crate) async fn note(&self, map: &Value, key: &str, value: &str) -> Result<(), Error> {
        match noted(map, key) == value {
            true => Ok(()),
            false => {
                let patch = json!({"metadata": {"annotations": {key: value}}});
                self.merge("ConfigMap", name(map), patch).await
            }
        }
    }

    /// Deletes an object; one that is gone is fine.
    pub(crate) async fn delete(&self, kind: &str, name: &str) -> Result<(), Error> {
        match self.strict_delete(kind, name).await {
            Err(Error::Api(why)) if why.code == 404 => Ok(()),
            other => other,
        }
    }

    pub(crate) async fn strict_delete(&self, kind: &str, name: &str) -> Result<(), Error> {
        self.api(kind).delete(name, &DeleteParams::default()).await.map(drop)
    }

    /// Remembers a number in place of another, which it returns.
    pub(crate) fn remember(&self, key: &str, number: usize) -> Option<usize> {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.insert(key.to_owned(), number)
    }

    pub(crate) fn remembered(&self, key: &str) -> Option<usize> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }
}

/// A kind of the core group, or an `App`.
fn resource(kind: &str) -> ApiResource {
    let group = if kind == "App" { "example.com" } else { "" };
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, "v1", kind))
}

/// The definition of apps, which have a status of their own.
pub(crate) fn apps() -> Value {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let schema = json!({"type": "object", "properties": {"spec": open, "status": open}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "apps.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"kind": "App", "plural": "apps", "singular": "app"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "subresources": {"status": {}}, "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

fn json(object: impl serde::Serialize) -> Value {
    serde_json::to_value(object).expect("an object")
}

fn whole(kind: &str, name: &str, mut body: Value) -> Value {
    (body["apiVersion"], body["kind"]) = (resource(kind).api_version.into(), kind.into());
    body["metadata"]["name"] = name.into();
    body
}

pub(crate) fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

/// What is noted in an annotation.
pub(crate) fn noted<'a>(object: &'a Value, key: &str) -> &'a str {
    object["metadata"]["annotations"][key].as_str().unwrap_or_default()
}

/// The size that the user wants.
pub(crate) fn size(map: &Value) -> usize {
    let of_an_app = map["spec"]["size"].as_u64().and_then(|it| usize::try_from(it).ok());
    let of_a_map = map["data"]["size"].as_str().and_then(|it| it.parse().ok());
    of_an_app.or(of_a_map).unwrap_or(0)
}

pub(crate) fn is_going(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

/// The metadata of a child: a label, and its owner.
pub(crate) fn child(map: &Value) -> Value {
    let owner = json!({
        "apiVersion": map["apiVersion"], "kind": map["kind"], "name": name(map),
        "uid": map["metadata"]["uid"], "controller": true,
    });
    json!({"labels": {"of": name(map)}, "ownerReferences": [owner]})
}

/// A pod of a map.
pub(crate) fn pod(map: &Value) -> Value {
    let spec = json!({"containers": [{"name": "main", "image": "example"}]});
    json!({"metadata": child(map), "spec": spec})
}

pub(crate) fn done() -> Done {
    Ok(Action::await_change())
}

/// What a controller does for one map; a box, so that kube's Controller is compiled once.
pub(crate) type Reconcile = Arc<dyn Fn(Value, Arc<Kit>) -> BoxFuture<'static, Done> + Send + Sync>;

/// A controller of what users make, and of the Secrets and Pods that it owns.
pub(crate) async fn reconciles(
    (client, shard): (Client, usize),
    (kind, is_wrong): (&'static str, bool),
    reconcile: Reconcile,
    again: fn(&Kit) -> Action,
) {
    let resource = resource(kind);
    let maps: Api<DynamicObject> = Api::default_namespaced_with(client.clone(), &resource);
    let secrets: Api<Secret> = Api::default_namespaced(client.clone());
    let pods: Api<Pod> = Api::default_namespaced(client.clone());
    let (drawn, memory) = (fastrand::u32(..), Mutex::default());
    let kit = Arc::new(Kit { client, is_wrong, shard, drawn, memory });
    let config = watcher::Config::default;
    let controller = Controller::new_with(maps, config().labels("role=parent"), resource.clone())
        .owns(secrets, config())
        .owns(pods, config());
    let run = controller.run(
        move |map, kit| {
            let mut map = json(&*map);
            // A list does not say what its items are.
            (map["apiVersion"], map["kind"]) =
                (resource.api_version.clone().into(), resource.kind.clone().into());
            reconcile(map, kit)
        },
        move |_, _, kit| again(&kit),
        kit,
    );
    run.for_each(|_| async {}).await;
}

/// Tries again after some seconds, as every controller should.
pub(crate) fn soon(_: &Kit) -> Action {
    Action::requeue(Duration::from_secs(5))
}
