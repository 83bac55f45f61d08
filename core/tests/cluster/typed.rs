//! Objects of a type: read, written and watched by the client above requests.

use std::sync::Arc;

use seatrial_core::cancel::CancelToken;
use seatrial_core::request::http::HttpTransport;
use seatrial_core::request::{
    Api, ApiResource, DeleteParams, ListParams, ObjectMeta, Patch, Propagation, Reason,
    RequestError, Resource, Status, WatchEvent,
};
use seatrial_core::runtime::System;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::bed::{self, Cluster};

/// A Deployment, with all fields of which the tests know nothing.
#[derive(Serialize, Deserialize, Clone, Debug)]
struct Deployment {
    metadata: ObjectMeta,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Resource for Deployment {
    fn api_resource() -> ApiResource {
        ApiResource::namespaced("apps", "v1", "Deployment", "deployments")
    }
}

type Deployments<O = Deployment> = Api<System, HttpTransport, O>;

fn deployment(name: &str) -> Deployment {
    let pod = json!({
        "metadata": { "labels": { "a": "b" } },
        "spec": { "containers": [{ "name": "c", "image": "i" }] },
    });
    let spec = json!({
        "replicas": 1, "selector": { "matchLabels": { "a": "b" } }, "template": pod,
    });
    let mut metadata = ObjectMeta::new(name);
    metadata.labels.insert("app".to_owned(), name.to_owned());
    Deployment { metadata, rest: Map::from_iter([("spec".to_owned(), spec)]) }
}

fn refused<V: std::fmt::Debug>(result: Result<V, RequestError>) -> Status {
    match result.unwrap_err() {
        RequestError::Status(status) => *status,
        other => panic!("{other:?}"),
    }
}

/// Tells whether a request was never sent, because it is none.
fn is_malformed<V>(result: Result<V, RequestError>) -> bool {
    matches!(result, Err(RequestError::Build(_)))
}

/// Runs a test on an empty cluster.
fn on_a_cluster<F: Future<Output = ()>>(test: impl FnOnce(Deployments) -> F) {
    let (cluster, tokio) = (Cluster::start(), bed::tokio());
    let client = Arc::new(cluster.address.client(&tokio));
    tokio.block_on(test(Api::namespaced(&client, "default")));
}

/// The names of a list.
fn names(items: &[Deployment]) -> Vec<&str> {
    items.iter().map(|it| it.metadata.name.as_str()).collect()
}

#[test]
fn an_object_is_created_read_replaced_and_deleted() {
    on_a_cluster(|api| async move {
        let made = api.create(&deployment("web")).await.unwrap();
        assert_eq!(made.metadata.namespace, "default");
        assert!(made.metadata.rest.contains_key("creationTimestamp"), "all fields are kept");
        assert!(api.create(&made).await.is_err(), "it has a version");
        assert!(refused(api.create(&deployment("web")).await).is(&Reason::AlreadyExists));
        let read = api.get("web").await.unwrap();
        assert_eq!(read.metadata, made.metadata);
        let mut more = read.clone();
        more.rest["spec"]["replicas"] = 3.into();
        let replaced = api.update(&more).await.unwrap();
        assert_eq!(replaced.rest["spec"]["replicas"], 3);
        assert!(refused(api.update(&read).await).is(&Reason::Conflict), "it is old");
        let mut reported = replaced.clone();
        reported.rest["spec"]["replicas"] = 9.into();
        reported.rest.insert("status".to_owned(), json!({ "observedGeneration": 1 }));
        let reported = api.update_status(&reported).await.unwrap();
        assert_eq!(reported.rest["spec"]["replicas"], 3, "the status alone");
        assert_eq!(reported.rest["status"]["observedGeneration"], 1);
        let other = DeleteParams::default().uid("another").propagation(Propagation::Background);
        assert!(refused(api.delete("web", &other).await).is(&Reason::Conflict));
        let old = DeleteParams::default().version(&read.metadata.resource_version);
        assert!(refused(api.delete("web", &old).await).is(&Reason::Conflict));
        let this = DeleteParams::default().uid(&made.metadata.uid);
        api.delete("web", &this).await.unwrap();
        assert!(refused(api.get("web").await).is(&Reason::NotFound));
        assert!(is_malformed(api.update(&deployment("")).await), "which one?");
        assert!(is_malformed(api.delete("", &this).await), "not all of them");
        assert!(is_malformed(api.get("a/b").await), "no other object");
    });
}

#[test]
fn an_object_is_changed_by_patches() {
    on_a_cluster(|api| async move {
        api.create(&deployment("web")).await.unwrap();
        let spec = |spec: Value| json!({ "spec": spec });
        let merge = Patch::Merge(spec(json!({ "replicas": 2, "paused": true })));
        assert_eq!(api.patch("web", &merge).await.unwrap().rest["spec"]["replicas"], 2);
        let json = json!([{ "op": "replace", "path": "/spec/replicas", "value": 4 }]);
        let patched = api.patch("web", &Patch::Json(json)).await.unwrap();
        assert_eq!(patched.rest["spec"]["replicas"], 4);
        let containers = json!([{ "name": "d", "image": "j" }]);
        let template = json!({ "template": { "spec": { "containers": containers } } });
        let patched = api.patch("web", &Patch::Strategic(spec(template))).await.unwrap();
        let containers = patched.rest["spec"]["template"]["spec"]["containers"].as_array().unwrap();
        assert_eq!(containers.len(), 2, "they are merged by name: {containers:?}");
        let status = Patch::Merge(json!({ "status": { "observedGeneration": 2 } }));
        let patched = api.patch_status("web", &status).await.unwrap();
        assert_eq!(patched.rest["status"]["observedGeneration"], 2);
    });
}

#[test]
fn an_object_is_applied_by_managers() {
    on_a_cluster(|api| async move {
        let with = |replicas: u32| {
            let mut object = deployment("web");
            object.rest["spec"]["replicas"] = replicas.into();
            object
        };
        let applied = api.apply(&with(1), "first", false).await.unwrap();
        assert_eq!(applied.rest["spec"]["replicas"], 1, "it is created");
        let part = json!({ "metadata": { "name": "web" }, "spec": { "replicas": 2 } });
        assert!(refused(api.apply(&part, "second", false).await).is(&Reason::Conflict));
        let applied = api.apply(&part, "second", true).await.unwrap();
        assert_eq!(applied.rest["spec"]["replicas"], 2, "by force");
        let status =
            json!({ "metadata": { "name": "web" }, "status": { "observedGeneration": 5 } });
        let applied = api.apply_status(&status, "second", false).await.unwrap();
        assert_eq!(applied.rest["status"]["observedGeneration"], 5);
        let nameless = api.apply(&json!({ "spec": {} }), "second", true).await;
        assert!(is_malformed(nameless), "which one?");
    });
}

#[test]
fn objects_are_listed_by_pages_and_deleted_together() {
    on_a_cluster(|api| async move {
        for name in ["a", "b", "c", "d", "e"] {
            api.create(&deployment(name)).await.unwrap();
        }
        let all = ListParams::default();
        assert_eq!(names(&api.list(&all).await.unwrap().items), ["a", "b", "c", "d", "e"]);
        let first = api.list(&all.clone().limit(2)).await.unwrap();
        assert_eq!(names(&first.items), ["a", "b"]);
        assert!(!first.continue_token.is_empty());
        let whole = api.list_all(&all.clone().limit(2)).await.unwrap();
        assert_eq!(names(&whole.items), ["a", "b", "c", "d", "e"]);
        assert_eq!(whole.continue_token, "");
        let some = all.clone().labels("app in (b, c)");
        assert_eq!(names(&api.list(&some).await.unwrap().items), ["b", "c"]);
        let one = all.clone().fields("metadata.name=e");
        assert_eq!(names(&api.list(&one).await.unwrap().items), ["e"]);
        api.delete_collection(&DeleteParams::default(), &some).await.unwrap();
        assert_eq!(names(&api.list(&all).await.unwrap().items), ["a", "d", "e"]);
    });
}

#[test]
fn objects_are_watched_from_a_version_until_a_token_ends() {
    on_a_cluster(|api| async move {
        let stop = CancelToken::new(&System::new());
        let api = api.until(&stop);
        let before = api.list(&ListParams::default()).await.unwrap().resource_version;
        let params = ListParams::default().labels("app=web");
        let mut events = api.watch(&params, &before).await.unwrap();
        api.create(&deployment("other")).await.unwrap();
        let made = api.create(&deployment("web")).await.unwrap();
        let Some(WatchEvent::Added(told)) = events.next().await else { panic!("{events:?}") };
        assert_eq!(told.metadata, made.metadata);
        api.delete("web", &DeleteParams::default()).await.unwrap();
        let Some(WatchEvent::Deleted(told)) = events.next().await else { panic!("{events:?}") };
        assert_eq!(told.metadata.uid, made.metadata.uid);
        stop.cancel();
        assert!(events.next().await.is_none());
        assert!(matches!(api.get("web").await, Err(RequestError::Ended(_))));
    });
}

#[test]
fn a_kind_that_is_known_at_run_time_and_kinds_without_namespaces() {
    let (cluster, tokio) = (Cluster::start(), bed::tokio());
    let client = Arc::new(cluster.address.client(&tokio));
    tokio.block_on(async {
        let kind = ApiResource::namespaced("", "v1", "ConfigMap", "configmaps");
        let maps: Deployments<Value> = Api::dynamic(&client, kind, None);
        let map = json!({ "metadata": { "name": "a", "namespace": "default" } });
        let made = maps.create(&map).await.unwrap();
        assert_eq!((&made["kind"], &made["apiVersion"]), (&json!("ConfigMap"), &json!("v1")));
        let metadata = json!({ "name": "b", "namespace": "default" });
        let empty = json!({ "kind": "", "apiVersion": null, "metadata": metadata });
        assert_eq!(maps.create(&empty).await.unwrap()["kind"], "ConfigMap");
        let listed = maps.list(&ListParams::default()).await.unwrap().items;
        let listed = listed.iter().find(|it| it["metadata"]["name"] == "a").unwrap();
        assert_eq!(listed["metadata"], made["metadata"]);
        let kind = ApiResource::cluster("", "v1", "Namespace", "namespaces");
        let namespaces: Deployments<Value> = Api::dynamic(&client, kind, Some("ignored"));
        assert_eq!(namespaces.get("default").await.unwrap()["metadata"]["name"], "default");
    });
}
