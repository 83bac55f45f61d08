//! The rights of controllers: what their roles lack, what they grant in vain, and the smallest role.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt as _};
use seatrial_sim::simulation::{Failure, Report, Rights, Simulation};
use serde_json::json;
use tokio::time::sleep;

use crate::on_kube::on_kube;

fn map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}})).expect("a map")
}

/// Makes `a`, gives it a label, and then does nothing. Whether it is done, it knows from a list.
async fn labels(client: Client) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let own = maps.list(&ListParams::default()).await.expect("a list").items;
    if own.is_empty() {
        maps.create(&PostParams::default(), &map("a")).await.expect("it is new");
    }
    if !own.iter().any(|it| it.labels().contains_key("done")) {
        let done = Patch::Merge(json!({"metadata": {"labels": {"done": "yes"}}}));
        maps.patch("a", &PatchParams::default(), &done).await.expect("it is there");
    }
    std::future::pending::<()>().await;
}

/// Makes `a` and `b`. Only a process that finds `a` without `b`, which the one before has left, reads a
/// secret and patches `a`.
async fn goes_on(client: Client) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let there = async |name| maps.get_opt(name).await.expect("an answer").is_some();
    if there("a").await && !there("b").await {
        let secrets: Api<Secret> = Api::default_namespaced(client);
        drop(secrets.get_opt("hint").await);
        let same = Patch::Merge(json!({}));
        maps.patch("a", &PatchParams::default(), &same).await.expect("it is there");
    }
    for name in ["a", "b"] {
        drop(maps.create(&PostParams::default(), &map(name)).await);
    }
    std::future::pending::<()>().await;
}

/// Writes the status of a pod as soon as there is one.
async fn reports(client: Client) {
    let pods: Api<Pod> = Api::all(client.clone());
    let own: Api<Pod> = Api::default_namespaced(client);
    loop {
        for pod in pods.list(&ListParams::default()).await.expect("a list").items {
            let is_done = pod.status.and_then(|it| it.phase).is_some_and(|it| it == "Running");
            if !is_done {
                let status = Patch::Merge(json!({"status": {"phase": "Running"}}));
                let name = pod.metadata.name.unwrap_or_default();
                own.patch_status(&name, &PatchParams::default(), &status)
                    .await
                    .expect("it is there");
            }
        }
        sleep(Duration::from_secs(20)).await;
    }
}

const LABELS: &str = r#"
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: labels}
rules:
- apiGroups: [""]
  resources: [configmaps]
  verbs: [list, create, patch]
"#;

const GOES_ON: &str = r#"
kind: ClusterRole
rules:
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, create, patch]
- apiGroups: [""]
  resources: [secrets]
  resourceNames: [hint, other]
  verbs: [get]
"#;

const REPORTS: &str = r#"
kind: ClusterRole
metadata: {name: reports}
rules:
- apiGroups: [""]
  resources: [pods]
  verbs: [list]
---
kind: Role
metadata: {name: reports, namespace: default}
rules:
- apiGroups: [""]
  resources: [pods/status]
  verbs: [patch]
---
kind: ServiceAccount
metadata: {name: reports}
"#;

fn all(which: usize, role: &str) -> Simulation {
    let simulation = match which {
        0 => on_kube(labels),
        1 => on_kube(goes_on),
        _ => {
            let pod = json!({
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            });
            on_kube(reports).create(&pod)
        }
    };
    simulation.may_be_idle().random(0, 1).role(role)
}

fn held(which: usize, role: &str) -> Report {
    all(which, role).try_check().unwrap_or_else(|failure| panic!("{failure}"))
}

fn failure(which: usize, role: &str) -> Failure {
    *all(which, role).try_check().expect_err("a right is missing")
}

fn rights(failure: &Failure) -> &Rights {
    failure.rights.as_ref().expect("it has roles")
}

/// The roles without one verb, each with what is left out.
fn without_one(role: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = role.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((head, verbs)) = line.split_once("verbs: ") else { continue };
        let verbs: Vec<&str> = verbs
            .trim_matches(['[', ']'])
            .split(',')
            .map(|it| it.trim().trim_matches('"'))
            .collect();
        for verb in &verbs {
            let left: Vec<&&str> = verbs.iter().filter(|it| *it != verb).collect();
            // A role that is no longer needed stays, so that there is one.
            let mut changed: Vec<String> = lines.iter().map(|&it| it.to_owned()).collect();
            changed[at] = format!("{head}verbs: {}", json!(left));
            found.push(((*verb).to_owned(), changed.join("\n")));
        }
    }
    found
}

#[test]
fn a_role_that_suffices_holds_and_what_it_grants_in_vain_is_named() {
    let report = held(0, LABELS);
    let rights = report.rights.as_ref().expect("it has a role");
    assert_eq!((&rights.missing, &rights.unused), (&vec![], &vec![]), "{report}");
    let wide = LABELS.replace("[list, create, patch]", "[list, create, patch, delete, watch]");
    let rights = held(0, &wide).rights.expect("it has a role");
    assert_eq!(rights.unused, ["delete configmaps", "watch configmaps"]);
    let smallest = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: controller\n  namespace: \"default\"\nrules:\n- apiGroups: [\"\"]\n  resources: [\"configmaps\"]\n  verbs: [\"create\",\"list\",\"patch\"]\n";
    assert_eq!(rights.smallest, smallest);
}

#[test]
fn a_right_that_is_needed_only_after_a_crash_is_missed_by_name() {
    let left_out = GOES_ON.replace("[get, create, patch]", "[get, create]");
    let failure = failure(1, &left_out);
    assert_eq!(failure.plan.to_string(), "crash(1)", "{failure}");
    let own = "the controller asks for nothing that its roles do not grant";
    let violation = failure.violations.iter().find(|it| it.rule == own).expect("it is told");
    assert_eq!(violation.text, ["patch configmaps in default, for: 2: patch configmaps default/a"]);
    assert_eq!(rights(&failure).missing, violation.text);
    let text = failure.to_string();
    assert!(text.contains("missing right: patch configmaps in default"), "{text}");
}

#[test]
fn every_verb_that_is_left_out_is_named_and_the_smallest_role_suffices() {
    for (which, role) in [LABELS, GOES_ON, REPORTS].into_iter().enumerate() {
        let smallest = held(which, role).rights.expect("it has roles").smallest;
        let again = held(which, &smallest).rights.expect("it has roles");
        assert_eq!((&again.unused, &again.smallest), (&vec![], &smallest), "{which}");
        let smaller = without_one(&smallest);
        assert!(smaller.len() >= 2, "{smallest}");
        for (verb, smaller) in smaller {
            let failure = failure(which, &smaller);
            let missing = &rights(&failure).missing;
            assert_eq!(missing.len(), 1, "{missing:?}");
            assert!(missing[0].starts_with(&format!("{verb} ")), "{verb}: {missing:?}");
        }
        // Without any of them, one report names all.
        let none = "kind: Role\nrules: []";
        let failure = failure(which, none);
        let count = without_one(&smallest).len();
        assert_eq!(rights(&failure).missing.len(), count, "{failure}");
    }
}

#[test]
fn a_role_that_every_cluster_has_counts_where_it_is_bound() {
    let bound = |role: &str| {
        let role = format!("roleRef: {{kind: ClusterRole, name: {role}}}");
        format!("kind: RoleBinding\nmetadata: {{name: b, namespace: default}}\n{role}")
    };
    let rights = held(0, &bound("edit")).rights.expect("it has a role");
    assert_eq!((&rights.missing, &rights.unused), (&vec![], &vec![]));
    assert!(rights.smallest.contains(r#"verbs: ["create","list","patch"]"#), "{}", rights.smallest);
    let text = failure(0, &bound("view")).to_string();
    assert!(text.contains("missing right: create configmaps in default"), "{text}");
    let read = std::panic::catch_unwind(|| on_kube(labels).role(&bound("none")));
    assert!(read.is_err(), "there is no such role");
}

#[test]
fn names_of_a_rule_that_are_never_used_are_named() {
    let rights = held(1, GOES_ON).rights.expect("it has roles");
    assert_eq!(rights.unused, ["get secrets other"]);
    assert!(rights.smallest.contains("  resourceNames: [\"hint\"]\n"), "{}", rights.smallest);
}

#[test]
fn a_role_that_cannot_be_read_is_refused() {
    for text in ["", "kind: Pod", "{", "- 1", "kind: [Role"] {
        let read = std::panic::catch_unwind(|| on_kube(labels).role(text));
        assert!(read.is_err(), "{text:?}");
    }
}
