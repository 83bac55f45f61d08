//! Caches of any kind, shared by controllers, and what of them a controller is told.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::small::{change, create, maps, secrets};
use crate::common::switch::Switch;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind, PartialObjectMeta};
use kube::{Client, Resource, ResourceExt};
use seatrial_kube::cache::{Cache, NotSynced};
use seatrial_kube::controller::{Action, Controller, ObjectRef, Predicate};
use seatrial_kube::watcher::Config;
use seatrial_sim::apiserver::{Fault, Point, Trouble};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::sleep;

const SECOND: Duration = Duration::from_secs(1);

/// The names that were reconciled, in their order.
type Names = Arc<Mutex<Vec<String>>>;

/// Runs a controller that notes names.
fn noting<K>(controller: Controller<K>) -> (Names, JoinHandle<Result<(), NotSynced>>)
where
    K: Resource + std::fmt::Debug + Send + Sync + 'static,
{
    let names = Names::default();
    let notes = Arc::clone(&names);
    let reconcile = move |object: Arc<K>, _| {
        notes.lock().unwrap().push(object.name_any());
        async { Ok::<_, kube::Error>(Action::Done) }
    };
    let run = controller.run(reconcile, |_, _, _| Action::Requeue, Arc::new(()));
    (names, tokio::spawn(run))
}

/// Takes what was reconciled within a second.
async fn taken(names: &Names) -> Vec<String> {
    sleep(SECOND).await;
    std::mem::take(&mut names.lock().unwrap())
}

/// Makes a Secret that a map owns.
async fn create_owned(client: &Client, name: &str, owner: &str) {
    let owner = maps(client).get(owner).await.unwrap().controller_owner_ref(&()).unwrap();
    let secret = json!({"metadata": {"name": name, "ownerReferences": [owner]}});
    let secret: Secret = serde_json::from_value(secret).unwrap();
    secrets(client).create(&PostParams::default(), &secret).await.expect("created");
}

async fn label(client: &Client, secret: &str, value: &str) {
    let patch = Patch::Merge(json!({"metadata": {"labels": {"a": value}}}));
    secrets(client).patch(secret, &PatchParams::default(), &patch).await.expect("changed");
}

/// A kind that is known only when the program runs, and owns objects of such a kind.
#[tokio::test(start_paused = true)]
async fn a_kind_may_be_known_at_run_time_only() {
    let server = Switch::new();
    let client = server.client();
    create(&client, "a", &[]).await;
    let kind = |name| ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", name));
    let cache = |name| {
        let api = Api::<DynamicObject>::all_with(client.clone(), &kind(name));
        Cache::of_kind(api, Config::default(), &kind(name))
    };
    let controller = Controller::of(&cache("ConfigMap")).owns_of(&cache("Secret"));
    let (names, task) = noting(controller);
    assert_eq!(taken(&names).await, ["a"]);
    create_owned(&client, "s", "a").await;
    assert_eq!(taken(&names).await, ["a"], "of what it owns");
    task.abort();
}

/// Only the metadata goes over the wire.
#[tokio::test(start_paused = true)]
async fn a_cache_may_hold_only_the_metadata() {
    let server = Switch::new();
    let client = server.client();
    create(&client, "a", &[("app", "web")]).await;
    for (config, to) in [(Config::default(), "2"), (Config::default().list_watch(), "3")] {
        let api = Api::<PartialObjectMeta<ConfigMap>>::all(client.clone());
        let cache = Cache::new(api, config);
        let (names, task) = noting(Controller::of(&cache));
        assert_eq!(taken(&names).await, ["a"]);
        change(&client, "a", to).await;
        assert_eq!(taken(&names).await, ["a"]);
        let object = cache.store().get(&"default/a".to_owned()).unwrap();
        let types = object.types.as_ref().map(|it| it.kind.as_str());
        assert_ne!(types, Some("ConfigMap"), "the server sent the whole object");
        assert_eq!(object.labels()["app"], "web");
        task.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_owned_or_watched_can_be_filtered() {
    let server = Switch::new();
    let client = server.client();
    create(&client, "a", &[]).await;
    create_owned(&client, "s", "a").await;
    let children = Cache::new(secrets(&client), Config::default());
    let owner = Controller::new(maps(&client), Config::default())
        .owns_of(&children.filter_updates(Predicate::labels()));
    let (owner, one) = noting(owner);
    let store = children.store();
    let watcher = Controller::new(maps(&client), Config::default()).watches_of(
        &children.filter_updates(Predicate::labels().negated()),
        move |child: Arc<Secret>| {
            // A mapper has any store beside it.
            assert!(store.len() <= 1, "{}", child.name_any());
            [ObjectRef::new("a").within("default")]
        },
    );
    let (watcher, two) = noting(watcher);
    assert_eq!((taken(&owner).await, taken(&watcher).await).0, ["a"]);
    label(&client, "s", "b").await;
    assert_eq!(taken(&owner).await, ["a"]);
    assert_eq!(taken(&watcher).await, Vec::<String>::new());
    let patch = Patch::Merge(json!({"stringData": {"x": "2"}}));
    secrets(&client).patch("s", &PatchParams::default(), &patch).await.expect("changed");
    assert_eq!(taken(&owner).await, Vec::<String>::new());
    assert_eq!(taken(&watcher).await, ["a"]);
    secrets(&client).delete("s", &kube::api::DeleteParams::default()).await.expect("deleted");
    assert_eq!((taken(&owner).await, taken(&watcher).await), (vec!["a".into()], vec!["a".into()]));
    one.abort();
    two.abort();
}

/// Three controllers, one of which begins late and one of which ends early.
#[tokio::test(start_paused = true)]
async fn controllers_share_one_list_and_one_watch() {
    let server = Switch::new();
    let client = server.client();
    create(&client, "a", &[]).await;
    let cache = Cache::new(maps(&client), Config::default());
    let (first, one) = noting(Controller::of(&cache));
    let (second, two) = noting(Controller::of(&cache));
    assert_eq!((taken(&first).await, taken(&second).await), (vec!["a".into()], vec!["a".into()]));
    one.abort();
    assert!(one.await.unwrap_err().is_cancelled());
    let (third, three) = noting(Controller::of(&cache));
    assert_eq!(taken(&third).await, ["a"], "it begins with what is there");
    create(&client, "b", &[]).await;
    assert_eq!((taken(&second).await, taken(&third).await), (vec!["b".into()], vec!["b".into()]));
    assert_eq!(server.requests("configmaps"), 1, "one stream brings all");
    for task in [two, three] {
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    }
    assert_eq!(cache.informer().store().len(), 2);
    let informer = Arc::clone(cache.informer());
    drop(cache);
    sleep(SECOND).await;
    assert!(informer.is_stopped(), "nobody uses it");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_streams_no_lists_is_asked_for_pages() {
    let server = Switch::new();
    let client = server.client();
    create(&client, "a", &[]).await;
    let at = Point::of("GET", "configmaps");
    let what = Trouble::Refuse { status: 400, retry_after: None };
    server.with(|server| server.inject(Fault { at, after: 0, times: 1, what }));
    let cache = Cache::new(maps(&client), Config::default());
    cache.sync(SECOND).await.expect("it is listed by pages");
    sleep(SECOND).await; // then it is watched
    assert_eq!((cache.store().len(), server.requests("configmaps")), (1, 3));
}

/// Objects that failed are tried again as the limiter says.
#[tokio::test(start_paused = true)]
async fn a_limiter_bounds_how_many_are_tried_again() {
    use seatrial_core::limiter::{Bucket, Exponential, MaxOf, Rate};
    let server = Switch::new();
    let client = server.client();
    for number in 0..20 {
        create(&client, &format!("m{number}"), &[]).await;
    }
    let limiter =
        MaxOf((Exponential::new(SECOND / 100, SECOND), Bucket::new(Rate::per_second(2.0), 5)));
    let controller = Controller::new(maps(&client), Config::default()).limiter(limiter);
    let tried = Arc::new(Mutex::new(0));
    let counts = Arc::clone(&tried);
    let reconcile = move |_: Arc<ConfigMap>, _| {
        *counts.lock().unwrap() += 1;
        async { Err::<Action, _>("no") }
    };
    let task = tokio::spawn(controller.run(reconcile, |_, _, _| Action::Requeue, Arc::new(())));
    sleep(10 * SECOND).await;
    let tried = *tried.lock().unwrap();
    assert!((40..=46).contains(&tried), "20 at first, 5 at once, then 2 a second: {tried}");
    task.abort();
}
