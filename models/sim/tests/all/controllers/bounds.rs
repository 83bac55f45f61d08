//! Unusable input is refused, and endless work is bounded.

use std::collections::BTreeMap;
use std::time::Duration;

use seatrial_sim::apiserver::Request;
use seatrial_sim::controllers::{End, Plan};
use serde_json::json;

use super::cluster::*;

#[test]
fn a_number_too_large_for_the_memory_does_not_fill_it() {
    let most = 2_147_483_647_usize;
    let mut parallel = workload("db", most);
    parallel["spec"]["podManagementPolicy"] = "Parallel".into();
    let mut many = job(6);
    many["spec"]["completions"] = most.into();
    many["spec"]["parallelism"] = most.into();
    for (path, object) in [(SETS, workload("web", most)), (STATEFUL, parallel), (JOBS, many)] {
        let mut cluster = Cluster::new();
        cluster.create(path, &object);
        assert!(!cluster.controllers.settle(&mut cluster.server, cluster.now), "{path}");
        assert_eq!(cluster.list(PODS).len(), 1_000, "{path}");
    }
}

#[test]
fn what_would_throw_a_controller_is_refused_by_the_field() {
    let (labels, selector) = ("spec.template.metadata.labels", "spec.selector");
    for (path, field, value) in [
        (DEPLOYMENTS, labels, json!("app")),
        (DEPLOYMENTS, labels, json!({"app": "w", "n": 1})),
        (DEPLOYMENTS, "spec.template.metadata", json!("app")),
        (DEPLOYMENTS, selector, json!("app=w")),
        (DEPLOYMENTS, "spec.selector.matchLabels", json!("app=w")),
        (DEPLOYMENTS, selector, json!({})),
        (SETS, "spec.selector.matchExpressions", json!("app")),
        (SETS, "spec.selector.matchExpressions", json!([{"key": "app", "operator": "Is"}])),
        (STATEFUL, "spec.selector.matchExpressions", json!([{"key": "app", "operator": "In"}])),
        (DEPLOYMENTS, "spec.replicas", json!(u64::MAX)),
        (DEPLOYMENTS, "spec.replicas", json!(-1)),
        (DEPLOYMENTS, "spec.replicas", json!(1.5)),
        (SETS, "spec.replicas", json!("2")),
        (STATEFUL, labels, json!("app")),
        (STATEFUL, "spec.replicas", json!(1_u64 << 31)),
        (STATEFUL, "spec.volumeClaimTemplates", json!([{"metadata": "disk"}])),
        (STATEFUL, "spec.volumeClaimTemplates", json!(["disk"])),
        (JOBS, labels, json!("app")),
        (JOBS, "spec.template.metadata", json!([])),
        (JOBS, "spec.completions", json!(u64::MAX)),
        (JOBS, "spec.parallelism", json!(-1)),
        (JOBS, "spec.backoffLimit", json!("many")),
    ] {
        let mut cluster = Cluster::new();
        let mut object = if path == JOBS { job(6) } else { workload("w", 2) };
        let at = field.split('.').fold(&mut object, |at, part| &mut at[part]);
        *at = value;
        let (status, answer) = cluster.send(&Request::new("POST", path).json(&object));
        if status < 300 {
            cluster.controllers.run(&mut cluster.server, Duration::ZERO, HOUR);
        }
        // What has not the type of its field cannot be read.
        assert!(matches!(status, 400 | 422), "{path} {field}: {answer}");
        let told = answer["message"].as_str().unwrap_or("");
        let is_named = told.contains(field.rsplit('.').next().unwrap_or(field));
        assert!(is_named, "{path} {field}: {answer}");
    }
}

#[test]
fn a_status_that_somebody_made_up_throws_no_controller() {
    let mut cluster = Cluster::new();
    cluster.create(DEPLOYMENTS, &workload("web", 1));
    cluster.create(JOBS, &job(6));
    let labels = BTreeMap::from([("job-name".to_owned(), "j".to_owned())]);
    cluster.controllers.kubelet.plans.push(Plan { labels, ends: None, ..Plan::default() });
    cluster.run();
    cluster.patch(&format!("{DEPLOYMENTS}/web"), &other_image());
    let many = json!({"readyReplicas": i32::MAX, "replicas": i32::MAX});
    for name in cluster.names(SETS) {
        cluster.patch(&format!("{SETS}/{name}/status"), &json!({"status": many}));
    }
    for name in cluster.names(PODS) {
        let restarted = json!({"containerStatuses": [{"name": "c", "restartCount": i32::MAX}]});
        cluster.patch(&format!("{PODS}/{name}/status"), &json!({"status": restarted}));
    }
    cluster.run();
    let request = Request::new("PATCH", &format!("{DEPLOYMENTS}/web/status"));
    let request = request.content("application/merge-patch+json", r#"{"status": "x"}"#);
    assert_eq!(cluster.send(&request).0, 422);
}

#[test]
fn numbers_that_nothing_can_be_added_to_throw_no_controller() {
    let mut cluster = Cluster::new();
    cluster.create(DEPLOYMENTS, &workload("web", 8));
    cluster.run();
    cluster.patch(&format!("{DEPLOYMENTS}/web"), &other_image());
    // Two sets are there from now on.
    assert!(cluster.tick());
    let many = json!({"status": {"readyReplicas": i32::MAX, "replicas": i32::MAX}});
    let last = json!({"deployment.kubernetes.io/revision": u64::MAX.to_string()});
    for name in cluster.names(SETS) {
        cluster.patch(&format!("{SETS}/{name}/status"), &many);
        cluster.patch(&format!("{SETS}/{name}"), &json!({"metadata": {"annotations": last}}));
    }
    cluster.run();
    cluster
        .patch(&format!("{DEPLOYMENTS}/web"), &json!({"spec": {"paused": false, "replicas": 3}}));
    cluster.run();
    assert_eq!(cluster.list(PODS).iter().filter(|pod| is_ready(pod)).count(), 3);
}

#[test]
fn what_is_made_for_ever_is_bounded_however_often_it_runs() {
    let most = 2_147_483_647_usize;
    let mut parallel = workload("db", most);
    parallel["spec"]["podManagementPolicy"] = "Parallel".into();
    for (path, object) in [(SETS, workload("web", most)), (STATEFUL, parallel)] {
        let mut cluster = Cluster::new();
        cluster.controllers.most_pods = 300;
        cluster.create(path, &object);
        for _ in 0..3 {
            let end = cluster.now + Duration::from_secs(2);
            cluster.now = cluster.controllers.run(&mut cluster.server, cluster.now, end);
        }
        assert_eq!(cluster.list(PODS).len(), 300, "{path}");
    }
}

#[test]
fn pods_that_fail_at_once_and_are_replaced_are_bounded() {
    let mut cluster = Cluster::new();
    cluster.controllers.most_pods = 50;
    let ends = Some((Duration::ZERO, End::Failure));
    cluster.controllers.kubelet.plans.push(Plan {
        starts_after: Duration::ZERO,
        ends,
        ..Plan::default()
    });
    cluster.create(JOBS, &job(1_000_000));
    for _ in 0..3 {
        assert!(!cluster.controllers.settle(&mut cluster.server, cluster.now));
    }
    assert_eq!(cluster.list(PODS).len(), 50);
}

#[test]
fn as_many_pods_as_there_may_be_are_enough() {
    let mut cluster = Cluster::new();
    cluster.controllers.most_pods = 3;
    cluster.create(SETS, &workload("web", 3));
    cluster.run();
    assert_eq!(cluster.list(PODS).iter().filter(|pod| is_ready(pod)).count(), 3);
}

#[test]
fn a_selector_with_expressions_must_select_what_is_made() {
    for (values, expected) in [(json!(["web", "x"]), 201), (json!(["x"]), 422)] {
        let mut cluster = Cluster::new();
        let mut set = workload("web", 1);
        set["spec"]["selector"] =
            json!({"matchExpressions": [{"key": "app", "operator": "In", "values": values}]});
        assert_eq!(cluster.send(&Request::new("POST", SETS).json(&set)).0, expected);
        cluster.run();
        assert_eq!(cluster.list(PODS).len(), usize::from(expected == 201));
    }
}
