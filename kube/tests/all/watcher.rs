//! A store that follows a server: by pages and by a stream, across everything that breaks a watch.

use std::future::poll_fn;
use std::sync::Arc;

use crate::common::small::{self, change, maps};
use crate::common::{client, serve, soon};
use futures_core::Stream;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::DeleteParams;
use kube::{Client, ResourceExt};
use seatrial_core::cancel::CancelToken;
use seatrial_core::informer::{Change, Informer, ListOptions, ListWatch, SourceKind};
use seatrial_core::runtime::Tokio;
use seatrial_kube::Object;
use seatrial_kube::watcher::{Collection, Config, changes, informer};
use seatrial_sim::apiserver::{Fault, Point, Trouble};
use seatrial_sim::http::Face;
use tokio::task::JoinHandle;

type Maps = Arc<Informer<Object<ConfigMap>, Tokio>>;

async fn create(client: &Client, name: &str) {
    small::create(client, name, &[("app", name)]).await;
}

async fn delete(client: &Client, name: &str) {
    maps(client).delete(name, &DeleteParams::default()).await.expect("deleted");
}

/// Follows the maps until the task is aborted.
fn follow(client: &Client, config: &Config) -> (Maps, JoinHandle<()>) {
    let runtime = Tokio::current();
    let informer = Arc::new(informer(&runtime, maps(client), config));
    let runs = Arc::clone(&informer);
    let token = CancelToken::new(&runtime);
    let task = tokio::spawn(async move { runs.run_async(&token).await.expect("once") });
    (informer, task)
}

fn value(maps: &Maps, name: &str) -> Option<String> {
    maps.store().get(&format!("default/{name}"))?.data.as_ref()?.get("x").cloned()
}

async fn follows(config: Config) {
    let face = serve();
    let client = client(face.address());
    for number in 0..7 {
        create(&client, &format!("m{number}")).await;
    }
    let (maps, task) = follow(&client, &config);
    soon("the first list", async || maps.has_synced()).await;
    assert_eq!(maps.store().len(), 7);
    change(&client, "m3", "2").await;
    delete(&client, "m4").await;
    create(&client, "new").await;
    soon("the changes", async || {
        value(&maps, "m3").as_deref() == Some("2")
            && value(&maps, "m4").is_none()
            && value(&maps, "new").is_some()
    })
    .await;
    assert_eq!(maps.store().len(), 7);
    task.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_follows_by_pages() {
    follows(Config::default().list_watch().page_size(3)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_follows_by_a_stream() {
    follows(Config::default()).await;
}

#[tokio::test]
async fn a_selector_is_obeyed() {
    let face = serve();
    let client = client(face.address());
    for name in ["a", "b", "c"] {
        create(&client, name).await;
    }
    for config in [Config::default(), Config::default().list_watch()] {
        let (labelled, one) = follow(&client, &config.clone().labels("app in (a, b)"));
        let (named, two) = follow(&client, &config.fields("metadata.name=c"));
        soon("both lists", async || labelled.has_synced() && named.has_synced()).await;
        assert_eq!((labelled.store().len(), named.store().len()), (2, 1));
        one.abort();
        two.abort();
    }
}

fn inject(face: &Face, what: Trouble) {
    let at = Point::of("GET", "configmaps");
    face.with(|server| server.inject(Fault { at, after: 0, times: 1, what }));
}

/// A deletion is missed while the watch is cut and the older versions are compacted away. A watch
/// from there is refused in one of two ways, and the new list shows the deletion.
async fn survives(refuse: Option<Trouble>) {
    let face = serve();
    let client = client(face.address());
    create(&client, "kept").await;
    create(&client, "gone").await;
    let (maps, task) = follow(&client, &Config::default().list_watch());
    soon("the first list", async || maps.has_synced()).await;
    let mut changes = maps.subscribe();
    delete(&client, "gone").await;
    let at = Point::of("PATCH", "configmaps");
    let refuses = refuse.is_some();
    for what in [Trouble::CutWatches, Trouble::Compact] {
        face.with(|server| server.inject(Fault { at: at.clone(), after: 0, times: 1, what }));
    }
    if let Some(what) = refuse {
        inject(&face, what);
    }
    change(&client, "kept", "2").await;
    change(&client, "kept", "3").await;
    soon("the store", async || {
        value(&maps, "kept").as_deref() == Some("3") && value(&maps, "gone").is_none()
    })
    .await;
    assert!(!refuses || face.with(|server| server.pending_faults()) == 0, "it was refused");
    let mut deleted = false;
    while !deleted {
        deleted = matches!(changes.next_async().await.expect("it runs"), Change::Deleted(_));
    }
    task.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_that_is_cut_goes_on_after_a_compaction() {
    survives(None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_that_is_answered_gone_lists_anew() {
    survives(Some(Trouble::Refuse { status: 410, retry_after: None })).await;
}

#[tokio::test]
async fn nobody_listens_is_said() {
    let face = serve();
    let client = client(face.address());
    drop(face);
    let source = Collection::new(maps(&client), Config::default());
    let refused = source.list(ListOptions::default()).await.expect_err("nobody listens");
    assert_eq!(refused.kind(), SourceKind::Refused, "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_of_one_cache_begin_with_what_is_there_whenever_they_begin() {
    let face = serve();
    let client = client(face.address());
    create(&client, "first").await;
    let (maps, task) = follow(&client, &Config::default());
    let mut early = Box::pin(changes(&maps));
    soon("the first list", async || maps.has_synced()).await;
    let mut late = Box::pin(changes(&maps));
    create(&client, "second").await;
    for stream in [&mut early, &mut late] {
        let mut seen = Vec::new();
        for _ in 0..2 {
            let change = poll_fn(|context| stream.as_mut().poll_next(context)).await;
            let Some(Change::Added { object, .. }) = change else { panic!("{change:?}") };
            seen.push(object.name_any());
        }
        assert_eq!(seen, ["first", "second"]);
    }
    task.abort();
    drop((task.await, early));
    drop(maps);
    let end = poll_fn(|context| late.as_mut().poll_next(context)).await;
    assert!(end.is_none(), "{end:?}");
}
