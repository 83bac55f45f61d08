//! Controllers against a server in the same process, in tokio's paused time: what happens while
//! lists are slow, watches are silent, and after the storage of the server was restored.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::small::{change, create, maps, secrets};
use crate::common::switch::Switch;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::ResourceExt as _;
use kube::api::Api;
use seatrial_core::informer::{ListOptions, ListWatch as _};
use seatrial_kube::cache::NotSynced;
use seatrial_kube::controller::{Action, Controller};
use seatrial_kube::watcher::{Collection, Config};
use seatrial_sim::apiserver::{Fault, Point, Trouble};
use tokio::time::{Instant, sleep, timeout};

const SECOND: Duration = Duration::from_secs(1);

/// When the reconciles of each key began.
type Log = Arc<Mutex<BTreeMap<String, Vec<Instant>>>>;

fn noted(log: &Log, map: &ConfigMap) -> usize {
    let mut log = log.lock().unwrap();
    let times = log.entry(map.name_any()).or_default();
    times.push(Instant::now());
    times.len()
}

fn count(log: &Log, name: &str) -> usize {
    log.lock().unwrap().get(name).map_or(0, Vec::len)
}

/// The list takes a hundred seconds, and every ten seconds some of it comes.
#[tokio::test(start_paused = true)]
async fn a_list_may_take_long_as_long_as_bytes_come() {
    let server = Switch::new();
    let client = server.client();
    create(&client, "a", &[]).await;
    server.trickle(10, 10 * SECOND);
    let source = Collection::new(maps(&client), Config::default());
    let began = Instant::now();
    let list = source.list(ListOptions::default()).await.expect("bytes flow");
    assert_eq!((list.items.len(), began.elapsed().as_secs()), (1, 100));
    server.trickle(10, 61 * SECOND);
    let began = Instant::now();
    let error = source.list(ListOptions::default()).await.expect_err("the server is silent");
    assert_eq!((error.to_string().as_str(), began.elapsed().as_secs()), ("silence for 60s", 60));
}

/// While the watch is silent, a key whose write is not visible yet holds no worker.
#[tokio::test(start_paused = true)]
async fn a_key_that_waits_for_its_own_write_lets_the_others_go_first() {
    let server = Switch::new();
    let client = server.client();
    for name in ["writes", "other"] {
        create(&client, name, &[]).await;
    }
    let at = Point::of("PATCH", "configmaps");
    let what = Trouble::SilenceWatches(60 * SECOND);
    server.with(|server| server.inject(Fault { at, after: 0, times: 1, what }));
    let controller = Controller::new(maps(&client), Config::default());
    let (writes, log) = (controller.writes(), Log::default());
    let reconcile = {
        let (log, client) = (Arc::clone(&log), client.clone());
        move |map: Arc<ConfigMap>, _| {
            let (log, client, writes) = (Arc::clone(&log), client.clone(), writes.clone());
            async move {
                if noted(&log, &map) == 1 && map.name_any() == "writes" {
                    writes.wrote(&change(&client, "writes", "2").await);
                    return Ok(Action::RequeueAfter(Duration::ZERO));
                }
                Ok::<_, kube::Error>(Action::RequeueAfter(SECOND))
            }
        }
    };
    let run = controller.run(reconcile, |_, _, _| Action::Requeue, Arc::new(()));
    let task = tokio::spawn(run);
    sleep(31 * SECOND).await;
    assert_eq!(count(&log, "writes"), 1, "its write is not visible");
    assert!(count(&log, "other") >= 30, "{log:?}");
    sleep(60 * SECOND).await;
    assert!(count(&log, "writes") >= 2, "the watch speaks again: {log:?}");
    task.abort();
}

/// Copies of the storage are restored: versions go back, and writes are lost.
#[tokio::test(start_paused = true)]
async fn after_the_storage_was_restored_keys_are_reconciled_again() {
    let server = Switch::new();
    let client = server.client();
    for name in ["written", "other"] {
        create(&client, name, &[]).await;
    }
    let copy = server.copy();
    for _ in 0..100 {
        create(&client, "passing", &[]).await;
        maps(&client).delete("passing", &kube::api::DeleteParams::default()).await.unwrap();
    }
    let controller = Controller::new(maps(&client), Config::default());
    let (writes, log) = (controller.writes(), Log::default());
    let reconcile = {
        let (log, client) = (Arc::clone(&log), client.clone());
        move |map: Arc<ConfigMap>, _| {
            let (log, client, writes) = (Arc::clone(&log), client.clone(), writes.clone());
            async move {
                if noted(&log, &map) == 1 && map.name_any() == "written" {
                    writes.wrote(&change(&client, "written", "2").await);
                }
                Ok::<_, kube::Error>(Action::RequeueAfter(SECOND))
            }
        }
    };
    let store = controller.store();
    let run = controller.run(reconcile, |_, _, _| Action::Requeue, Arc::new(()));
    let task = tokio::spawn(run);
    sleep(5 * SECOND).await;
    assert!(count(&log, "written") >= 4, "its write was seen: {log:?}");
    server.restore(copy).await;
    sleep(60 * SECOND).await;
    let value = |name: &str| store.get(&format!("default/{name}")).unwrap().data.clone().unwrap();
    assert_eq!(value("written")["x"], "1", "the store went back");
    for name in ["written", "other"] {
        let before = count(&log, name);
        sleep(10 * SECOND).await;
        assert!(count(&log, name) >= before + 9, "{name}: {log:?}");
    }
    task.abort();
}

/// The Secrets cannot be listed.
fn forbidden(server: &Switch) {
    let at = Point::of("GET", "secrets");
    let what = Trouble::Refuse { status: 403, retry_after: None };
    server.with(|server| server.inject(Fault { at, after: 0, times: 10_000, what }));
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_cannot_be_listed_ends_the_controller_and_is_named() {
    let server = Switch::new();
    let client = server.client();
    create(&client, "a", &[]).await;
    forbidden(&server);
    let controller =
        Controller::new(maps(&client), Config::default()).owns(secrets(&client), Config::default());
    let reconcile = async |_, _| -> kube::Result<Action> { panic!("nothing is reconciled") };
    let began = Instant::now();
    let run = controller.run(reconcile, |_, _, _| Action::Requeue, Arc::new(()));
    let ended = timeout(Duration::from_secs(86_400), run).await.expect("within a day");
    let NotSynced { kind, last_answer, .. } = ended.expect_err("it ends with an error");
    assert_eq!((kind.as_str(), began.elapsed().as_secs()), ("Secret", 120));
    let answer = last_answer.expect("there was one");
    assert!(answer.contains("403") || answer.contains("orbidden"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_controller_goes_on_without_a_kind_if_it_is_told_to() {
    let server = Switch::new();
    let client = server.client();
    create(&client, "a", &[]).await;
    forbidden(&server);
    let log = Log::default();
    let notes = Arc::clone(&log);
    let reconcile = move |map: Arc<ConfigMap>, _| {
        noted(&notes, &map);
        async { Ok::<_, kube::Error>(Action::Done) }
    };
    let controller = Controller::new(maps(&client), Config::default())
        .owns(Api::<Secret>::default_namespaced(client.clone()), Config::default())
        .sync_timeout(30 * SECOND)
        .without_unlisted();
    let task = tokio::spawn(controller.run(reconcile, |_, _, _| Action::Requeue, Arc::new(())));
    sleep(29 * SECOND).await;
    assert_eq!(count(&log, "a"), 0);
    sleep(2 * SECOND).await;
    assert_eq!(count(&log, "a"), 1);
    task.abort();
}
