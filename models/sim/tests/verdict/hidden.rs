//! Bugs behind what a test does not compare, and behind other bugs.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, Patch, PatchParams};
use kube::runtime::controller::Action;
use kube::{Client, ResourceExt as _};
use serde_json::json;

use crate::on_kube::on_kube;
use crate::{Done, apply, config_map, failure, note, reconciles};

/// The second map is made only by the process that has made the Secret.
async fn chain(map: Arc<ConfigMap>, client: Arc<Client>) -> Done {
    let secrets: Api<Secret> = Api::default_namespaced(Client::clone(&client));
    if secrets.get_opt("first").await?.is_none() {
        apply(&client, "first", json!({})).await?;
        note(&client, &map, json!({"done": "yes"})).await?;
    }
    Ok(Action::await_change())
}

#[test]
fn what_is_not_compared_is_a_crash_point_all_the_same() {
    let failed =
        failure(on_kube(|it| reconciles(it, chain)).create(&config_map("a")).ignoring("secrets"));
    assert_eq!(failed.plan.to_string(), "crash(1)");
    assert!(failed.to_string().contains("not compared: secrets"), "{failed}");
}

/// Writes its lives into an annotation.
async fn lives(client: Client) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let Ok(map) = maps.get("a").await else { return };
    let lives = map.annotations().get("x/lives").map_or(0, String::len) + 1;
    drop(note(&client, &map, json!({"x/lives": "i".repeat(lives)})).await);
    std::future::pending::<()>().await;
}

#[test]
fn a_field_is_left_out_by_its_pointer_or_by_a_pattern() {
    let simulation = || on_kube(lives).given(&config_map("a")).random(0, 1);
    let failed = failure(simulation());
    assert!(failed.violations[0].text[0].contains("x/lives"), "{failed}");
    for pattern in ["/metadata/annotations/x~1lives", "/metadata/annotations/*", "/*/*/x~1*"] {
        let text = simulation().ignoring_field("ConfigMap", pattern).check().to_string();
        assert!(text.contains(&format!("ConfigMap {pattern}")), "{text}");
    }
    failure(simulation().ignoring_field("Secret", "/metadata/annotations/*"));
}

/// Two bugs: a Secret and a label, each forgotten by a process that dies before it.
async fn forgets_two(map: Arc<ConfigMap>, client: Arc<Client>) -> Done {
    let maps: Api<ConfigMap> = Api::default_namespaced(Client::clone(&client));
    if map.annotations().contains_key("began") {
        return Ok(Action::await_change());
    }
    note(&client, &map, json!({"began": "yes"})).await?;
    apply(&client, "one", json!({})).await?;
    let label = Patch::Merge(json!({"metadata": {"labels": {"done": "yes"}}}));
    maps.patch(&map.name_any(), &PatchParams::default(), &label).await?;
    Ok(Action::await_change())
}

#[test]
fn failures_that_are_distinct_are_all_reported() {
    let failed = failure(on_kube(|it| reconciles(it, forgets_two)).create(&config_map("a")));
    assert_eq!((failed.plan.to_string().as_str(), failed.held), ("crash(1)", 0));
    let others: Vec<_> = failed.others.iter().map(|it| it.plans[0].to_string()).collect();
    assert_eq!(others, ["crash(2)"], "{failed}");
    assert!(failed.to_string().contains("another failure: crash(2)"), "{failed}");
}

/// A new process empties the Secret and fills it again.
async fn refills(client: Client) {
    drop(apply(&client, "a", json!({})).await);
    let secrets: Api<Secret> = Api::default_namespaced(client);
    for value in [None, Some("dmFsdWU=")] {
        let patch = Patch::Merge(json!({"data": {"key": value}}));
        drop(secrets.patch("a", &PatchParams::default(), &patch).await);
    }
    std::future::pending::<()>().await;
}

#[test]
fn a_secret_that_goes_and_comes_back_is_convicted_although_the_end_is_the_same() {
    let refills = || on_kube(refills).given(&config_map("a")).may_be_idle();
    let failed = failure(refills());
    assert_eq!(failed.plan.to_string(), "crash(3)", "{failed}");
    assert_eq!(failed.violations[0].text, ["data.key of secrets default/a goes and comes back"]);
    refills().ignoring("secrets").check();
}

#[test]
fn a_rule_over_time_sees_each_change() {
    let never_back = |before: &seatrial_sim::simulation::State, after: &_| {
        let lives = |state: &seatrial_sim::simulation::State| {
            let map = state.get("configmaps", "default/a");
            map.and_then(|it| it["metadata"]["annotations"]["x/lives"].as_str()).map(str::to_owned)
        };
        match (lives(before), lives(after)) {
            (Some(before), after) if after.as_ref() != Some(&before) => {
                Err("it changed".to_owned())
            }
            _ => Ok(()),
        }
    };
    let failed = failure(
        on_kube(lives)
            .given(&config_map("a"))
            .ignoring_field("ConfigMap", "/metadata/annotations/*")
            .step(never_back),
    );
    assert_eq!(
        (failed.plan.to_string().as_str(), &*failed.violations[0].text[0]),
        ("crash(1)", "it changed")
    );
}
