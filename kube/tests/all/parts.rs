//! What a reconcile function uses: finalizers, writes after conflicts, events.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::small::{change, create, maps};
use crate::common::switch::Switch;
use k8s_openapi::api::core::v1::{ConfigMap, Event as KubeEvent};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams};
use kube::{Client, Resource as _, ResourceExt};
use seatrial_kube::conflict;
use seatrial_kube::controller::{Action, Controller, Predicate};
use seatrial_kube::events::Recorder;
use seatrial_kube::finalizer::{Error, Event, Finalizer};
use seatrial_kube::watcher::Config;
use seatrial_sim::apiserver::{Fault, Point, Trouble};
use serde_json::json;
use tokio::time::sleep;

const OURS: &str = "tests.seatrial.dev/ours";

fn conflicts(server: &Switch, method: &str, times: u32) {
    let at = Point::of(method, "configmaps");
    let what = Trouble::Refuse { status: 409, retry_after: None };
    server.with(|server| server.inject(Fault { at, after: 0, times, what }));
}

async fn finalizers(client: &Client, name: &str) -> Option<Vec<String>> {
    let map = maps(client).get_opt(name).await.expect("an answer")?;
    Some(map.finalizers().to_vec())
}

async fn add_finalizer(client: &Client, name: &str, finalizer: &str) {
    let mut all = finalizers(client, name).await.expect("it is there");
    all.push(finalizer.to_owned());
    let patch = Patch::Merge(json!({"metadata": {"finalizers": all}}));
    maps(client).patch(name, &PatchParams::default(), &patch).await.expect("changed");
}

/// Runs the finalizer on an object as the caller knows it; says what was to be done.
async fn finalized(
    client: &Client,
    map: ConfigMap,
    fails: bool,
) -> Result<Option<&'static str>, Error<&'static str>> {
    let told = Arc::new(Mutex::new(None));
    let tells = Arc::clone(&told);
    let work = |event: Event<ConfigMap>| async move {
        let (what, map) = match event {
            Event::Apply(map) => ("apply", map),
            Event::Cleanup(map) => ("cleanup", map),
        };
        assert!(map.finalizers().iter().any(|it| it == OURS), "{what}");
        *tells.lock().unwrap() = Some(what);
        if fails { Err("no") } else { Ok(Action::Done) }
    };
    Finalizer::new(&maps(client), OURS).run(Arc::new(map), work).await?;
    Ok(*told.lock().unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_finalizer_is_there_before_the_work_and_leaves_after_the_cleanup() {
    let server = Switch::new();
    let client = server.client();
    create(&client, "a", &[]).await;
    let old = maps(&client).get("a").await.unwrap();
    add_finalizer(&client, "a", "other.dev/theirs").await;
    // The state is old, and another conflict follows.
    conflicts(&server, "PATCH", 1);
    assert_eq!(finalized(&client, old.clone(), false).await.unwrap(), Some("apply"));
    assert_eq!(finalizers(&client, "a").await.unwrap(), ["other.dev/theirs", OURS]);
    assert_eq!(finalized(&client, old.clone(), false).await.unwrap(), Some("apply"), "not twice");
    assert_eq!(finalizers(&client, "a").await.unwrap().len(), 2);
    maps(&client).delete("a", &DeleteParams::default()).await.expect("it is asked for");
    assert_eq!(finalized(&client, old, false).await.unwrap(), None, "too late for the old state");
    let going = maps(&client).get("a").await.unwrap();
    let failed = finalized(&client, going.clone(), true).await;
    assert!(matches!(failed, Err(Error::Cleanup("no"))), "{failed:?}");
    assert_eq!(finalizers(&client, "a").await.unwrap().len(), 2, "it stays");
    assert_eq!(finalized(&client, going.clone(), false).await.unwrap(), Some("cleanup"));
    assert_eq!(finalizers(&client, "a").await.unwrap(), ["other.dev/theirs"]);
    let going = maps(&client).get("a").await.unwrap();
    assert_eq!(finalized(&client, going, false).await.unwrap(), None, "nothing is left to do");
}

/// An object of that name is not the one that was seen.
#[tokio::test(start_paused = true)]
async fn another_object_of_the_name_gets_no_finalizer() {
    let server = Switch::new();
    let client = server.client();
    create(&client, "a", &[]).await;
    let first = maps(&client).get("a").await.unwrap();
    maps(&client).delete("a", &DeleteParams::default()).await.expect("deleted");
    assert_eq!(finalized(&client, first.clone(), false).await.unwrap(), None, "it is gone");
    create(&client, "a", &[]).await;
    assert_eq!(finalized(&client, first, false).await.unwrap(), None);
    assert_eq!(finalizers(&client, "a").await.unwrap(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn conflicts_without_end_are_given_up() {
    let server = Switch::new();
    let client = server.client();
    create(&client, "a", &[]).await;
    let map = maps(&client).get("a").await.unwrap();
    conflicts(&server, "PATCH", 1_000);
    let failed = finalized(&client, map, false).await.expect_err("it ends");
    assert!(matches!(&failed, Error::Write(error) if conflict::is_conflict(error)), "{failed}");
    conflicts(&server, "PUT", 1_000);
    let failed = conflict::update(&maps(&client), "a", |_| {}).await.expect_err("it ends");
    assert!(conflict::is_conflict(&failed), "{failed}");
}

#[tokio::test(start_paused = true)]
async fn an_update_reads_anew_after_a_conflict() {
    let server = Switch::new();
    let client = server.client();
    create(&client, "a", &[]).await;
    conflicts(&server, "PUT", 3);
    let seen = AtomicUsize::new(0);
    let changed = conflict::update(&maps(&client), "a", |map| {
        seen.fetch_add(1, Ordering::Relaxed);
        map.data.get_or_insert_default().insert("y".to_owned(), "1".to_owned());
    })
    .await
    .expect("the fourth is not refused");
    assert_eq!((changed.data.unwrap()["y"].as_str(), seen.into_inner()), ("1", 4));
    let other = conflict::update(&maps(&client), "missing", |_| {}).await.expect_err("none");
    assert!(!conflict::is_conflict(&other));
}

/// Even a controller that skips updates of the metadata goes on after it has added its finalizer.
#[tokio::test(start_paused = true)]
async fn a_controller_with_a_finalizer_needs_no_further_change() {
    let server = Switch::new();
    let client = server.client();
    create(&client, "a", &[]).await;
    let controller = Controller::new(maps(&client), Config::default())
        .filter_updates(Predicate::new(|_, _| false));
    let (writes, applied) = (controller.writes(), Arc::new(AtomicUsize::new(0)));
    let reconcile = {
        let (client, applied) = (client.clone(), Arc::clone(&applied));
        move |map: Arc<ConfigMap>, _| {
            let (maps, writes, applied) = (maps(&client), writes.clone(), Arc::clone(&applied));
            async move {
                let work = |_| async {
                    applied.fetch_add(1, Ordering::SeqCst);
                    Ok::<_, std::convert::Infallible>(Action::Done)
                };
                Finalizer::new(&maps, OURS).noting(&writes).run(map, work).await
            }
        }
    };
    let task = tokio::spawn(controller.run(reconcile, |_, _, _| Action::Requeue, Arc::new(())));
    sleep(Duration::from_secs(5)).await;
    assert_eq!(applied.load(Ordering::SeqCst), 1);
    maps(&client).delete("a", &DeleteParams::default()).await.expect("it is asked for");
    sleep(Duration::from_secs(5)).await;
    assert_eq!(applied.load(Ordering::SeqCst), 2, "its deletion is never skipped");
    assert_eq!(finalizers(&client, "a").await, None);
    task.abort();
}

async fn events(client: &Client) -> Vec<KubeEvent> {
    sleep(Duration::from_secs(1)).await;
    let events = Api::<KubeEvent>::default_namespaced(client.clone());
    events.list(&ListParams::default()).await.expect("a list").items
}

#[tokio::test(start_paused = true)]
async fn the_same_event_is_counted_and_similar_ones_become_one() {
    let server = Switch::new();
    let client = server.client();
    create(&client, "a", &[]).await;
    let map = change(&client, "a", "2").await;
    let about = map.object_ref(&());
    let recorder = Recorder::new(client.clone(), "tests.seatrial.dev");
    for _ in 0..3 {
        recorder.warning(&about, "CopyFailed", "no bucket");
    }
    let told = events(&client).await;
    let [event] = &told[..] else { panic!("{told:?}") };
    assert_eq!((event.count, event.type_.as_deref()), (Some(3), Some("Warning")));
    assert_eq!(event.involved_object.uid, map.uid());
    // The server has removed it, as it does after an hour.
    let api = Api::<KubeEvent>::default_namespaced(client.clone());
    api.delete(&event.name_any(), &DeleteParams::default()).await.expect("deleted");
    recorder.warning(&about, "CopyFailed", "no bucket");
    assert_eq!(events(&client).await[0].count, Some(1));
    for number in 0..15 {
        recorder.normal(&about, "Tried", &format!("attempt {number} {}", "x".repeat(2_000)));
    }
    drop(recorder);
    let told: Vec<_> = events(&client).await;
    let tried = told.iter().filter(|it| it.reason.as_deref() == Some("Tried"));
    let counts: Vec<_> = tried.clone().filter_map(|it| it.count).collect();
    assert_eq!((counts.len(), counts.iter().max()), (10, Some(&6)), "nine, and six in one");
    let combined = |it: &&KubeEvent| {
        it.message.as_deref().is_some_and(|text| text.starts_with("(combined from similar events)"))
    };
    assert_eq!(tried.filter(combined).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_event_that_is_never_answered_holds_up_the_others_for_half_a_minute() {
    let server = Switch::new();
    let client = server.client();
    create(&client, "a", &[]).await;
    let about = change(&client, "a", "2").await.object_ref(&());
    let (at, what) = (Point::of("POST", "events"), Trouble::Delay(Duration::from_secs(86_400)));
    server.with(|server| server.inject(Fault { at, after: 0, times: 1, what }));
    let recorder = Recorder::new(client.clone(), "tests.seatrial.dev");
    for reason in ["Lost", "Told"] {
        recorder.normal(&about, reason, "");
    }
    for is_told in [false, true] {
        sleep(Duration::from_secs(28)).await;
        let told = events(&client).await;
        let has = |reason| told.iter().any(|event| event.reason.as_deref() == Some(reason));
        assert_eq!(has("Told"), is_told, "{told:?}");
    }
}
