//! The problems that a simulation notices, and its messages.

mod on_kube;

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::StreamExt as _;
use futures::future::join_all;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::events::{Event, EventType, Recorder};
use kube::runtime::watcher;
use kube::{Client, Resource as _, ResourceExt as _};
use seatrial_sim::simulation::{Failure, Simulation, untimed};
use serde_json::json;
use tokio::time::sleep;

use on_kube::on_kube;

fn config_map(name: &str) -> ConfigMap {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    ConfigMap { metadata, ..ConfigMap::default() }
}

fn failure(simulation: Simulation) -> Failure {
    *simulation.try_check().expect_err("something is wrong")
}

/// Creates these, one after the other unless they are to be made at once, and then does nothing.
async fn create(client: Client, names: &[&str], at_once: bool) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let one = async |name: &str| {
        // It is fine if the object exists already.
        drop(maps.create(&PostParams::default(), &config_map(name)).await);
    };
    if at_once {
        join_all(names.iter().map(|name| one(name))).await;
    } else {
        for name in names {
            one(name).await;
        }
    }
    std::future::pending::<()>().await;
}

/// Creates `a`, and `b` only if it is the one that has created `a`.
async fn second_with_the_first(client: Client) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    if maps.create(&PostParams::default(), &config_map("a")).await.is_ok() {
        while maps.create(&PostParams::default(), &config_map("b")).await.is_err() {
            sleep(Duration::from_secs(1)).await;
        }
    }
    std::future::pending::<()>().await;
}

#[test]
fn a_plan_loses_the_faults_that_it_does_not_need() {
    let plan = "jitter(7) lost(2) crash(1) cut(configmaps,1)";
    let failure = failure(on_kube(second_with_the_first).replay(plan));
    assert_eq!(failure.plan.to_string(), "crash(1)");
    assert_eq!(failure.violations[0].text, ["- configmaps default/b is missing"]);
}

#[test]
fn what_the_user_demands_is_asked_after_every_write_and_at_the_end() {
    let few = |state: &seatrial_sim::simulation::State| match state.list("configmaps").count() {
        0..=1 => Ok(()),
        count => Err(format!("{count} maps")),
    };
    let make = |client| create(client, &["a", "b"], false);
    let always = failure(on_kube(make).always(few));
    assert_eq!(always.violations[0].text, ["2 maps"]);
    assert!(always.plan.faults.is_empty());
    let end = failure(on_kube(make).at_end(|state| {
        state.get("configmaps", "default/c").map(drop).ok_or_else(|| "no c".to_owned())
    }));
    assert_eq!(end.violations[0].text, ["no c"]);
    let held = on_kube(make).at_end(move |state| match few(state) {
        Ok(()) => Err("too few".to_owned()),
        Err(_) => Ok(()),
    });
    assert_eq!(held.random(0, 1).check().plans, 2);
}

#[test]
fn writes_in_flight_land_when_the_process_dies() {
    let make = |client| create(client, &["a", "b", "c"], true);
    // They travel for different times: the first that arrives is the process's last.
    let picture = on_kube(make).draw("crash(1) jitter(3)");
    let death = picture.find("-- dies --").expect("it dies");
    for name in ["a", "b", "c"] {
        let landed = picture.find(&format!("create configmaps default/{name}"));
        assert!(landed.is_some_and(|at| at < death), "{name} lands before:\n{picture}");
    }
}

#[test]
fn a_process_that_died_writes_no_more() {
    let make = |client| create(client, &["a", "b"], false);
    let picture = on_kube(make).draw("crash(1)");
    let (death, b) = (picture.find("-- dies --"), picture.find("create configmaps default/b"));
    assert!(death.expect("it dies") < b.expect("its successor writes"), "{picture}");
}

#[test]
fn a_loop_of_requests_is_noticed() {
    let failure = failure(on_kube(|client: Client| async move {
        let maps: Api<ConfigMap> = Api::default_namespaced(client);
        loop {
            drop(maps.get_opt("a").await);
            sleep(Duration::from_millis(500)).await;
        }
    }));
    assert_eq!(failure.violations[0].rule, "few requests are sent while nothing happens");
}

#[test]
fn a_loop_without_requests_is_noticed() {
    let failure = failure(on_kube(|_| async {
        loop {
            tokio::task::yield_now().await;
        }
    }));
    assert_eq!(failure.violations[0].rule, "the controller comes to rest");
    assert!(failure.violations[0].text[0].contains("spins without requests"), "{failure}");
}

#[test]
fn writes_without_end_are_noticed() {
    let failure = failure(
        on_kube(|client: Client| async move {
            let maps: Api<ConfigMap> = Api::default_namespaced(client);
            for colour in ["red", "green"].into_iter().cycle() {
                let patch = Patch::Merge(json!({"data": {"colour": colour}}));
                drop(maps.patch("a", &PatchParams::default(), &patch).await);
                sleep(Duration::from_secs(60)).await;
            }
        })
        .given(&config_map("a")),
    );
    assert_eq!(failure.violations[0].rule, "the controller comes to rest");
}

#[test]
fn a_wish_that_grows_for_ever_is_no_heartbeat() {
    let failure = failure(
        on_kube(|client: Client| async move {
            let maps: Api<ConfigMap> = Api::default_namespaced(client);
            for number in 0_u64.. {
                let patch = Patch::Merge(json!({"data": {"number": number.to_string()}}));
                drop(maps.patch("a", &PatchParams::default(), &patch).await);
                sleep(Duration::from_secs(60)).await;
            }
        })
        .given(&config_map("a")),
    );
    assert_eq!(failure.violations[0].rule, "the controller comes to rest");
}

#[test]
fn an_error_for_ever_is_noticed() {
    let failure = failure(
        on_kube(|client: Client| async move {
            let maps: Api<ConfigMap> = Api::default_namespaced(client);
            let wrong = Patch::Merge(json!({"data": 7}));
            loop {
                drop(maps.patch("a", &PatchParams::default(), &wrong).await);
                sleep(Duration::from_secs(60)).await;
            }
        })
        .given(&config_map("a")),
    );
    assert_eq!(failure.violations[0].rule, "no error is repeated for ever");
}

#[test]
fn a_process_that_ends_or_panics_again_and_again_is_noticed() {
    let ends = failure(on_kube(|_| async {}));
    assert_eq!(ends.violations[0].text, ["the controller ends by itself, 5 times"]);
    let panics = failure(on_kube(|_| async { panic!("no configuration") }));
    let text = &panics.violations[0].text[0];
    assert!(text.starts_with("the controller panics: no configuration, at "), "{text}");
    assert!(text.contains("tests/simulation.rs:") && text.ends_with(", 5 times"), "{text}");
}

#[test]
fn a_step_that_the_server_refuses_is_noticed() {
    let idle = |_| std::future::pending::<()>();
    let twice = on_kube(idle).create(&config_map("a")).create(&config_map("a"));
    let failure = failure(twice);
    assert_eq!(failure.violations[0].rule, "the server accepts the user's steps");
    assert!(failure.violations[0].text[0].contains("already exists"), "{failure}");
}

#[test]
fn a_controller_that_waits_for_signals_runs_as_it_is() {
    let mark = async |map: Arc<ConfigMap>, maps: Arc<Api<ConfigMap>>| {
        let patch = Patch::Merge(json!({"data": {"seen": "yes"}}));
        maps.patch(&map.name_any(), &PatchParams::default(), &patch).await?;
        Ok::<_, kube::Error>(Action::await_change())
    };
    let run = move |client: Client| {
        let maps: Api<ConfigMap> = Api::default_namespaced(client);
        let again = |_: Arc<ConfigMap>, _: &kube::Error, _: Arc<Api<ConfigMap>>| {
            Action::requeue(Duration::from_secs(5))
        };
        Controller::new(maps.clone(), watcher::Config::default())
            .shutdown_on_signal()
            .run(mark, again, Arc::new(maps))
            .for_each(|_| async {})
    };
    let seen = |state: &seatrial_sim::simulation::State| {
        let map = state.get("configmaps", "default/a").ok_or("no map")?;
        if map["data"]["seen"] == "yes" { Ok(()) } else { Err("it was not seen".to_owned()) }
    };
    on_kube(run).create(&config_map("a")).at_end(seen).check();
}

#[test]
fn events_that_are_named_by_the_time_are_no_difference() {
    let tell = |client: Client| async move {
        let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
        let recorder = Recorder::new(client, "reporter".into());
        drop(maps.create(&PostParams::default(), &config_map("a")).await);
        let map = maps.get("a").await.expect("it is there");
        for _ in 0..2 {
            let event = Event {
                type_: EventType::Normal,
                reason: "Seen".to_owned(),
                note: None,
                action: "Looking".to_owned(),
                secondary: None,
            };
            recorder.publish(&event, &map.object_ref(&())).await.expect("the server takes it");
        }
        std::future::pending::<()>().await;
    };
    let picture = on_kube(tell).draw("");
    assert!(picture.contains("patch events.events.k8s.io default/a."), "{picture}");
    on_kube(tell).random(0, 1).check();
}

#[test]
fn a_controller_with_a_memory_of_its_own_is_inadmissible() {
    let processes = Arc::new(AtomicU32::new(0));
    let failure = failure(on_kube(move |client| {
        let number = processes.fetch_add(1, Ordering::Relaxed);
        async move { create(client, &[&format!("map-{number}")], false).await }
    }));
    let difference = failure.inadmissible.as_deref().expect("two runs differ");
    assert!(difference.contains("map-0") && difference.contains("map-1"), "{difference}");
}

#[test]
fn drawn_names_and_uids_are_no_difference() {
    let make = |client: Client| async move {
        let pods: Api<Pod> = Api::default_namespaced(client.clone());
        let maps: Api<ConfigMap> = Api::default_namespaced(client);
        let spec = json!({"containers": [{"name": "main", "image": "example"}]});
        let pod = json!({"metadata": {"generateName": "web-"}, "spec": spec});
        let pod: Pod = serde_json::from_value(pod).expect("it is a pod");
        // Every process draws a name and a uid, so a second process shifts all that follow.
        let probe = json!({"metadata": {"generateName": "probe-"}, "spec": pod.spec});
        let probe: Pod = serde_json::from_value(probe).expect("it is a pod");
        let probe = pods.create(&PostParams::default(), &probe).await.expect("a probe");
        drop(pods.delete(&probe.name_any(), &Default::default()).await);
        if pods.list(&Default::default()).await.is_ok_and(|it| it.items.is_empty()) {
            drop(pods.create(&PostParams::default(), &pod).await);
        }
        drop(maps.create(&PostParams::default(), &config_map("a")).await);
        let found = pods.list(&Default::default()).await.expect("a list").items;
        let uid = found[0].uid();
        let patch = Patch::Merge(json!({"data": {"pod": uid}}));
        drop(maps.patch("a", &PatchParams::default(), &patch).await);
        std::future::pending::<()>().await;
    };
    on_kube(make).replay("crash(2)").check();
    on_kube(make).replay("crash(4)").check();
}

#[test]
#[should_panic(expected = "\"hail(1)\" is no fault")]
fn a_text_that_is_no_plan_says_what_one_is() {
    drop(on_kube(|_| async {}).replay("hail(1)"));
}

/// Notes in each map that it was seen.
async fn sees(client: Client) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    for map in maps.list(&Default::default()).await.into_iter().flatten() {
        if map.annotations().contains_key("seen") {
            continue;
        }
        let patch = Patch::Merge(json!({"metadata": {"annotations": {"seen": "yes"}}}));
        drop(maps.patch(&map.name_any(), &PatchParams::default(), &patch).await);
    }
    std::future::pending::<()>().await;
}

/// `SEATRIAL_OBJECTS` is how many: more than 20,000 take more requests than any controller of a few needs.
#[test]
fn many_objects_are_no_hot_loop() {
    let objects = std::env::var("SEATRIAL_OBJECTS").ok().and_then(|it| it.parse().ok());
    let objects = objects.unwrap_or(100);
    let given =
        |simulation: Simulation, number| simulation.given(&config_map(&format!("m-{number}")));
    let simulation = (0..objects).fold(on_kube(sees), given);
    let report = simulation.replay("crash(7)").check();
    println!("{objects} objects: {:?}", report.elapsed);
}

/// Fails as a user's test does if the next test gives it a plan by the environment.
#[test]
fn replayed() {
    let failure = failure(on_kube(second_with_the_first));
    assert_eq!(failure.plan.to_string(), "crash(1)");
    assert!(std::env::var_os("SEATRIAL_REPLAY").is_none(), "{failure}");
}

#[test]
fn the_line_that_is_printed_shows_the_same_again_in_fresh_processes() {
    let mut first = None;
    for _ in 0..10 {
        let mut command = Command::new(std::env::current_exe().expect("this test"));
        command.args(["replayed", "--exact", "--nocapture"]);
        let output = command.env("SEATRIAL_REPLAY", "lost(1) crash(1)").env("RUST_BACKTRACE", "0");
        let output = output.output().expect("it runs");
        assert!(!output.status.success());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let text = text.split_once("plans hold").expect("a picture").1.to_owned();
        let text = text.split("note: run with").next().unwrap_or_default().to_owned();
        let command =
            "SEATRIAL_REPLAY='crash(1)' cargo test -p seatrial-sim --test simulation replayed";
        assert!(text.contains(command), "{text}");
        let text = untimed(&text);
        assert_eq!(first.get_or_insert(text.clone()), &text);
    }
}
