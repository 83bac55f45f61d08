//! Bit for bit the same, and a canary for each source of chance: without its remedy, runs differ.

mod on_kube;

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams};
use kube::runtime::controller::Action;
use kube::runtime::events::Reporter;
use kube::runtime::reflector::store;
use kube::runtime::watcher::Event;
use kube::runtime::{Controller, controller, watcher};
use kube::{Client, Error, ResourceExt as _};
use seatrial_sim::simulation::{Remedies, Simulation, Verdict};
use serde_json::json;

use on_kube::on_kube;

fn config_map(name: &str) -> ConfigMap {
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some("default".to_owned()),
        ..ObjectMeta::default()
    };
    ConfigMap { metadata, ..ConfigMap::default() }
}

/// Writes down what each source of chance says.
async fn gamble(client: Client) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let order: Vec<u32> = (0..32).collect::<HashSet<u32>>().into_iter().collect();
    let (reader, mut writer) = store::<ConfigMap>();
    writer.apply_watcher_event(&Event::Init);
    for number in 0..32 {
        writer.apply_watcher_event(&Event::InitApply(config_map(&format!("map-{number}"))));
    }
    writer.apply_watcher_event(&Event::InitDone);
    let stored: Vec<_> = reader.state().iter().map(|it| it.name_any()).collect();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after the epoch");
    let data = [
        ("random", format!("{order:?}")),
        ("ahash", format!("{stored:?}")),
        ("clock", now.as_nanos().to_string()),
        ("fastrand", fastrand::u64(..).to_string()),
        ("hostname", Reporter::from("gamble").instance.unwrap_or_default()),
    ];
    let data: BTreeMap<_, _> = data.map(|(name, value)| (name.to_owned(), value)).into();
    let map = ConfigMap { data: Some(data), ..config_map("chance") };
    drop(maps.create(&PostParams::default(), &map).await);
    std::future::pending::<()>().await;
}

fn gambled(seed: u64, remedies: Remedies) -> Vec<String> {
    on_kube(gamble).process_seed(seed).remedies(remedies).log()
}

#[test]
fn the_symbols_of_the_program_are_ours() {
    assert!(seatrial_sim_libc::is_supported() && seatrial_sim_libc::is_effective());
}

#[test]
fn each_canary_differs_without_its_remedy_and_only_then() {
    let all = Remedies::default();
    for seed in 0..5 {
        assert_eq!(gambled(seed, all), gambled(seed, all));
    }
    let off = [
        ("random", Remedies { random: false, ..all }),
        ("clock", Remedies { clock: false, ..all }),
        ("ahash", Remedies { ahash: false, ..all }),
        ("fastrand", Remedies { fastrand: false, ..all }),
    ];
    for (name, remedies) in off {
        let differ = (0..5).filter(|&seed| gambled(seed, remedies) != gambled(seed, remedies));
        let differ = differ.count();
        assert!(differ >= 4, "without {name} runs are the same");
        println!("without control of {name} {differ} of 5 seeds differ");
    }
    let host = Remedies { hostname: false, ..all };
    assert_ne!(gambled(1, host), gambled(1, all), "the machine has a name of its own");
    println!("without control of hostname 1 of 1 seeds differ");
}

async fn touch(map: Arc<ConfigMap>, client: Arc<Client>) -> Result<Action, Error> {
    let maps: Api<ConfigMap> = Api::default_namespaced(Client::clone(&client));
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let patch = json!({"metadata": {"annotations": {"at": now.as_nanos().to_string()}}});
    if !map.annotations().contains_key("at") {
        let (name, params) = (map.name_any(), PatchParams::default());
        maps.patch(&name, &params, &Patch::Merge(patch)).await?;
    }
    Ok(Action::await_change())
}

/// A controller whose order of work is that of hash maps: three at a time.
async fn touch_all(client: Client) {
    let again =
        |_: Arc<ConfigMap>, _: &Error, _: Arc<Client>| Action::requeue(Duration::from_secs(5));
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let controller = Controller::new(maps, watcher::Config::default());
    let three = controller::Config::default().concurrency(3);
    let context = Arc::new(client);
    controller.with_config(three).run(touch, again, context).for_each(|_| async {}).await;
}

fn touched(seed: u64) -> u64 {
    let mut simulation = on_kube(touch_all).process_seed(seed);
    for number in 0..10 {
        simulation = simulation.given(&config_map(&format!("map-{number}")));
    }
    let mut hasher = DefaultHasher::new();
    simulation.log().hash(&mut hasher);
    hasher.finish()
}

/// The number of seeds that are tried; a longer search sets the variable.
fn seeds() -> u64 {
    std::env::var("SEATRIAL_SEEDS").ok().and_then(|it| it.parse().ok()).unwrap_or(10)
}

#[test]
fn seeds_explore_the_orders_of_a_controller_and_each_is_repeatable() {
    let logs: Vec<u64> = (0..seeds()).map(touched).collect();
    println!("digests {logs:?}.");
    let distinct: HashSet<_> = logs.iter().collect();
    assert!(distinct.len() as u64 > seeds() / 2, "only {} orders", distinct.len());
    let again: Vec<u64> = (0..seeds().min(10)).rev().map(touched).collect();
    assert!(again.iter().rev().eq(&logs[..again.len()]), "they differ in another order of runs");
}

#[test]
fn two_processes_say_the_same() {
    let name = "seeds_explore_the_orders_of_a_controller_and_each_is_repeatable";
    let digests = || {
        let mut command = Command::new(std::env::current_exe().expect("this test"));
        let output = command.args([name, "--exact", "--nocapture"]).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (_, rest) = text.split_once("digests [").expect("it tells its digests");
        let (digests, _) = rest.split_once(']').expect("they end");
        digests.split(", ").map(str::to_owned).collect::<Vec<_>>()
    };
    let (one, other) = (digests(), digests());
    assert_eq!((one.len() as u64, other.len() as u64), (seeds(), seeds()));
    let differ = one.iter().zip(&other).filter(|(one, other)| one != other).count();
    let orders: HashSet<_> = one.iter().collect();
    println!(
        "{} seeds in 2 processes: {differ} logs differ; {} orders of work",
        seeds(),
        orders.len()
    );
    assert_eq!(differ, 0);
}

#[test]
fn the_wall_clock_is_the_servers() {
    let late = |client: Client| async move {
        tokio::time::sleep(Duration::from_secs(90)).await;
        gamble(client).await;
    };
    let log = on_kube(late).log();
    let begin = 1_767_225_600 + 90;
    let line = log.last().expect("the object that it wrote");
    assert!(line.contains(&begin.to_string()), "{line}");
}

#[test]
fn a_diagnosis_names_what_a_controller_depends_on_and_who_asked_for_it() {
    let diagnosis = on_kube(gamble).diagnose();
    assert_eq!(diagnosis.difference, None, "all is under control");
    let (host, others) = diagnosis.without.split_last().expect("five remedies");
    assert!(others.iter().all(|it| it.difference.is_some()), "{diagnosis}");
    let events = &host.asked_by;
    assert!(events.iter().any(|(who, _)| who.contains("for tests/exact.rs:")), "{diagnosis}");
    let asked_by = |what: &str| {
        let one = diagnosis.without.iter().find(|it| it.what == what).expect(what);
        one.asked_by.iter().map(|(who, _)| who.as_str()).collect::<Vec<_>>().join(" ")
    };
    assert!(asked_by("the clock").contains("tests/exact.rs:"), "{diagnosis}");
    let maps = asked_by("random numbers and the keys of hash maps");
    assert!(!maps.is_empty(), "{diagnosis}");
    assert!(asked_by("the keys of ahash's maps").contains("kube-runtime-"), "{diagnosis}");
    // One that depends on nothing says so, and shows no difference.
    let calm = on_kube(|client| async move {
        let maps: Api<ConfigMap> = Api::default_namespaced(client);
        drop(maps.create(&PostParams::default(), &config_map("calm")).await);
        std::future::pending::<()>().await;
    });
    let diagnosis = calm.diagnose();
    assert!(diagnosis.without.iter().all(|it| it.difference.is_none()), "{diagnosis}");
    assert!(diagnosis.to_string().starts_with("two runs without faults: they are the same"));
}

#[test]
fn a_diagnosis_names_the_first_event_that_differs_though_all_is_under_control() {
    use std::sync::atomic::{AtomicU32, Ordering};
    // State that a run leaves behind for the next one.
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let leaky = |client: Client| async move {
        let maps: Api<ConfigMap> = Api::default_namespaced(client);
        drop(maps.create(&PostParams::default(), &config_map("same")).await);
        if RUNS.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
            assert!(SystemTime::now() > SystemTime::UNIX_EPOCH);
            drop(maps.create(&PostParams::default(), &config_map("even")).await);
        }
        std::future::pending::<()>().await;
    };
    let difference = on_kube(leaky).diagnose().difference.expect("they differ");
    let text = difference.to_string();
    assert!(difference.first.iter().any(|it| it.contains("default/even")), "{text}");
    assert!(!difference.first.iter().any(|it| it.contains("default/same")), "{text}");
    let asked = difference.asked.expect("one asks for the time");
    assert!(asked.contains("tests/exact.rs:") && asked.contains("the time"), "{asked}");
}

#[test]
fn a_byte_that_differs_makes_a_plan_inadmissible() {
    use std::sync::atomic::{AtomicU32, Ordering};
    static RUNS: AtomicU32 = AtomicU32::new(0);
    // It writes which run this is, and takes it back: every event and the end are the same.
    let leaky = |client: Client| async move {
        let maps: Api<ConfigMap> = Api::default_namespaced(client);
        drop(maps.create(&PostParams::default(), &config_map("same")).await);
        for value in [RUNS.fetch_add(1, Ordering::Relaxed).to_string(), "done".to_owned()] {
            let patch = Patch::Merge(json!({"data": {"run": value}}));
            drop(maps.patch("same", &PatchParams::default(), &patch).await);
        }
        std::future::pending::<()>().await;
    };
    let failure = on_kube(leaky).try_check().expect_err("two runs differ");
    assert_eq!((failure.verdict(), failure.violations.len()), (Verdict::Inadmissible, 0));
    let first = failure.inadmissible.as_deref().expect("where they differ");
    assert!(first.contains("the write of configmaps default/same"), "{first}");
    assert!(first.contains("\"run\":\"0\"") && first.contains("\"run\":\"1\""), "{first}");
}

#[test]
fn campaigns_of_several_processes_agree_to_the_byte() {
    let make = |client: Client, name: &'static str| async move {
        let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
        let random = (0..9).collect::<HashSet<u32>>().into_iter().map(|it| it.to_string());
        let order = random.collect::<Vec<_>>().join(" ") + &fastrand::u64(..).to_string();
        let host = Reporter::from("gamble").instance.unwrap_or_default();
        let data = BTreeMap::from([("order".to_owned(), order), ("host".to_owned(), host)]);
        let map = ConfigMap { data: Some(data), ..config_map(name) };
        drop(maps.create(&PostParams::default(), &map).await);
        touch_all(client).await;
    };
    let of = |name: &'static str| move |connection| make(Client::new(connection, "default"), name);
    let logs = || {
        let simulation = || Simulation::system().process("a", of("a")).process("b", of("b"));
        let log = simulation().given(&config_map("x")).log();
        let campaign = simulation().random(3, 1).campaign().expect("it rests");
        let plans = campaign.plans().step_by(5);
        let held = plans.filter_map(|it| campaign.attempt(&it).ok().map(|it| it.history()));
        std::iter::once(log).chain(held).collect::<Vec<_>>()
    };
    let first = logs();
    assert!(first.len() > 2);
    for _ in 0..2 {
        assert_eq!(logs(), first);
    }
    let text = first[0].join("\n");
    let host = |name: &str| format!("\\\"host\\\":\\\"{name}\\\"");
    assert!(text.contains(&host("a")) && text.contains(&host("b")), "{text}");
}
