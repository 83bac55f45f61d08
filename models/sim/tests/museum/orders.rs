//! Bugs that need an order and no fault: each holds under the default plan, and is found by a search in the
//! orders of requests and events.
//!
//! Two controllers lose each other's updates, both create what was not there, take a field that the other one
//! has taken, drop the finalizer of another one; and one acts by a cache that does not know its own write yet.

use std::fmt::Debug;
use std::time::Duration;

use futures::StreamExt as _;
use futures::future::{Either, select};
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event};
use kube::{Client, Error, Resource, ResourceExt as _};
use seatrial_sim::simulation::{Connection, Simulation};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Context, config_map, convict, ensure, named, pod, remove};

/// What a controller does once with the shared object. False: it is to be done again.
type Work = fn(Context, &'static str) -> futures::future::BoxFuture<'static, Result<(), Error>>;

/// Works until that is done, after as many looks at its own settings.
async fn works(
    connection: Connection,
    (name, looks): (&'static str, u32),
    mended: bool,
    work: Work,
) {
    let client = Client::new(connection, "default");
    let context = || Context { client: client.clone(), is_repaired: mended };
    for _ in 0..looks {
        drop(context().api::<ConfigMap>().get_opt(&format!("settings-of-{name}")).await);
    }
    while work(context(), name).await.is_err() {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    std::future::pending::<()>().await;
}

/// Two controllers that do the same work, the second one a little later.
fn two(mended: bool, work: Work) -> Simulation {
    Simulation::system()
        .process("a", move |it| works(it, ("a", 0), mended, work))
        .process("b", move |it| works(it, ("b", 2), mended, work))
        .given(&config_map("shared", &[("since", "ever")]))
        .random(0, 1)
        .orders(40)
}

/// The search convicts it early, by a short order; without the search nothing is wrong.
fn found(test: &str, simulation: impl Fn() -> Simulation, text: &str) {
    if std::env::var_os("SEATRIAL_REPLAY").is_none() {
        simulation().orders(0).check();
    }
    let failure = convict(test, &simulation, "order(");
    // Without control of chance it is the same order.
    let ordered = simulation().ordered().try_check().expect_err("it is found there, too");
    assert_eq!(ordered.plan, failure.plan);
    let orders = failure.orders.as_ref().expect("orders were tried");
    println!("{test}: found in order {:?} of {orders}", orders.failed_at);
    assert!(orders.failed_at.is_some_and(|it| it <= 20), "{failure}");
    assert!(failure.plan.to_string().matches(':').count() <= 4, "{}", failure.plan);
    assert!(format!("{:?}", failure.violations).contains(text), "{failure}");
}

/// All orders hold.
fn holds(simulation: Simulation) {
    let orders = simulation.check().orders.expect("orders were tried");
    assert!(orders.is_complete || orders.runs >= 40, "{orders:?}");
    assert!(orders.distinct > 1, "{orders}");
}

/// Enters itself in the shared map. The bug: the whole map is written back, whatever has become of it.
async fn enter(context: Context, name: &'static str) -> Result<(), Error> {
    let maps: Api<ConfigMap> = context.api();
    let mut shared = maps.get("shared").await?;
    shared.data.get_or_insert_default().insert(name.to_owned(), "here".to_owned());
    if !context.is_repaired {
        shared.metadata.resource_version = None;
    }
    maps.replace("shared", &PostParams::default(), &shared).await.map(drop)
}

#[test]
fn an_update_is_lost_that_came_between_a_read_and_a_write() {
    let test = "orders::an_update_is_lost_that_came_between_a_read_and_a_write";
    found(test, || two(false, |context, name| Box::pin(enter(context, name))), "shared.data.a");
}

#[test]
fn no_update_is_lost_by_writes_of_the_version_that_was_read() {
    holds(two(true, |context, name| Box::pin(enter(context, name))));
}

/// Creates a Secret for the map unless there is one. The bug: another one may do so meanwhile.
async fn provide(context: Context, _: &'static str) -> Result<(), Error> {
    let secrets: Api<Secret> = context.api();
    let own = ListParams::default().labels("of=shared");
    if !secrets.list(&own).await?.items.is_empty() {
        return Ok(());
    }
    let metadata = named("shared", &[("of", "shared")]);
    let mut secret = Secret { metadata, ..Secret::default() };
    if !context.is_repaired {
        (secret.metadata.name, secret.metadata.generate_name) = (None, Some("shared-".to_owned()));
    }
    ensure(&secrets, &secret).await
}

#[test]
fn two_create_what_was_not_there_when_they_looked() {
    let test = "orders::two_create_what_was_not_there_when_they_looked";
    found(test, || two(false, |context, name| Box::pin(provide(context, name))), "secrets");
}

#[test]
fn one_name_is_created_once() {
    holds(two(true, |context, name| Box::pin(provide(context, name))));
}

async fn annotate(maps: &Api<ConfigMap>, metadata: Value) -> Result<(), Error> {
    let patch = Patch::Merge(json!({"metadata": metadata}));
    maps.patch("shared", &PatchParams::default(), &patch).await.map(drop)
}

/// Takes the map by an annotation unless another one has. The bug: it may have been taken since.
async fn take(context: Context, name: &'static str) -> Result<(), Error> {
    let maps: Api<ConfigMap> = context.api();
    let key = if context.is_repaired { format!("seen-by-{name}") } else { "owner".to_owned() };
    if maps.get("shared").await?.annotations().contains_key(&key) {
        return Ok(());
    }
    annotate(&maps, json!({"annotations": {key: name}})).await
}

#[test]
fn the_last_one_takes_an_annotation_that_was_taken() {
    let test = "orders::the_last_one_takes_an_annotation_that_was_taken";
    found(test, || two(false, |context, name| Box::pin(take(context, name))), "owner");
}

#[test]
fn an_annotation_of_each_is_taken_by_nobody_else() {
    holds(two(true, |context, name| Box::pin(take(context, name))));
}

/// The first one takes the map, by the version that it has read.
async fn claim(context: Context, name: &'static str) -> Result<(), Error> {
    let maps: Api<ConfigMap> = context.api();
    let shared = maps.get("shared").await?;
    match shared.annotations().get("owner") {
        Some(owner) if owner != name => return Ok(()),
        Some(_) => {}
        None => {
            let version = shared.resource_version().filter(|_| context.is_repaired);
            let own = json!({"resourceVersion": version, "annotations": {"owner": name}});
            annotate(&maps, own).await?;
        }
    }
    // It is told in another place, which must be the same one.
    let patch = Patch::Merge(json!({"data": {name: "owns"}}));
    maps.patch("shared", &PatchParams::default(), &patch).await.map(drop)
}

#[test]
fn who_comes_first_may_differ_if_the_end_is_that_of_turns() {
    let claims = |mended| two(mended, |context, name| Box::pin(claim(context, name)));
    claims(true).try_check().expect_err("the other one may be the first");
    holds(claims(true).any_turn());
    let failure = claims(false).any_turn().try_check().expect_err("both own it");
    assert!(failure.plan.to_string().starts_with("order("), "{failure}");
}

/// Puts its own finalizer to the others, or takes its own one away. The bug: the list is written as it was
/// read, but for that.
async fn finalize(context: Context, name: &'static str) -> Result<(), Error> {
    let maps: Api<ConfigMap> = context.api();
    let shared = maps.get("shared").await?;
    let mut finalizers = shared.finalizers().to_vec();
    match name {
        "a" if !finalizers.iter().any(|it| it == "a.io/own") => {
            finalizers.push("a.io/own".to_owned());
        }
        "a" => return Ok(()),
        _ => finalizers.retain(|it| it != "b.io/own"),
    }
    let version = shared.resource_version().filter(|_| context.is_repaired);
    annotate(&maps, json!({"resourceVersion": version, "finalizers": finalizers})).await
}

fn finalized(mended: bool) -> Simulation {
    let mut volume = config_map("shared", &[]);
    volume.metadata.finalizers = Some(vec!["b.io/own".to_owned()]);
    let work: Work = |context, name| Box::pin(finalize(context, name));
    Simulation::system()
        .process("a", move |it| works(it, ("a", 0), mended, work))
        .process("b", move |it| works(it, ("b", 2), mended, work))
        .given(&volume)
        .random(0, 1)
        .orders(40)
}

#[test]
fn a_finalizer_is_removed_with_that_of_another() {
    let test = "orders::a_finalizer_is_removed_with_that_of_another";
    found(test, || finalized(false), "finalizers");
}

#[test]
fn a_finalizer_is_removed_alone_from_the_list_that_was_read() {
    holds(finalized(true));
}

/// Makes a pod for the map unless its cache knows one. The bug: the cache may not know of the last one yet.
async fn operates(connection: Connection, mended: bool) {
    let context = Context { client: Client::new(connection, "default"), is_repaired: mended };
    let config = watcher::Config::default().fields("metadata.name=request");
    let mut maps = watcher::watcher(context.api::<ConfigMap>(), config).boxed();
    let mut pods = watcher::watcher(context.api::<Pod>(), watcher::Config::default()).boxed();
    let (mut known, mut is_wanted, mut is_synced) = (0, false, false);
    loop {
        match select(maps.next(), pods.next()).await {
            Either::Left((Some(Ok(Event::Apply(_) | Event::InitApply(_))), _)) => is_wanted = true,
            Either::Right((Some(Ok(Event::Apply(_) | Event::InitApply(_))), _)) => known += 1,
            Either::Right((Some(Ok(Event::InitDone)), _)) => is_synced = true,
            Either::Left((None, _)) | Either::Right((None, _)) => return,
            _ => {}
        }
        if !(is_wanted && is_synced && known == 0) {
            continue;
        }
        is_wanted = false;
        let mut own = pod("worker", &[]);
        if !mended {
            (own.metadata.name, own.metadata.generate_name) = (None, Some("worker-".to_owned()));
        }
        if ensure(&context.api::<Pod>(), &own).await.is_err() {
            return;
        }
    }
}

/// Says that it has seen the map.
async fn audits(connection: Connection) {
    let maps: Api<ConfigMap> = Api::default_namespaced(Client::new(connection, "default"));
    let config = watcher::Config::default().fields("metadata.name=request");
    let mut events = watcher::watcher(maps.clone(), config).default_backoff().boxed();
    while let Some(event) = events.next().await {
        let Ok(Event::Apply(map) | Event::InitApply(map)) = event else { continue };
        if map.annotations().contains_key("audited") {
            continue;
        }
        let patch = Patch::Merge(json!({"metadata": {"annotations": {"audited": "yes"}}}));
        while maps.patch("request", &PatchParams::default(), &patch).await.is_err() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
}

fn audited(mended: bool) -> Simulation {
    Simulation::system()
        .process("operator", move |it| operates(it, mended))
        .process("auditor", audits)
        .create(&config_map("request", &[]))
        .random(0, 1)
        .orders(40)
}

#[test]
fn a_cache_that_does_not_know_its_own_write_makes_another_pod() {
    let test = "orders::a_cache_that_does_not_know_its_own_write_makes_another_pod";
    found(test, || audited(false), "pods");
}

#[test]
fn a_pod_of_one_name_is_made_once_whatever_the_cache_knows() {
    holds(audited(true));
}

/// Deletes an object once.
async fn gone<K>(objects: Api<K>) -> Result<(), Error>
where
    K: Clone + Debug + DeserializeOwned + Resource,
{
    match objects.get_opt("shared").await? {
        Some(object) => remove(&objects, &object).await,
        None => Ok(()),
    }
}

/// The first one deletes a Secret, and the other one the pod that needs it.
fn dismantled() -> Simulation {
    let secret: Work = |context, _| Box::pin(async move { gone::<Secret>(context.api()).await });
    let user: Work = |context, _| Box::pin(async move { gone::<Pod>(context.api()).await });
    Simulation::system()
        .process("a", move |it| works(it, ("a", 2), false, secret))
        .process("b", move |it| works(it, ("b", 0), false, user))
        .given(&Secret { metadata: named("shared", &[]), ..Secret::default() })
        .given(&pod("shared", &[]))
        .random(0, 1)
        .orders(40)
}

#[test]
fn a_rule_about_every_state_sees_the_order_of_writes_of_different_objects() {
    let orders = dismantled().check().orders.expect("orders were tried");
    assert_eq!((orders.distinct, orders.is_complete), (1, true), "{orders}");
    let ruled = || {
        dismantled().always(|state| {
            let is_there = |resource| state.get(resource, "default/shared").is_some();
            let is_fine = is_there("secrets") || !is_there("pods");
            if is_fine { Ok(()) } else { Err("the pod has no Secret".to_owned()) }
        })
    };
    ruled().orders(0).check();
    let failure = ruled().try_check().expect_err("the Secret may be gone before the pod");
    assert!(failure.plan.to_string().starts_with("order("), "{failure}");
    assert_eq!(failure.violations[0].text, ["the pod has no Secret"]);
}
