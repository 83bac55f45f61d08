//! Tests that a campaign tries every plan, twice, and that it says so if it does not.

mod on_kube;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::api::{Api, ObjectMeta, PostParams};
use kube::runtime::watcher::{self, watcher};
use seatrial_sim::simulation::{Simulation, Verdict, is_exact};

use on_kube::on_kube;

fn config_map(name: &str) -> ConfigMap {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    ConfigMap { metadata, ..ConfigMap::default() }
}

/// Creates two objects, and then watches all of its kind, from any version.
async fn create_and_watch(client: Client) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    for name in ["a", "b"] {
        drop(maps.create(&PostParams::default(), &config_map(name)).await);
    }
    // With pages, kube leaves the version out, and gets the newest.
    let config = watcher::Config { page_size: None, ..watcher::Config::default() };
    watcher(maps, config.any_semantic()).for_each(|_| async {}).await;
}

/// A simulation in which the user makes an object and deletes it; and the lives of its processes.
fn counted() -> (Simulation, Arc<AtomicU32>) {
    let lives = Arc::new(AtomicU32::new(0));
    let count = lives.clone();
    let simulation = on_kube(move |client| {
        count.fetch_add(1, Ordering::Relaxed);
        create_and_watch(client)
    });
    (simulation.create(&config_map("x")).delete("ConfigMap", "x"), lives)
}

/// Worked out by hand: two writes; then the restarts after both steps, after one and before any, each
/// with every older view; then the one change that is undone later.
const ALONE: [&str; 12] = [
    "crash(1)",
    "crash(2)",
    "stale(configmaps,4,2)",
    "stale(configmaps,3,2)",
    "stale(configmaps,2,2)",
    "stale(configmaps,1,2)",
    "stale(configmaps,3,1)",
    "stale(configmaps,2,1)",
    "stale(configmaps,1,1)",
    "stale(configmaps,2,0)",
    "stale(configmaps,1,0)",
    "unobserved(configmaps,3)",
];

#[test]
fn the_plans_are_all_that_there_is_cause_for() {
    let campaign = counted().0.random(3, 1).campaign().expect("it holds without faults");
    let plans: Vec<_> = campaign.plans().map(|plan| plan.to_string()).collect();
    assert_eq!((campaign.alone(), campaign.planned(), plans.len()), (12, 15, 15));
    assert_eq!(plans[..12], ALONE);
    assert!(plans[12..].iter().all(|plan| plan.starts_with("jitter(")), "{plans:?}");
}

#[test]
fn every_plan_is_tried_and_run_twice() {
    let (simulation, lives) = counted();
    let report = simulation.random(0, 1).check();
    assert_eq!((report.plans, report.planned, report.alone), (12, 12, [2, 9, 1]));
    // Without faults it is run twice, with two other seeds, and later. A crash and a restart give a run a
    // second process.
    let in_one_run_each = 2 * 2 + 9 * 2 + 1;
    assert_eq!(lives.load(Ordering::Relaxed), 5 + 2 * in_one_run_each);
    let (simulation, lives) = counted();
    assert_eq!(simulation.random(0, 1).once().check().plans, 12);
    assert_eq!(lives.load(Ordering::Relaxed), 5 + in_one_run_each);
}

/// Creates a, b and c; a second process leaves out c.
async fn forgets_the_third(client: Client) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    for name in ["a", "b"] {
        drop(maps.create(&PostParams::default(), &config_map(name)).await);
    }
    let is_second = maps.get_opt("b-is-old").await.is_ok_and(|it| it.is_some());
    drop(maps.create(&PostParams::default(), &config_map("b-is-old")).await);
    if !is_second {
        drop(maps.create(&PostParams::default(), &config_map("c")).await);
    }
    std::future::pending::<()>().await;
}

#[test]
fn a_bound_is_told_and_what_is_beyond_it_is_not_tried() {
    let bounded = |plans| on_kube(forgets_the_third).random(6, 1).at_most(plans);
    let report = bounded(2).check();
    assert_eq!((report.plans, report.planned), (2, 10));
    assert!(report.to_string().starts_with("2 of 10 plans tried, and they hold (2 crashes,"));
    let failure = bounded(3).try_check().expect_err("a bug");
    assert_eq!((failure.plan.to_string().as_str(), failure.held), ("crash(3)", 2));
    assert_eq!(failure.verdict(), Verdict::Violated);
    let whole = counted().0.random(0, 1).at_most(12).check();
    assert!(whole.to_string().starts_with("12 plans hold ("), "nothing was left out: {whole}");
}

/// Creates an object, and asks for another one: of what name, depends on the runs before if it is the
/// second process of a run.
fn remembers() -> Simulation {
    let lives = Arc::new(AtomicU32::new(0));
    on_kube(move |client: Client| {
        let number = lives.fetch_add(1, Ordering::Relaxed);
        async move {
            let maps: Api<ConfigMap> = Api::default_namespaced(client);
            if maps.create(&PostParams::default(), &config_map("a")).await.is_err() {
                drop(maps.get_opt(&format!("map-{number}")).await);
            }
            std::future::pending::<()>().await;
        }
    })
    .random(0, 1)
}

#[test]
fn a_plan_whose_runs_differ_is_inadmissible_though_both_hold() {
    assert_eq!(remembers().once().check().plans, 1, "no run of it breaks anything");
    let report = remembers().ordered().check();
    assert_eq!(report.apart.0, 1, "both of its runs count: {report}");
    assert!(report.to_string().contains("1 of them ran in two ways"), "{report}");
    if !is_exact() {
        return;
    }
    let failure = remembers().try_check().expect_err("two runs differ");
    assert_eq!((failure.verdict(), failure.violations.len()), (Verdict::Inadmissible, 0));
    assert_eq!(failure.plan.to_string(), "crash(1)");
    let first = failure.inadmissible.as_deref().expect("the first event that differs");
    assert!(first.contains("get configmaps default/map-6"), "{first}");
    assert!(first.contains(" or ") && first.contains("map-8"), "{first}");
    let text = failure.to_string();
    assert!(text.starts_with("0 plans hold, and this one is inadmissible: crash(1)\n"), "{text}");
    let again = remembers().replay("crash(1)").try_check().expect_err("a replay is run twice");
    assert_eq!(again.verdict(), Verdict::Inadmissible);
}

#[test]
fn what_fails_once_and_then_holds_is_inadmissible() {
    let lives = Arc::new(AtomicU32::new(0));
    let failure = on_kube(move |client: Client| {
        // The second process of the first run under the plan, and of no other run.
        let is_first = lives.fetch_add(1, Ordering::Relaxed) == 6;
        async move {
            let maps: Api<ConfigMap> = Api::default_namespaced(client);
            drop(maps.create(&PostParams::default(), &config_map("a")).await);
            if is_first {
                drop(maps.create(&PostParams::default(), &config_map("b")).await);
            }
            std::future::pending::<()>().await;
        }
    });
    let failure = failure.random(0, 1).once().try_check().expect_err("it fails once");
    assert_eq!((failure.verdict(), failure.violations.len()), (Verdict::Inadmissible, 1));
    let advice = if is_exact() {
        "SEATRIAL_DOCTOR=1 SEATRIAL_REPLAY="
    } else {
        "features = [\"simulation\"]"
    };
    assert!(failure.to_string().contains(advice), "{failure}");
}
