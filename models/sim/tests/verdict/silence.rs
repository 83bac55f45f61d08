//! Tests that would pass without having looked at anything.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::api::Api;
use kube::runtime::controller::Action;
use serde_json::json;

use crate::on_kube::on_kube;
use crate::{Done, apply, config_map, failure, note, reconciles};

async fn copies(map: Arc<ConfigMap>, client: Arc<Client>) -> Done {
    apply(&client, "copy", json!({"of": map.metadata.name})).await?;
    Ok(Action::await_change())
}

#[test]
fn a_replay_that_strikes_nothing_is_an_error_that_says_so() {
    let simulation = || on_kube(|it| reconciles(it, copies)).create(&config_map("a"));
    let failed = failure(simulation().replay("crash(99)"));
    assert_eq!(failed.violations[0].rule, "the replayed plan strikes");
    let text = &failed.violations[0].text[0];
    assert_eq!(text, "crash(99) strikes nothing: the run has 1 write and 2 changes");
    assert!(failed.to_string().contains("this one fails: crash(99)"), "{failed}");
    assert_eq!(simulation().replay("crash(1) jitter(3)").check().plans, 1);
    assert_eq!(simulation().replay("jitter(3)").check().plans, 1, "a slow network is all");
}

#[test]
fn a_controller_that_never_writes_or_never_looks_is_no_pass() {
    let text = |run| failure(run).violations[0].text.join("\n");
    let idle = |_| std::future::pending::<()>();
    assert_eq!(text(on_kube(idle)), "it never asks the server for anything");
    assert_eq!(on_kube(idle).may_be_idle().random(0, 1).check().plans, 0, "it was wanted");
    let reader = |client: Client| async move {
        let maps: Api<ConfigMap> = Api::default_namespaced(client);
        drop(maps.list(&Default::default()).await);
        std::future::pending::<()>().await;
    };
    assert_eq!(text(on_kube(reader)), "it never writes anything");
    // It writes, and looks at nothing that the user does.
    let deaf = |client: Client| async move {
        drop(apply(&client, "a", json!({})).await);
        std::future::pending::<()>().await;
    };
    assert_eq!(
        text(on_kube(deaf).create(&config_map("a"))),
        "it never reads anything, so that the user's steps do not reach it"
    );
    on_kube(deaf).random(0, 1).check();
}

#[test]
fn a_controller_whose_kind_is_missing_fails_at_its_start() {
    let lost = |client: Client| async move {
        drop(apply(&client, "a", json!({})).await);
        let path = "/apis/example.com/v1/widgets".to_owned();
        loop {
            let request = http::Request::get(&path).body(Vec::new()).expect("a request");
            drop(client.request::<serde_json::Value>(request).await);
            tokio::time::sleep(Duration::from_secs(30)).await;
        }
    };
    let failed = failure(on_kube(lost).create(&config_map("a")));
    assert!(
        failed.violations.iter().any(|it| it.rule == "no error is repeated for ever"),
        "{failed}"
    );
}

async fn panics_at_a_note(map: Arc<ConfigMap>, client: Arc<Client>) -> Done {
    let noted = map.metadata.annotations.is_some();
    assert!(!noted, "it is not known yet");
    note(&client, &map, json!({"seen": "yes"})).await?;
    Ok(Action::await_change())
}

#[test]
fn a_panic_inside_kubes_controller_is_a_violation_with_its_source_line() {
    let failed = failure(on_kube(|it| reconciles(it, panics_at_a_note)).create(&config_map("a")));
    assert_eq!(failed.inadmissible, None);
    let panics = failed.violations.iter().find(|it| it.rule == "the controller does not panic");
    let text = &panics.expect("it panics").text[0];
    assert!(text.contains("it is not known yet, at "), "{text}");
    assert!(text.contains("tests/verdict/silence.rs:"), "{text}");
    assert!(failed.picture.contains("-- panics: it is not known yet, at "), "{failed}");
}

#[test]
fn a_task_that_panics_while_the_process_goes_on_is_a_violation() {
    let spawns = |client: Client| async move {
        drop(apply(&client, "a", json!({})).await);
        drop(tokio::spawn(async { panic!("a helper dies") }).await);
        std::future::pending::<()>().await;
    };
    let failed = failure(on_kube(spawns));
    assert!(failed.violations[0].text[0].contains("a helper dies, at "), "{failed}");
    on_kube(spawns).may_panic().random(0, 1).check();
}
