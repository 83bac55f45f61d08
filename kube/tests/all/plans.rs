//! A controller of this crate under the default plan of faults: crashes after each write, restarts
//! on lagging replicas, changes that no watch sends, and several of these at random.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::common::small::{maps, reconcile, secrets};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, Resource as _, ResourceExt};
use seatrial_core::runtime::Tokio;
use seatrial_kube::controller::{Action, Controller};
use seatrial_kube::watcher::Config;
use seatrial_sim::simulation::{Simulation, State};
use serde_json::json;

/// A simulation of what this function runs.
fn on_kube<F: Future + 'static>(run: impl Fn(Client) -> F + Send + Sync + 'static) -> Simulation {
    Simulation::of(move |connection| run(Client::new(connection, "default")))
}

/// A controller that draws the same random numbers in every run of a plan.
fn seeded(client: &Client, config: Config) -> Controller<ConfigMap> {
    Controller::on(&Tokio::seeded(1), maps(client), config.clone().labels("role=parent"))
        .owns(secrets(client), config)
}

async fn by_streams(client: Client) {
    let controller = seeded(&client, Config::default());
    let run = controller.run(reconcile, |_, _, _| Action::Requeue, Arc::new(client));
    run.await.expect("all is listed");
}

async fn by_pages(client: Client) {
    let controller = seeded(&client, Config::default().list_watch());
    let run = controller.run(reconcile, |_, _, _| Action::Requeue, Arc::new(client));
    run.await.expect("all is listed");
}

/// Has a bug: it assumes that a parent with its finalizer also has its Secret, but a process may
/// die between the two.
async fn forgetful(client: Client) {
    let reconcile = async |map: Arc<ConfigMap>, client: Arc<Client>| {
        if map.metadata.deletion_timestamp.is_none() && !map.finalizers().is_empty() {
            return Ok(Action::Done);
        }
        reconcile(map, client).await
    };
    let controller = seeded(&client, Config::default());
    let run = controller.run(reconcile, |_, _, _| Action::Requeue, Arc::new(client));
    run.await.expect("all is listed");
}

fn parent(name: &str) -> ConfigMap {
    let map = json!({"metadata": {"name": name, "labels": {"role": "parent"}}, "data": {"x": "1"}});
    serde_json::from_value(map).expect("a map")
}

/// The actions of a user on two parents.
fn used(simulation: Simulation) -> Simulation {
    let one_is_left = |state: &State| {
        let secrets: Vec<_> = state.list("secrets").map(|it| it["data"]["x"].clone()).collect();
        if secrets == ["Mg=="] { Ok(()) } else { Err(format!("the Secrets hold {secrets:?}")) }
    };
    simulation
        .create(&parent("a"))
        .create(&parent("b"))
        .patch("ConfigMap", "a", json!({"data": {"x": "2"}}))
        .delete("ConfigMap", "b")
        .at_end(one_is_left)
}

#[test]
fn a_small_operator_holds_under_every_plan() {
    let report = used(on_kube(by_streams)).check();
    let [crashes, _, unobserved] = report.alone;
    assert!(crashes >= 7, "two finalizers, two Secrets, a change, two deletions: {report}");
    assert!(unobserved > 0, "{report}");
}

#[test]
fn it_holds_on_replicas_that_lag() {
    // A list by pages shows the state of a lagging replica; a stream begins with the newest state.
    let report = used(on_kube(by_pages)).check();
    assert!(report.alone[1] > 0, "{report}");
}

#[test]
fn a_crash_between_two_writes_convicts_one_that_forgets_the_second() {
    let failure = on_kube(forgetful).create(&parent("a")).try_check().expect_err("a bug");
    assert_eq!(failure.plan.to_string(), "crash(1)");
    assert_eq!(failure.violations[0].text, ["- secrets default/a is missing"]);
    assert_eq!(failure.inadmissible, None);
}

/// How many reconciles of one namespace run at the same time: now, and at most.
type Hands = Arc<[AtomicUsize; 2]>;

/// Keeps a map, owned by the namespace, in each namespace with a label.
async fn keeper(client: Client, hands: Hands) {
    let keep = async |space: Arc<Namespace>, (client, hands): (Client, Hands)| {
        hands[1].fetch_max(hands[0].fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        let owner = space.controller_owner_ref(&());
        let map = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "kept", "ownerReferences": [owner]},
        });
        let maps: Api<ConfigMap> = Api::namespaced(client, &space.name_any());
        let kept = maps.patch("kept", &PatchParams::apply("keeper"), &Patch::Apply(map)).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        hands[0].fetch_sub(1, Ordering::Relaxed);
        kept.map(|_| Action::Done)
    };
    let reconcile = move |space, context: Arc<(Client, Hands)>| keep(space, (*context).clone());
    let spaces: Api<Namespace> = Api::all(client.clone());
    Controller::on(&Tokio::seeded(1), spaces, Config::default().labels("keep=yes"))
        .owns(Api::<ConfigMap>::all(client.clone()), Config::default())
        .concurrency(4)
        .run(reconcile, |_, _, _| Action::Requeue, Arc::new((client, hands)))
        .await
        .expect("all is listed");
}

#[test]
fn what_lies_in_no_namespace_learns_of_what_it_owns_in_one() {
    let hands = Hands::default();
    let shared = Arc::clone(&hands);
    let space = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "n", "labels": {"keep": "yes"}},
    });
    let kept = |state: &State| match state.get("configmaps", "n/kept") {
        Some(_) => Ok(()),
        None => Err("it does not come back".to_owned()),
    };
    let run = move |client| keeper(client, Arc::clone(&shared));
    let simulation = on_kube(run).create(&space).delete("ConfigMap", "n/kept").at_end(kept);
    simulation.replay("").check();
    assert_eq!(hands[1].load(Ordering::Relaxed), 1, "two at once");
}
