//! Correct controllers that use times, chance and several tasks; and their bugs.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::runtime::controller::Action;
use kube::{Client, ResourceExt as _};
use seatrial_sim::simulation::{Simulation, is_exact};
use serde_json::json;

use crate::on_kube::on_kube;
use crate::{Done, apply, by_chance, config_map, failure, note, reconciles};

/// The time as chrono's `to_rfc3339` writes it, in seconds, in milliseconds, and in a way of its own.
async fn stamps(map: Arc<ConfigMap>, client: Arc<Client>) -> Done {
    let now = Timestamp::now();
    let text = now.to_string().replace('Z', "+00:00");
    let (seconds, millis) = (now.as_second(), now.as_millisecond());
    let times = json!({"text": text, "seconds": seconds.to_string(), "millis": millis.to_string()});
    apply(&client, &map.name_any(), times.clone()).await?;
    if !map.annotations().contains_key("text") {
        note(&client, &map, times).await?;
    }
    Ok(Action::await_change())
}

#[test]
fn a_time_in_any_form_is_no_difference() {
    let maps = || on_kube(|it| reconciles(it, stamps)).create(&config_map("a"));
    maps().create(&config_map("b")).check();
    by_chance(maps()).check();
}

/// The same, but the time is noted first, and what is noted counts as done.
async fn stamps_first(map: Arc<ConfigMap>, client: Arc<Client>) -> Done {
    if !map.annotations().contains_key("text") {
        let times = json!({"text": Timestamp::now().to_string().replace('Z', "+00:00")});
        note(&client, &map, times.clone()).await?;
        apply(&client, &map.name_any(), times).await?;
    }
    Ok(Action::await_change())
}

#[test]
fn a_bug_beside_a_time_is_convicted() {
    let simulation = || on_kube(|it| reconciles(it, stamps_first)).create(&config_map("a"));
    for simulation in [simulation(), by_chance(simulation())] {
        let failed = failure(simulation);
        assert_eq!((failed.plan.to_string().as_str(), &failed.inadmissible), ("crash(1)", &None));
        assert_eq!(failed.violations[0].text, ["- secrets default/a is missing"]);
    }
}

/// Notes since when it has lived, in words of its own.
#[cfg(feature = "exact")]
async fn notes_the_day(map: Arc<ConfigMap>, client: Arc<Client>) -> Done {
    let day = Timestamp::now().as_second() / 86_400;
    note(&client, &map, json!({"seen": format!("on day {day}")})).await?;
    Ok(Action::await_change())
}

#[cfg(feature = "exact")]
#[test]
fn a_value_that_follows_the_start_is_a_time_and_is_listed() {
    if !is_exact() {
        return; // there the clock of the machine is read
    }
    let maps = on_kube(|it| reconciles(it, notes_the_day)).create(&config_map("a"));
    let text = maps.random(4, 1).check().to_string();
    let line = "follows the time of the start, not compared: configmaps /metadata/annotations/seen";
    assert!(text.contains(line), "{text}");
}

/// Draws a password unless there is one.
async fn draws(map: Arc<ConfigMap>, client: Arc<Client>) -> Done {
    let secrets: Api<Secret> = Api::default_namespaced(Client::clone(&client));
    if secrets.get_opt(&map.name_any()).await?.is_none() {
        let password = format!("{:032x}", fastrand::u128(..));
        let secret =
            json!({"metadata": {"name": map.name_any()}, "stringData": {"password": password}});
        let secret: Secret = serde_json::from_value(secret).expect("a secret");
        secrets.create(&PostParams::default(), &secret).await?;
    }
    Ok(Action::await_change())
}

/// Remembers the password of this process, and applies it.
async fn redraws(client: Client) {
    let password = format!("{:032x}", fastrand::u128(..));
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    loop {
        for map in maps.list(&Default::default()).await.into_iter().flatten() {
            drop(apply(&client, &map.name_any(), json!({"password": password})).await);
        }
        tokio::time::sleep(Duration::from_secs(10)).await;
    }
}

#[test]
fn a_random_password_is_compared_up_to_renaming() {
    let simulation = || on_kube(|it| reconciles(it, draws)).create(&config_map("a"));
    for simulation in [simulation(), by_chance(simulation())] {
        let text = simulation.check().to_string();
        assert!(text.contains("up to renaming: secrets /data/password"), "{text}");
    }
}

#[test]
fn a_password_that_changes_after_a_crash_is_convicted() {
    let simulation = || on_kube(redraws).create(&config_map("a"));
    for simulation in [simulation(), by_chance(simulation())] {
        let failed = failure(simulation);
        assert_eq!((failed.plan.to_string().as_str(), &failed.inadmissible), ("crash(1)", &None));
        let text = failed.violations[0].text.join("\n");
        assert!(text.contains(".data.password") && text.contains("changed"), "{text}");
    }
}

/// Makes a map of a drawn name for each map of a user, and notes the name: before, or after.
async fn names(map: Arc<ConfigMap>, client: Arc<Client>, is_careful: bool) -> Done {
    let maps: Api<ConfigMap> = Api::default_namespaced(Client::clone(&client));
    let known = map.annotations().get("worker").cloned();
    let name = known.clone().unwrap_or_else(|| format!("worker-{:08x}", fastrand::u32(..)));
    if known.is_none() && is_careful {
        // Not from an old view: another name may be noted by now.
        let metadata =
            json!({"resourceVersion": map.resource_version(), "annotations": {"worker": name}});
        let patch = Patch::Merge(json!({"metadata": metadata}));
        maps.patch(&map.name_any(), &PatchParams::default(), &patch).await?;
    }
    if (known.is_none() || is_careful) && maps.get_opt(&name).await?.is_none() {
        let worker = json!({"metadata": {"name": name}, "data": {"of": map.name_any()}});
        let worker: ConfigMap = serde_json::from_value(worker).expect("a map");
        maps.create(&PostParams::default(), &worker).await?;
    }
    if known.is_none() && !is_careful {
        note(&client, &map, json!({"worker": name})).await?;
    }
    Ok(Action::await_change())
}

#[test]
fn a_name_that_is_drawn_is_no_difference_and_a_second_object_is() {
    let careful = || on_kube(|it| reconciles(it, |map, client| names(map, client, true)));
    let hasty = || on_kube(|it| reconciles(it, |map, client| names(map, client, false)));
    let used = |it: Simulation| it.create(&config_map("a")).create(&config_map("b"));
    for simulation in [used(careful()), by_chance(used(careful()))] {
        let text = simulation.check().to_string();
        assert!(text.contains("configmaps default/worker-"), "{text}");
    }
    for simulation in [used(hasty()), by_chance(used(hasty()))] {
        let failed = failure(simulation);
        let text = failed.violations[0].text.join("\n");
        assert!(text.contains("+ configmaps default/worker-*#2 is there as well"), "{failed}");
    }
}

fn size(map: &ConfigMap) -> String {
    map.data.as_ref().and_then(|it| it.get("size")).cloned().unwrap_or_default()
}

/// Notes each minute that it lives, and how often it has done so, and does its work beside.
async fn beats(map: Arc<ConfigMap>, client: Arc<Client>) -> Done {
    apply(&client, &map.name_any(), json!({"size": size(&map)})).await?;
    beat(&map, &client).await
}

async fn beat(map: &ConfigMap, client: &Client) -> Done {
    let count = map.annotations().get("count").and_then(|it| it.parse().ok()).unwrap_or(0_u64);
    let last = map.annotations().get("at").and_then(|it| it.parse::<Timestamp>().ok());
    let due = last.is_none_or(|it| Timestamp::now().duration_since(it).as_secs() >= 20);
    if due {
        let at = Timestamp::now().to_string();
        note(client, map, json!({"at": at, "count": (count + 1).to_string()})).await?;
    }
    Ok(Action::requeue(Duration::from_secs(20)))
}

#[test]
fn a_heartbeat_is_rest_and_the_users_next_step_comes() {
    let simulation = on_kube(|it| reconciles(it, beats))
        .create(&config_map("a"))
        .patch("ConfigMap", "a", json!({"data": {"size": "2"}}))
        .at_end(|state| match state.get("secrets", "default/a") {
            Some(secret) if secret["data"]["size"] == "Mg==" => Ok(()),
            other => Err(format!("the step did not come: {other:?}")),
        });
    let text = simulation.random(8, 1).check().to_string();
    // By the clock of the machine the minute does not pass.
    assert!(!is_exact() || text.contains("configmaps /metadata/annotations/count"), "{text}");
}

/// The same, but what is noted counts as done.
async fn beats_first(map: Arc<ConfigMap>, client: Arc<Client>) -> Done {
    let size = size(&map);
    if map.annotations().get("size") != Some(&size) {
        note(&client, &map, json!({"size": size})).await?;
        apply(&client, &map.name_any(), json!({"size": size})).await?;
    }
    beat(&map, &client).await
}

#[test]
fn a_bug_beside_a_heartbeat_is_convicted() {
    let simulation = on_kube(|it| reconciles(it, beats_first)).create(&config_map("a")).patch(
        "ConfigMap",
        "a",
        json!({"data": {"size": "2"}}),
    );
    let failed = failure(simulation.random(0, 1));
    assert_eq!(failed.inadmissible, None, "{failed}");
    assert!(failed.plan.to_string().starts_with("crash("), "{failed}");
    let text = failed.violations[0].text.join("\n");
    assert!(text.contains("secrets default/a"), "{text}");
}

async fn copies(map: Arc<ConfigMap>, client: Arc<Client>) -> Done {
    apply(&client, &format!("{}-copy", map.name_any()), json!({"done": "yes"})).await?;
    Ok(Action::await_change())
}

async fn notes(map: Arc<ConfigMap>, client: Arc<Client>) -> Done {
    apply(&client, &format!("{}-note", map.name_any()), json!({"done": "yes"})).await?;
    if !map.annotations().contains_key("noted") {
        note(&client, &map, json!({"noted": "yes"})).await?;
    }
    Ok(Action::await_change())
}

/// Notes first that it has copied, and copies then.
async fn notes_first(map: Arc<ConfigMap>, client: Arc<Client>) -> Done {
    if !map.annotations().contains_key("noted") {
        note(&client, &map, json!({"noted": "yes"})).await?;
        apply(&client, &format!("{}-note", map.name_any()), json!({"done": "yes"})).await?;
    }
    Ok(Action::await_change())
}

async fn two(client: Client) {
    join(reconciles(client.clone(), copies), reconciles(client, notes)).await;
}

#[test]
fn two_controllers_in_one_process_hold_each_time() {
    let maps = || on_kube(two).create(&config_map("a")).create(&config_map("b")).random(15, 1);
    maps().random(60, 1).check();
    let mut in_two_ways = 0;
    for _ in 0..20 {
        let report = by_chance(maps()).check();
        assert_eq!(report.plans, report.planned);
        in_two_ways += report.apart.0;
    }
    assert!(in_two_ways > 0, "chance is at work");
}

#[test]
fn a_bug_of_one_of_two_controllers_is_convicted() {
    let wrong = async |client: Client| {
        join(reconciles(client.clone(), copies), reconciles(client, notes_first)).await;
    };
    let simulation = || on_kube(wrong).create(&config_map("a"));
    for simulation in [simulation(), by_chance(simulation())] {
        let failed = failure(simulation);
        assert_eq!(failed.inadmissible, None, "{failed}");
        assert_eq!(failed.violations[0].text, ["- secrets default/a-note is missing"]);
    }
}
