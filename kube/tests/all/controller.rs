//! A controller against a server: its results, the order of reconciles, and how it ends.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::small::{change, controller, create, maps, reconcile, secrets, value};
use crate::common::{client, serve, soon};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::{Client, ResourceExt};
use seatrial_kube::cache::NotSynced;
use seatrial_kube::controller::{Action, Controller, ObjectRef, Predicate};
use seatrial_kube::watcher::Config;
use seatrial_sim::apiserver::{Fault, Point, Trouble};
use serde_json::json;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::Instant;

type Running = JoinHandle<Result<(), NotSynced>>;

fn start(client: &Client) -> Running {
    let run = controller(client)
        .concurrency(2)
        .backoff(Duration::from_millis(5), Duration::from_millis(500));
    tokio::spawn(run.run(reconcile, |_, _, _| Action::Requeue, Arc::new(client.clone())))
}

/// Waits until the Secret has that value; `None` for no Secret.
async fn secret_becomes(client: &Client, name: &str, wanted: Option<&str>) {
    soon(&format!("the Secret {name} is {wanted:?}"), async || {
        let secret = secrets(client).get_opt(name).await.expect("an answer");
        secret.as_ref().and_then(value) == wanted && secret.is_some() == wanted.is_some()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_should_be_comes_about_and_stays() {
    let face = serve();
    let client = client(face.address());
    create(&client, "early", &[("role", "parent")]).await;
    create(&client, "foreign", &[]).await;
    let task = start(&client);
    secret_becomes(&client, "early", Some("1")).await;
    create(&client, "late", &[("role", "parent")]).await;
    secret_becomes(&client, "late", Some("1")).await;
    change(&client, "early", "2").await;
    secret_becomes(&client, "early", Some("2")).await;
    secrets(&client).delete("early", &DeleteParams::default()).await.expect("deleted");
    secret_becomes(&client, "early", Some("2")).await;
    maps(&client).delete("late", &DeleteParams::default()).await.expect("deleted");
    secret_becomes(&client, "late", None).await;
    soon("the map is gone", async || maps(&client).get_opt("late").await.unwrap().is_none()).await;
    assert!(secrets(&client).get_opt("foreign").await.unwrap().is_none());
    task.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_that_was_killed_is_followed_by_one_that_catches_up() {
    let face = serve();
    let client = client(face.address());
    for name in ["a", "b", "c"] {
        create(&client, name, &[("role", "parent")]).await;
    }
    let first = start(&client);
    secret_becomes(&client, "a", Some("1")).await;
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    change(&client, "a", "2").await;
    maps(&client).delete("b", &DeleteParams::default()).await.expect("deleted");
    create(&client, "d", &[("role", "parent")]).await;
    let second = start(&client);
    for (name, wanted) in [("a", Some("2")), ("b", None), ("c", Some("1")), ("d", Some("1"))] {
        secret_becomes(&client, name, wanted).await;
    }
    second.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_watches_and_refused_writes_are_got_over() {
    let face = serve();
    let client = client(face.address());
    create(&client, "a", &[("role", "parent")]).await;
    let task = start(&client);
    secret_becomes(&client, "a", Some("1")).await;
    let cut = |method: &str, what| Fault {
        at: Point::of(method, "configmaps"),
        after: 0,
        times: 1,
        what,
    };
    face.with(|server| {
        server.inject(cut("PATCH", Trouble::CutWatches));
        let at = Point::of("PATCH", "secrets");
        let what = Trouble::Refuse { status: 409, retry_after: None };
        server.inject(Fault { at, after: 0, times: 3, what });
    });
    change(&client, "a", "2").await;
    secret_becomes(&client, "a", Some("2")).await;
    assert_eq!(face.with(|server| server.pending_faults()), 0, "they have struck");
    task.abort();
}

/// Reconciles maps with a function, and records names and times in the order of the calls.
fn run<W: Future<Output = Result<Action, &'static str>> + Send + 'static>(
    controller: Controller<ConfigMap>,
    order: &Arc<Mutex<Vec<(String, Instant)>>>,
    work: impl Fn(Arc<ConfigMap>) -> W + Send + Sync + 'static,
) -> Running {
    let order = Arc::clone(order);
    let reconcile = move |map: Arc<ConfigMap>, _| {
        order.lock().unwrap().push((map.name_any(), Instant::now()));
        work(map)
    };
    tokio::spawn(controller.run(reconcile, |_, _, _| Action::Requeue, Arc::new(())))
}

fn all(client: &Client) -> Controller<ConfigMap> {
    Controller::new(maps(client), Config::default())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_wait_longer_each_time_until_a_success() {
    let face = serve();
    let client = client(face.address());
    create(&client, "a", &[]).await;
    let (order, calls) = (Arc::default(), AtomicUsize::new(0));
    let first = Duration::from_millis(500);
    let controller = all(&client).backoff(first, Duration::from_secs(100));
    // Three errors, a success, an error, a success.
    let task = run(controller, &order, move |_| {
        let call = calls.fetch_add(1, Ordering::SeqCst);
        async move { if [3, 5].contains(&call) { Ok(Action::Done) } else { Err("no") } }
    });
    soon("a success", async || order.lock().unwrap().len() == 4).await;
    tokio::time::sleep(first).await;
    change(&client, "a", "2").await;
    soon("another", async || order.lock().unwrap().len() == 6).await;
    let times: Vec<_> = order.lock().unwrap().iter().map(|(_, at)| *at).collect();
    let waited: Vec<_> = times.windows(2).map(|two| two[1] - two[0]).collect();
    for (wait, factor) in [(waited[0], 1), (waited[1], 2), (waited[2], 4), (waited[4], 1)] {
        assert!(wait >= first * factor, "{waited:?}");
    }
    assert!(waited[4] < first * 8, "a success forgets failures: {waited:?}");
    task.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_comes_before_the_rest_of_the_first_list() {
    let face = serve();
    let client = client(face.address());
    for number in 10..40 {
        create(&client, &format!("m{number}"), &[]).await;
    }
    let (order, gate) = (Arc::default(), Arc::new(Semaphore::new(0)));
    let (controller, held) = (all(&client), Arc::clone(&gate));
    let store = controller.store();
    let task = run(controller, &order, move |_| {
        let held = Arc::clone(&held);
        async move {
            held.acquire().await.expect("it is never closed").forget();
            Ok(Action::Done)
        }
    });
    soon("it has begun", async || !order.lock().unwrap().is_empty()).await;
    let left: Vec<String> = {
        let begun: Vec<_> = order.lock().unwrap().iter().map(|(name, _)| name.clone()).collect();
        (10..40).map(|it| format!("m{it}")).filter(|name| !begun.contains(name)).collect()
    };
    let last = left.last().expect("most of them");
    change(&client, last, "2").await;
    soon("the change", async || {
        let changed = store.get(&format!("default/{last}")).expect("it is there");
        changed.data.as_ref().unwrap()["x"] == "2"
    })
    .await;
    tokio::time::sleep(Duration::from_secs(1)).await; // from the store into the queue
    gate.add_permits(100);
    soon("all of them", async || order.lock().unwrap().len() >= 30).await;
    let place = order.lock().unwrap().iter().position(|(name, _)| name == last);
    assert!(place.unwrap() < 20, "{place:?} of 30");
    task.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_is_in_one_hand_and_a_change_meanwhile_is_seen() {
    let face = serve();
    let client = client(face.address());
    create(&client, "a", &[]).await;
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (order, sees, counts) = (Arc::default(), Arc::clone(&seen), Arc::clone(&most));
    let task = run(all(&client).concurrency(4), &order, move |map| {
        let (now, sees, counts) = (Arc::clone(&now), Arc::clone(&sees), Arc::clone(&counts));
        async move {
            counts.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(50)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            sees.lock().unwrap().push(map.data.as_ref().unwrap()["x"].clone());
            Ok(Action::Done)
        }
    });
    soon("it is under way", async || !order.lock().unwrap().is_empty()).await;
    for to in ["2", "3", "4"] {
        change(&client, "a", to).await;
    }
    soon("the last change", async || seen.lock().unwrap().iter().any(|it| it == "4")).await;
    assert_eq!(most.load(Ordering::SeqCst), 1, "two at once");
    task.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_finishes_what_is_under_way_and_begins_nothing() {
    let face = serve();
    let client = client(face.address());
    create(&client, "a", &[]).await;
    create(&client, "b", &[]).await;
    let (order, finished) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
    let (stop, counts) = (Arc::new(Notify::new()), Arc::clone(&finished));
    let asked = Arc::clone(&stop);
    let controller = all(&client).graceful_shutdown_on(async move { asked.notified().await });
    let task = run(controller, &order, move |_| {
        let counts = Arc::clone(&counts);
        async move {
            tokio::time::sleep(Duration::from_secs(2)).await;
            counts.fetch_add(1, Ordering::SeqCst);
            Ok(Action::Done)
        }
    });
    soon("one is under way", async || order.lock().unwrap().len() == 1).await;
    stop.notify_one();
    let ended = tokio::time::timeout(Duration::from_secs(30), task).await.expect("it ends");
    ended.expect("no panic").expect("it was listed");
    assert_eq!((order.lock().unwrap().len(), finished.load(Ordering::SeqCst)), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mapper_is_asked_of_both_states() {
    let face = serve();
    let client = client(face.address());
    for name in ["one", "two"] {
        create(&client, name, &[("role", "parent")]).await;
    }
    create(&client, "part", &[("part-of", "one"), ("role", "part")]).await;
    let order = Arc::default();
    let controller = Controller::new(maps(&client), Config::default().labels("role=parent"))
        .watches(maps(&client), Config::default().labels("role=part"), |part: Arc<ConfigMap>| {
            let whole = part.labels().get("part-of").cloned();
            whole.map(|name| ObjectRef::new(&name).within("default"))
        });
    let task = run(controller, &order, |_| async { Ok(Action::Done) });
    soon("the first list", async || order.lock().unwrap().len() >= 2).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    order.lock().unwrap().clear();
    let patch = Patch::Merge(json!({"metadata": {"labels": {"part-of": "two"}}}));
    maps(&client).patch("part", &PatchParams::default(), &patch).await.expect("changed");
    soon("the old and the new whole", async || {
        let order = order.lock().unwrap();
        ["one", "two"].iter().all(|whole| order.iter().any(|(name, _)| name == whole))
    })
    .await;
    task.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn panics_are_tried_again_but_one_of_a_mapper_ends_the_controller() {
    let face = serve();
    let client = client(face.address());
    create(&client, "a", &[]).await;
    let (order, calls) = (Arc::default(), AtomicUsize::new(0));
    let task = run(all(&client), &order, move |_| {
        let call = calls.fetch_add(1, Ordering::SeqCst);
        async move { if call == 0 { panic!("once") } else { Ok(Action::Done) } }
    });
    soon("a second attempt", async || order.lock().unwrap().len() == 2).await;
    task.abort();
    let broken = all(&client).watches(maps(&client), Config::default(), |_| -> Vec<ObjectRef> {
        panic!("the mapper is broken")
    });
    let task = run(broken, &order, |_| async { Ok(Action::Done) });
    let ended = tokio::time::timeout(Duration::from_secs(30), task).await.expect("it ends");
    assert!(ended.expect_err("it panics").is_panic());
}

/// After the first write, the watches are silent for a while. Without the note of the write, the
/// next run would count from the old state again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_written_is_seen_by_the_next_run() {
    let face = serve();
    let client = client(face.address());
    create(&client, "counter", &[]).await;
    let at = Point::of("PATCH", "configmaps");
    let what = Trouble::SilenceWatches(Duration::from_millis(700));
    face.with(|server| server.inject(Fault { at, after: 0, times: 1, what }));
    let controller = all(&client);
    let (writes, order, seen) = (controller.writes(), Arc::default(), Arc::new(Mutex::default()));
    let sees: Arc<Mutex<Vec<u32>>> = Arc::clone(&seen);
    let task = run(controller, &order, move |map| {
        let (writes, sees, client) = (writes.clone(), Arc::clone(&sees), client.clone());
        async move {
            let count: u32 = map.data.as_ref().unwrap()["x"].parse().unwrap();
            sees.lock().unwrap().push(count);
            if count == 4 {
                return Ok(Action::Done);
            }
            let patch = Patch::Merge(json!({"data": {"x": (count + 1).to_string()}}));
            let answer = maps(&client).patch("counter", &PatchParams::default(), &patch).await;
            writes.wrote(&answer.map_err(|_| "the server")?);
            Ok(Action::RequeueAfter(Duration::ZERO))
        }
    });
    soon("four", async || seen.lock().unwrap().contains(&4)).await;
    let seen = seen.lock().unwrap().clone();
    // Once the watch is back, a change that was counted already may cause one more run.
    assert!(seen.starts_with(&[1, 2]) && seen.is_sorted(), "{seen:?}");
    task.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_filter_passes_updates_over_and_nothing_else() {
    let face = serve();
    let client = client(face.address());
    create(&client, "a", &[]).await;
    let order = Arc::default();
    let controller = all(&client).filter_updates(Predicate::labels());
    let store = controller.store();
    let task = run(controller, &order, |_| async { Ok(Action::Done) });
    soon("the first", async || order.lock().unwrap().len() == 1).await;
    change(&client, "a", "2").await;
    create(&client, "b", &[]).await;
    soon("a new one", async || order.lock().unwrap().len() == 2).await;
    let patch = Patch::Merge(json!({"metadata": {"labels": {"new": "yes"}}}));
    maps(&client).patch("a", &PatchParams::default(), &patch).await.expect("changed");
    soon("a label", async || order.lock().unwrap().len() == 3).await;
    let names: Vec<_> = order.lock().unwrap().iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names, ["a", "b", "a"]);
    assert_eq!(store.get(&"default/a".to_owned()).unwrap().data.as_ref().unwrap()["x"], "2");
    task.abort();
}
