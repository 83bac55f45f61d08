//! Objects are deleted with their owners, and objects without an owner may get one.

use seatrial_sim::apiserver::{Fault, Point, Trouble};
use seatrial_sim::controllers::{Controller, Controllers};
use serde_json::{Value, json};

use super::cluster::*;

#[test]
fn owners_go_as_their_policy_says() {
    for (policy, sets, pods) in [("Background", 0, 0), ("Foreground", 0, 0), ("Orphan", 1, 2)] {
        let mut cluster = Cluster::new();
        cluster.create(DEPLOYMENTS, &workload("web", 2));
        cluster.run();
        cluster.delete(&format!("{DEPLOYMENTS}/web"), policy);
        let waits = cluster.get(&format!("{DEPLOYMENTS}/web"))["kind"] == "Deployment";
        assert_eq!(waits, policy != "Background", "{policy}");
        cluster.run();
        assert_eq!(cluster.names(DEPLOYMENTS), [""; 0], "{policy}");
        assert_eq!((cluster.list(SETS).len(), cluster.list(PODS).len()), (sets, pods), "{policy}");
        let left = cluster.list(SETS);
        assert!(left.iter().all(|it| it["metadata"]["ownerReferences"].is_null()), "{policy}");
    }
}

#[test]
fn without_the_garbage_collector_everything_stays() {
    let mut cluster = Cluster::new();
    cluster.create(DEPLOYMENTS, &workload("web", 2));
    cluster.run();
    cluster.controllers = Controllers::only(&[Controller::Deployments, Controller::Kubelet]);
    cluster.delete(&format!("{DEPLOYMENTS}/web"), "Foreground");
    cluster.run();
    assert_eq!((cluster.names(DEPLOYMENTS).len(), cluster.list(PODS).len()), (1, 2));
}

#[test]
fn one_of_two_owners_is_enough() {
    let mut cluster = Cluster::new();
    let maps = "/api/v1/namespaces/default/configmaps";
    let owners = ["a", "b"].map(|name| cluster.create(maps, &json!({"metadata": {"name": name}})));
    let references = owners.map(|owner| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"],
               "uid": owner["metadata"]["uid"]})
    });
    cluster.create(maps, &json!({"metadata": {"name": "c", "ownerReferences": references}}));
    cluster.delete(&format!("{maps}/a"), "Background");
    cluster.run();
    let kept = cluster.get(&format!("{maps}/c"));
    assert_eq!(kept["metadata"]["ownerReferences"], json!([references[1]]));
    cluster.delete(&format!("{maps}/b"), "Background");
    cluster.run();
    assert_eq!(cluster.names(maps), [""; 0]);
}

#[test]
fn a_namespace_goes_with_everything_in_it() {
    let mut cluster = Cluster::new();
    cluster.create("/api/v1/namespaces", &json!({"metadata": {"name": "n"}}));
    let maps = "/api/v1/namespaces/n/configmaps";
    cluster.create(maps, &json!({"metadata": {"name": "free"}}));
    cluster.create(maps, &json!({"metadata": {"name": "held", "finalizers": ["a.io/x"]}}));
    cluster.create(&DEPLOYMENTS.replace("default", "n"), &workload("web", 2));
    cluster.run();
    cluster.delete("/api/v1/namespaces/n", "Background");
    cluster.run();
    assert_eq!(cluster.names(maps), ["held"]);
    assert_eq!(cluster.get("/api/v1/namespaces/n")["status"]["phase"], "Terminating");
    cluster.patch(&format!("{maps}/held"), &json!({"metadata": {"finalizers": null}}));
    cluster.run();
    assert_eq!(cluster.get("/api/v1/namespaces/n")["code"], 404);
    assert_eq!(cluster.names("/api/v1/pods"), [""; 0]);
}

/// The uid of the object that controls another.
fn controller(object: &Value) -> &Value {
    &object["metadata"]["ownerReferences"][0]["uid"]
}

#[test]
fn a_new_deployment_takes_over_what_an_old_one_left() {
    let mut cluster = Cluster::new();
    cluster.create(DEPLOYMENTS, &workload("web", 2));
    cluster.run();
    let pods = cluster.names(PODS);
    cluster.delete(&format!("{DEPLOYMENTS}/web"), "Orphan");
    cluster.run();
    let new = cluster.create(DEPLOYMENTS, &workload("web", 2));
    cluster.run();
    assert_eq!(cluster.names(PODS), pods);
    let sets = cluster.list(SETS);
    assert_eq!(sets.iter().map(controller).collect::<Vec<_>>(), [&new["metadata"]["uid"]]);
}

#[test]
fn a_deployment_takes_nothing_that_is_another_s() {
    let mut cluster = Cluster::new();
    let mut theirs = workload("theirs", 1);
    theirs["metadata"]["labels"] = json!({"app": "web"});
    theirs["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "example.com/v1", "kind": "Rollout", "name": "r", "uid": "u",
        "controller": true,
    }]);
    cluster.create(SETS, &theirs);
    cluster.create(DEPLOYMENTS, &workload("web", 1));
    cluster.run();
    assert_eq!(controller(&cluster.get(&format!("{SETS}/theirs"))), "u");
    assert_eq!(cluster.list(SETS).len(), 2);
}

#[test]
fn a_new_stateful_set_takes_over_the_pods_with_its_numbers_alone() {
    let mut cluster = Cluster::new();
    cluster.create(STATEFUL, &workload("db", 2));
    cluster.run();
    cluster.delete(&format!("{STATEFUL}/db"), "Orphan");
    cluster.run();
    let spec = json!({"containers": [{"name": "c", "image": "i:1"}]});
    let metadata = json!({"name": "free", "labels": {"app": "db"}});
    cluster.create(PODS, &json!({"metadata": metadata, "spec": spec}));
    let new = cluster.create(STATEFUL, &workload("db", 2));
    cluster.run();
    let pods = cluster.list(PODS);
    assert_eq!(cluster.names(PODS), ["db-0", "db-1", "free"]);
    let uid = &new["metadata"]["uid"];
    assert_eq!(pods.iter().map(controller).collect::<Vec<_>>(), [uid, uid, &Value::Null]);
}

#[test]
fn a_pod_that_is_no_longer_selected_is_let_go_and_replaced() {
    for (path, name) in [(SETS, "web"), (DEPLOYMENTS, "web")] {
        let mut cluster = Cluster::new();
        cluster.create(path, &workload(name, 2));
        cluster.run();
        let pod = cluster.names(PODS).remove(0);
        cluster.patch(&format!("{PODS}/{pod}"), &json!({"metadata": {"labels": {"app": "debug"}}}));
        cluster.run();
        assert_eq!(controller(&cluster.get(&format!("{PODS}/{pod}"))), &Value::Null, "{path}");
        assert_eq!(cluster.list(PODS).len(), 3, "{path}");
    }
}

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const SECRETS: &str = "/api/v1/namespaces/default/secrets";

fn owned_by(name: &str, version: &str, kind: &str, owner: &str, uid: &Value) -> Value {
    let reference = json!({"apiVersion": version, "kind": kind, "name": owner, "uid": uid});
    json!({"metadata": {"name": name, "ownerReferences": [reference]}})
}

#[test]
fn an_owner_of_which_nothing_is_known_is_not_taken_for_gone() {
    let mut cluster = Cluster::new();
    cluster.create("/api/v1/namespaces", &json!({"metadata": {"name": "far"}}));
    let far = cluster.create(&MAPS.replace("default", "far"), &json!({"metadata": {"name": "o"}}));
    let far = far["metadata"]["uid"].clone();
    for (name, version, kind, uid) in [
        ("kind-unknown", "example.com/v1", "Gizmo", json!("u1")),
        ("version-unknown", "apps/v9", "Deployment", json!("u2")),
        ("version-broken", "a/b/c", "Deployment", json!("u3")),
        ("gone", "apps/v1", "Deployment", json!("u4")),
        // References stay within a namespace, and this one has no object of that name.
        ("far", "v1", "ConfigMap", far),
    ] {
        cluster.create(MAPS, &owned_by(name, version, kind, "o", &uid));
    }
    // An object without a namespace cannot be owned by an object in one.
    let node = owned_by("n", "v1", "ConfigMap", "o", &json!("u5"));
    cluster.create("/api/v1/nodes", &node);
    cluster.run();
    assert_eq!(cluster.names(MAPS), ["kind-unknown", "version-broken", "version-unknown"]);
    assert_eq!(cluster.names("/api/v1/nodes"), ["n"]);
}

#[test]
fn what_a_list_did_not_show_is_asked_for_before_its_dependents_are_deleted() {
    let mut cluster = Cluster::new();
    let owner = cluster.create(SECRETS, &json!({"metadata": {"name": "o"}}));
    let uid = owner["metadata"]["uid"].clone();
    cluster.create(MAPS, &owned_by("m", "v1", "Secret", "o", &uid));
    let at = Point::of("GET", "secrets");
    cluster.server.inject(Fault { at, after: 0, times: 1, what: Trouble::Stale(2) });
    cluster.run();
    assert_eq!(cluster.names(MAPS), ["m"]);
    // Once it is gone, an answer that fails says nothing either.
    cluster.delete(&format!("{SECRETS}/o"), "Background");
    let at = Point { name: Some("o".to_owned()), ..Point::of("GET", "secrets") };
    let what = Trouble::Refuse { status: 500, retry_after: None };
    cluster.server.inject(Fault { at, after: 0, times: 5, what });
    cluster.controllers.settle(&mut cluster.server, cluster.now);
    assert_eq!(cluster.names(MAPS), ["m"]);
    cluster.run();
    assert_eq!(cluster.names(MAPS), [""; 0]);
}
