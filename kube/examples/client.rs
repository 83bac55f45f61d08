//! Checks a client on kube-rs against a server: reads, writes, patches of all kinds, a status,
//! conflicts, a reflector, and our informer and election. The server is that of `KUBECONFIG`, which
//! may use TLS. Without `KUBECONFIG` the example starts its own server, and leaves out the
//! election, which takes long. It uses the namespace `default` and leaves nothing there.
//!
//! ```text
//! KUBECONFIG=seatrial.config cargo run -p seatrial-kube --example client
//! ```

mod place;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions};
use kube::runtime::{reflector, watcher};
use seatrial_core::cancel::CancelToken;
use seatrial_core::runtime::Tokio;
use seatrial_kube::election::{Bounds, LeaderElection, Timing};
use seatrial_kube::watcher::informer;
use serde_json::json;
use tokio::sync::mpsc;

type Failed = Box<dyn std::error::Error>;
type Found = Result<(), Failed>;

/// The labels of everything that this program makes.
const OWN: &str = "made-by=client";

fn must(holds: bool, what: &str) -> Found {
    if holds { Ok(()) } else { Err(format!("not so: {what}").into()) }
}

/// Waits until something holds; gives up after a while.
async fn soon(what: &str, holds: impl Fn() -> bool) -> Found {
    for _ in 0..400 {
        if holds() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err(format!("in vain: {what}").into())
}

fn map(name: &str, value: &str) -> Result<ConfigMap, Failed> {
    let labels = json!({"made-by": "client"});
    let map = json!({"metadata": {"name": name, "labels": labels}, "data": {"key": value}});
    Ok(serde_json::from_value(map)?)
}

fn value(map: &ConfigMap) -> &str {
    map.data.as_ref().and_then(|it| it.get("key")).map_or("", String::as_str)
}

fn is(result: kube::Result<impl Sized>, code: u16) -> bool {
    matches!(result, Err(kube::Error::Api(status)) if status.code == code)
}

async fn reads_and_writes(maps: &Api<ConfigMap>) -> Found {
    let post = PostParams::default();
    let made = maps.create(&post, &map("a", "1")?).await?;
    must(is(maps.create(&post, &map("a", "1")?).await, 409), "a name is given once")?;
    let mut newer = made.clone();
    newer.data = map("a", "2")?.data;
    let newer = maps.replace("a", &post, &newer).await?;
    must(value(&newer) == "2", "what is replaced is there")?;
    must(is(maps.replace("a", &post, &made).await, 409), "an old version replaces nothing")?;
    let merged = Patch::Merge(json!({"data": {"key": "3", "more": "x"}}));
    let merged = maps.patch("a", &PatchParams::default(), &merged).await?;
    must(value(&merged) == "3", "a merge patch changes a field")?;
    let removed = Patch::Strategic(json!({"data": {"more": null}}));
    let removed = maps.patch("a", &PatchParams::default(), &removed).await?;
    must(removed.data.is_some_and(|it| it.len() == 1), "a strategic patch removes a field")?;
    let wanted = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"key": "4"},
    });
    let other = PatchParams::apply("other");
    let refused = maps.patch("a", &other, &Patch::Apply(&wanted)).await;
    must(is(refused, 409), "an apply takes no field of another manager")?;
    let forced = maps.patch("a", &other.force(), &Patch::Apply(&wanted)).await?;
    must(value(&forced) == "4", "unless it is forced")?;
    let listed = maps.list(&ListParams::default().labels(OWN)).await?;
    must(listed.items.len() == 1, "a list is selected by labels")?;
    must(value(&maps.get("a").await?) == "4", "what was written is read")?;
    let stranger = Preconditions { uid: Some("nobody".to_owned()), ..Preconditions::default() };
    let stranger = DeleteParams::default().preconditions(stranger);
    must(is(maps.delete("a", &stranger).await, 409), "a deletion has conditions")?;
    maps.delete("a", &DeleteParams::default()).await?;
    must(is(maps.get("a").await, 404), "what is deleted is gone")
}

async fn status(client: &Client) -> Found {
    let deployments: Api<Deployment> = Api::default_namespaced(client.clone());
    let made = json!({
        "metadata": {"name": "d", "labels": {"made-by": "client"}},
        "spec": {
            "selector": {"matchLabels": {"app": "d"}},
            "template": {
                "metadata": {"labels": {"app": "d"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    });
    let made = deployments.create(&PostParams::default(), &serde_json::from_value(made)?).await?;
    let patch = json!({"status": {"observedGeneration": 1}, "spec": {"replicas": 7}});
    let patch = Patch::Merge(patch);
    let after = deployments.patch_status("d", &PatchParams::default(), &patch).await?;
    let observed = after.status.and_then(|it| it.observed_generation);
    let replicas = after.spec.replicas;
    must((observed, replicas) == (Some(1), Some(1)), "a status is written apart")?;
    must(after.metadata.generation == made.metadata.generation, "and is no change of the object")?;
    deployments.delete("d", &DeleteParams::default()).await?;
    Ok(())
}

/// kube's reflector and our informer follow the same collection.
async fn follow(maps: &Api<ConfigMap>) -> Found {
    let post = PostParams::default();
    maps.create(&post, &map("before", "1")?).await?;
    let (store, writer) = reflector::store();
    let stream = reflector(writer, watcher(maps.clone(), watcher::Config::default().labels(OWN)));
    let following = tokio::spawn(async move {
        let mut stream = pin!(stream);
        while std::future::poll_fn(|context| {
            futures_core::Stream::poll_next(stream.as_mut(), context)
        })
        .await
        .is_some()
        {}
    });
    let runtime = Tokio::current();
    let config = seatrial_kube::watcher::Config::default().labels(OWN);
    let ours = Arc::new(informer(&runtime, maps.clone(), &config));
    let (runs, token) = (Arc::clone(&ours), CancelToken::new(&runtime));
    let running = tokio::spawn(async move { runs.run_async(&token).await.is_ok() });
    tokio::time::timeout(Duration::from_secs(20), store.wait_until_ready()).await??;
    soon("our informer has the list", || ours.has_synced() && ours.store().len() == 1).await?;
    for name in ["m0", "m1", "m2"] {
        maps.create(&post, &map(name, "1")?).await?;
    }
    let patch = Patch::Merge(json!({"data": {"key": "2"}}));
    maps.patch("m1", &PatchParams::default(), &patch).await?;
    maps.delete("m2", &DeleteParams::default()).await?;
    let names = ["before", "m0", "m1"];
    let is_in_step = || {
        let theirs = store.state();
        let theirs =
            theirs.iter().filter(|it| names.contains(&it.metadata.name.as_deref().unwrap_or("")));
        let own = ours.store();
        let changed = own.get(&"default/m1".to_owned()).is_some_and(|it| value(&it) == "2");
        theirs.count() == 3 && store.len() == 3 && own.len() == 3 && changed
    };
    soon("both stores hold what the server holds", is_in_step).await?;
    following.abort();
    running.abort();
    maps.delete_collection(&DeleteParams::default(), &ListParams::default().labels(OWN)).await?;
    let left = maps.list(&ListParams::default().labels(OWN)).await?;
    must(left.items.is_empty(), "a collection is deleted at once")
}

/// The leader dies without freeing the Lease; another one leads, and frees it at the end.
async fn elect(client: &Client) -> Found {
    let timing = Timing {
        lease: Duration::from_secs(3),
        renew: Duration::from_secs(2),
        retry: Duration::from_millis(300),
    };
    let (tell, mut leads) = mpsc::channel(4);
    let replica = |name: &'static str| {
        let tell = tell.clone();
        LeaderElection::new(client.clone(), "default", "client")
            .identity(name)
            .timing(timing)
            .bounds(Bounds::default().work(Duration::from_millis(200)))
            .on_new_leader(move |leader| {
                if leader == name {
                    let _full = tell.try_send(name); // a full channel has been told before
                }
            })
    };
    let first = tokio::spawn(replica("first").run(|it| async move { it.lost().await }));
    must(leads.recv().await == Some("first"), "the first leads")?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let second = replica("second").graceful_shutdown_on(async move { drop(stopped.await) });
    let second = tokio::spawn(second.run(|it| async move { it.lost().await }));
    tokio::time::sleep(Duration::from_secs(1)).await;
    must(leads.try_recv().is_err(), "two never lead at once")?;
    first.abort();
    let next = tokio::time::timeout(Duration::from_secs(20), leads.recv()).await?;
    must(next == Some("second"), "the second leads when the first is dead")?;
    drop(stop);
    let _value = second.await??;
    let leases: Api<Lease> = Api::default_namespaced(client.clone());
    let spec = leases.get("client").await?.spec.unwrap_or_default();
    let holder = spec.holder_identity.unwrap_or_default();
    must(holder.is_empty(), "who ends in order frees the Lease")?;
    leases.delete("client", &DeleteParams::default()).await?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Found {
    let (client, own) = place::connect().await?;
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    reads_and_writes(&maps).await?;
    status(&client).await?;
    follow(&maps).await?;
    if own.is_none() {
        elect(&client).await?;
    }
    println!("kube-rs found everything");
    Ok(())
}
