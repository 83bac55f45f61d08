//! The controllers: the work that a cluster does by itself.

mod bounds;
mod cluster;
mod faults;
mod owners;

use std::collections::BTreeMap;
use std::time::Duration;

use cluster::*;
use seatrial_sim::controllers::{End, Plan};
use serde_json::json;

#[test]
fn a_deployment_becomes_available_and_rolls_over_without_a_gap() {
    let mut cluster = Cluster::new();
    cluster.create(DEPLOYMENTS, &workload("web", 4));
    cluster.run();
    let web = cluster.get(&format!("{DEPLOYMENTS}/web"));
    assert_eq!(web["status"]["availableReplicas"], 4, "{web}");
    assert_eq!(web["status"]["observedGeneration"], web["metadata"]["generation"]);
    assert_eq!(web["status"]["conditions"][0]["reason"], "MinimumReplicasAvailable");
    cluster.patch(&format!("{DEPLOYMENTS}/web"), &other_image());
    let (mut fewest, mut most) = (4, 4);
    while cluster.tick() {
        let pods = cluster.list(PODS);
        most = most.max(pods.len());
        fewest = fewest.min(pods.iter().filter(|pod| is_ready(pod)).count());
    }
    // A quarter more, and a quarter less.
    assert_eq!((fewest, most), (3, 5));
    let pods = cluster.list(PODS);
    assert_eq!(pods.iter().map(image).collect::<Vec<_>>(), ["i:2"; 4]);
    let sizes: Vec<_> =
        cluster.list(SETS).iter().map(|it| it["spec"]["replicas"].as_u64()).collect();
    assert!(sizes.contains(&Some(4)) && sizes.contains(&Some(0)), "{sizes:?}");
    let web = cluster.get(&format!("{DEPLOYMENTS}/web"));
    assert_eq!(web["status"]["conditions"][1]["reason"], "NewReplicaSetAvailable");
}

#[test]
fn a_deployment_whose_new_pods_never_become_ready_keeps_the_old_ones() {
    let mut cluster = Cluster::new();
    cluster.create(DEPLOYMENTS, &workload("web", 4));
    cluster.run();
    cluster.controllers.kubelet.plans.push(Plan { ready_after: None, ..Plan::default() });
    cluster.patch(&format!("{DEPLOYMENTS}/web"), &other_image());
    cluster.run();
    let pods = cluster.list(PODS);
    assert_eq!(pods.iter().filter(|pod| image(pod) == "i:1" && is_ready(pod)).count(), 3);
}

#[test]
fn recreate_leaves_no_old_pod_beside_a_new_one() {
    let mut cluster = Cluster::new();
    let mut web = workload("web", 2);
    web["spec"]["strategy"] = json!({"type": "Recreate"});
    cluster.create(DEPLOYMENTS, &web);
    cluster.run();
    cluster.patch(&format!("{DEPLOYMENTS}/web"), &other_image());
    while cluster.tick() {
        let pods = cluster.list(PODS);
        assert!(pods.windows(2).all(|two| image(&two[0]) == image(&two[1])));
    }
    assert_eq!(cluster.list(PODS).len(), 2);
}

#[test]
fn a_stateful_set_makes_and_deletes_its_pods_one_by_one() {
    let mut cluster = Cluster::new();
    let mut db = workload("db", 3);
    db["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "disk"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
    }}]);
    db["spec"]["template"]["spec"]["volumes"] = json!([{"name": "disk", "emptyDir": {}}]);
    cluster.create(STATEFUL, &db);
    let mut seen = Vec::new();
    while cluster.tick() {
        let pods = cluster.list(PODS);
        assert!(pods.iter().filter(|pod| !is_ready(pod)).count() <= 1);
        seen.push(pods.len());
    }
    assert!(seen.is_sorted() && seen.contains(&1) && seen.contains(&2), "{seen:?}");
    assert_eq!(cluster.names(PODS), ["db-0", "db-1", "db-2"]);
    let claims = "/api/v1/namespaces/default/persistentvolumeclaims";
    assert_eq!(cluster.names(claims), ["disk-db-0", "disk-db-1", "disk-db-2"]);
    // What selects the pods selects their claims, and a claim takes the place of a volume of its name.
    assert!(
        cluster
            .list(claims)
            .iter()
            .all(|it| it["metadata"]["labels"] == db["spec"]["selector"]["matchLabels"])
    );
    for pod in cluster.list(PODS) {
        let volumes = pod["spec"]["volumes"].as_array().expect("there are some");
        let disks: Vec<_> = volumes.iter().filter(|it| it["name"] == "disk").collect();
        assert!(disks.len() == 1 && disks[0]["persistentVolumeClaim"].is_object(), "{pod}");
    }
    // A new template goes from the last to the first.
    cluster.patch(&format!("{STATEFUL}/db"), &other_image());
    let mut images = Vec::new();
    while cluster.tick() {
        let pods = cluster.list(PODS);
        images.push(pods.iter().map(|pod| image(pod).ends_with('2')).collect::<Vec<_>>());
        assert!(pods.iter().filter(|pod| is_ready(pod)).count() >= 2);
    }
    assert_eq!(images.last(), Some(&vec![true; 3]));
    assert!(images.iter().all(|new| new.is_sorted() || new.len() < 3), "{images:?}");
    cluster.patch(&format!("{STATEFUL}/db"), &json!({"spec": {"replicas": 1}}));
    cluster.run();
    assert_eq!(cluster.names(PODS), ["db-0"]);
    let db = cluster.get(&format!("{STATEFUL}/db"));
    assert_eq!(db["status"]["currentRevision"], db["status"]["updateRevision"]);
    assert_eq!(db["status"]["readyReplicas"], 1);
}

#[test]
fn a_job_runs_to_its_completions_never_more_at_once_than_it_may() {
    let mut cluster = Cluster::new();
    cluster.create(JOBS, &job(0));
    while cluster.tick() {
        let pods = cluster.list(PODS);
        assert!(pods.iter().filter(|pod| pod["status"]["phase"] != "Succeeded").count() <= 2);
    }
    let job = cluster.get(&format!("{JOBS}/j"));
    assert_eq!(job["status"]["succeeded"], 3, "{job}");
    assert_eq!(job["status"]["conditions"][0]["type"], "Complete");
    assert_eq!(cluster.list(PODS).len(), 3);
}

#[test]
fn a_job_whose_pods_fail_is_tried_again_and_fails() {
    let mut cluster = Cluster::new();
    let fails = Some((Duration::from_secs(5), End::Failure));
    cluster.controllers.kubelet.plans.push(Plan { ends: fails, ..Plan::default() });
    cluster.create(JOBS, &job(3));
    cluster.run();
    let job = cluster.get(&format!("{JOBS}/j"));
    assert_eq!(job["status"]["conditions"][0]["reason"], "BackoffLimitExceeded", "{job}");
    assert_eq!(job["status"]["failed"], 4);
    assert!(job["status"]["succeeded"].is_null());
}

#[test]
fn containers_that_fail_are_started_again_as_often_as_the_plan_says() {
    let mut cluster = Cluster::new();
    let labels = BTreeMap::from([("app".to_owned(), "bad".to_owned())]);
    let fails = Some((Duration::from_secs(5), End::Failure));
    let plan = Plan { labels, ends: fails, times: Some(2), ..Plan::default() };
    cluster.controllers.kubelet.plans.push(plan);
    for name in ["bad", "good"] {
        let spec = json!({"containers": [{"name": "c", "image": "i"}]});
        let metadata = json!({"name": name, "labels": {"app": name}});
        cluster.create(PODS, &json!({"metadata": metadata, "spec": spec}));
    }
    let mut waited = false;
    while cluster.tick() {
        let bad = cluster.get(&format!("{PODS}/bad"));
        let waits = &bad["status"]["containerStatuses"][0]["state"]["waiting"]["reason"];
        waited |= waits == "CrashLoopBackOff" && !is_ready(&bad);
    }
    assert!(waited);
    for (name, restarts) in [("bad", 2), ("good", 0)] {
        let pod = cluster.get(&format!("{PODS}/{name}"));
        assert_eq!(pod["status"]["containerStatuses"][0]["restartCount"], restarts, "{pod}");
        assert!(is_ready(&pod));
    }
}

#[test]
fn the_same_program_gives_the_same_bytes() {
    let run = || {
        let mut cluster = Cluster::new();
        cluster.create(DEPLOYMENTS, &workload("web", 3));
        cluster.create(JOBS, &job(0));
        cluster.run();
        let paths = [DEPLOYMENTS, SETS, JOBS, PODS];
        paths.map(|path| cluster.get(path).to_string()).join("\n")
    };
    assert_eq!(run(), run());
}
