//! Several processes: two controllers that undo each other, and replicas that do not know of each other.
//!
//! In the manner of superset-kubernetes-operator 151 and LLMKube 484 (an operator sets back what the
//! autoscaler has set), crossplane 6285 (a controller overwrites the conditions of others when it
//! fails), tailscale 8580 (two replicas of an operator without an election), and karpenter 2808 (one
//! controller launches a machine twice, and another one has entered the first).

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use futures::future::{Either, select};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::controller::Action;
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt as _, watcher as watch};
use kube::{Client, Error, ResourceExt as _};
use seatrial_sim::simulation::{Connection, Failure, Simulation, State};
use serde_json::json;

use super::{Context, config_map, convict, ensure, named, pod, run, typed};

fn context(connection: Connection, is_repaired: bool) -> Context {
    Context { client: Client::new(connection, "default"), is_repaired }
}

/// The default plan convicts it, without any fault.
fn wrong(simulation: Simulation) -> Failure {
    let failure = *simulation.try_check().expect_err("the default plan convicts it");
    assert_eq!(failure.inadmissible, None);
    assert!(failure.plan.faults.is_empty(), "{}", failure.plan);
    failure
}

async fn scale(context: &Context, name: &str, replicas: i32) -> Result<(), Error> {
    let patch = Patch::Merge(json!({"spec": {"replicas": replicas}}));
    let deployments: Api<Deployment> = context.api();
    deployments.patch(name, &PatchParams::default(), &patch).await.map(drop)
}

fn replicas(deployment: &Deployment) -> i32 {
    deployment.spec.replicas.unwrap_or(1)
}

/// Brings a Deployment to what its parent says, which says nothing of replicas.
async fn operate(deployment: Arc<Deployment>, context: Arc<Context>) -> Result<Action, Error> {
    // The bug: nothing is taken for the default, which is 1.
    if !context.is_repaired && replicas(&deployment) != 1 {
        scale(&context, &deployment.name_any(), 1).await?;
    }
    if !deployment.annotations().contains_key("operated") {
        let patch = Patch::Merge(json!({"metadata": {"annotations": {"operated": "yes"}}}));
        let deployments: Api<Deployment> = context.api();
        deployments.patch(&deployment.name_any(), &PatchParams::default(), &patch).await?;
    }
    Ok(Action::await_change())
}

/// Looks every 15 seconds, as autoscalers do.
async fn autoscale(context: Context) {
    let deployments: Api<Deployment> = context.api();
    loop {
        if let Ok(Some(web)) = deployments.get_opt("web").await
            && replicas(&web) < 3
        {
            drop(scale(&context, "web", 3).await);
        }
        tokio::time::sleep(Duration::from_secs(15)).await;
    }
}

fn scaled(is_repaired: bool) -> Simulation {
    let labels = json!({"app": "web"});
    let container = json!({"name": "main", "image": "example"});
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": [container]}});
    let spec = json!({"replicas": 1, "selector": {"matchLabels": labels}, "template": template});
    let web = Deployment { metadata: named("web", &[]), ..typed(json!({"spec": spec})) };
    Simulation::system()
        .process("operator", move |it| {
            run(context(it, is_repaired), watcher::Config::default(), operate)
        })
        .process("autoscaler", move |it| autoscale(context(it, is_repaired)))
        .create(&web)
}

#[test]
fn an_operator_sets_back_what_the_autoscaler_sets() {
    let failure = wrong(scaled(false));
    let text = failure.violations[0].to_string();
    for line in [
        "autoscaler: change deployments.apps default/web, /spec/replicas from 1 to 3",
        "operator is told by its watch: MODIFIED deployments.apps default/web",
        "operator: change deployments.apps default/web, /spec/replicas from 3 to 1",
        "autoscaler looks: get deployments.apps default/web",
    ] {
        assert!(text.contains(line), "{line} is in\n{text}");
    }
}

#[test]
fn an_operator_that_leaves_the_replicas_to_the_autoscaler_rests() {
    let report = scaled(true).check();
    assert_eq!(report.per_minute.len(), 2, "{report}");
}

async fn condition(
    context: &Context,
    map: &ConfigMap,
    name: &str,
    value: &str,
) -> Result<(), Error> {
    if map.annotations().get(name).is_some_and(|it| it == value) {
        return Ok(());
    }
    let patch = Patch::Merge(json!({"metadata": {"annotations": {name: value}}}));
    let maps: Api<ConfigMap> = context.api();
    maps.patch(&map.name_any(), &PatchParams::default(), &patch).await.map(drop)
}

/// Composes what is not there yet. The bug: when it fails, nothing of the conditions is known any more,
/// also of those that are not its own.
async fn compose(map: Arc<ConfigMap>, context: Arc<Context>) -> Result<Action, Error> {
    let secrets: Api<Secret> = context.api();
    if secrets.get_opt("input").await?.is_some() {
        condition(&context, &map, "composed", "yes").await?;
        return Ok(Action::await_change());
    }
    condition(&context, &map, "composed", "unknown").await?;
    if !context.is_repaired && map.annotations().contains_key("checked") {
        condition(&context, &map, "checked", "unknown").await?;
    }
    Ok(Action::requeue(Duration::from_secs(60)))
}

async fn checks(map: Arc<ConfigMap>, context: Arc<Context>) -> Result<Action, Error> {
    tokio::time::sleep(Duration::from_secs(10)).await; // it takes its time
    condition(&context, &map, "checked", "yes").await?;
    Ok(Action::await_change())
}

fn composed(is_repaired: bool) -> Simulation {
    Simulation::system()
        .process("composer", move |it| {
            run(context(it, is_repaired), watcher::Config::default(), compose)
        })
        .process("checker", move |it| {
            run(context(it, is_repaired), watcher::Config::default(), checks)
        })
        .create(&config_map("database", &[]))
        .create(&Secret { metadata: named("input", &[]), ..Secret::default() })
}

#[test]
fn a_composer_that_fails_fights_for_the_conditions_of_others() {
    let text = wrong(composed(false)).violations[0].to_string();
    assert!(text.contains("composer: change configmaps default/database"), "{text}");
    assert!(text.contains("/metadata/annotations/checked from \"unknown\" to \"yes\""), "{text}");
}

#[test]
fn a_composer_that_writes_its_own_condition_rests() {
    composed(true).check();
}

/// Makes a Secret with a generated name for each map, found by its label.
async fn expose(map: Arc<ConfigMap>, context: Arc<Context>) -> Result<Action, Error> {
    let (secrets, name): (Api<Secret>, _) = (context.api(), map.name_any());
    let own = ListParams::default().labels(&format!("of={name}"));
    if secrets.list(&own).await?.items.is_empty() {
        let mut metadata = named("", &[("of", &name)]);
        (metadata.name, metadata.generate_name) = (None, Some(format!("{name}-")));
        let secret = Secret { metadata, ..Secret::default() };
        secrets.create(&PostParams::default(), &secret).await?;
    }
    Ok(Action::await_change())
}

/// Takes a Lease that is free, or that nobody has renewed for 15 seconds.
async fn acquire(leases: &Api<Lease>, me: &str) -> Lease {
    let mut seen = (None, tokio::time::Instant::now());
    loop {
        let found = leases.get_opt("election").await;
        let holder = Some(me.to_owned());
        let spec = Some(LeaseSpec { holder_identity: holder, ..LeaseSpec::default() });
        let taken = match found {
            Ok(None) => {
                let lease = Lease { metadata: named("election", &[]), spec };
                leases.create(&PostParams::default(), &lease).await
            }
            Ok(Some(lease)) if seen.0 != lease.resource_version() => {
                seen = (lease.resource_version(), tokio::time::Instant::now());
                tokio::time::sleep(Duration::from_secs(5)).await;
                continue;
            }
            Ok(Some(lease)) if seen.1.elapsed() > Duration::from_secs(15) => {
                let lease = Lease { spec, ..lease };
                leases.replace("election", &PostParams::default(), &lease).await
            }
            Ok(Some(lease)) => Ok(lease),
            Err(error) => Err(error),
        };
        match taken {
            Ok(lease)
                if lease
                    .spec
                    .as_ref()
                    .is_some_and(|it| it.holder_identity.as_deref() == Some(me)) =>
            {
                return lease;
            }
            _ => tokio::time::sleep(Duration::from_secs(5)).await,
        }
    }
}

/// Renews a Lease until that has failed for ten seconds.
async fn renew(leases: &Api<Lease>, mut lease: Lease) {
    let mut renewed = tokio::time::Instant::now();
    for count in 0.. {
        tokio::time::sleep(Duration::from_secs(4)).await;
        if let Some(spec) = lease.spec.as_mut() {
            spec.lease_duration_seconds = Some(15 + count % 2);
        }
        match leases.replace("election", &PostParams::default(), &lease).await {
            Ok(it) => (lease, renewed) = (it, tokio::time::Instant::now()),
            Err(_) if renewed.elapsed() > Duration::from_secs(10) => return,
            Err(_) => {}
        }
    }
}

async fn exposes(connection: Connection, is_elected: bool) {
    let me = connection.identity();
    let client = Client::new(connection, "default");
    let leases: Api<Lease> = Api::default_namespaced(client.clone());
    loop {
        let context = Context { client: client.clone(), is_repaired: is_elected };
        let work = run(context, watcher::Config::default(), expose);
        if !is_elected {
            return work.await;
        }
        let lease = acquire(&leases, &me).await;
        match select(Box::pin(work), Box::pin(renew(&leases, lease))).await {
            Either::Left(_) => return,
            Either::Right(_) => {}
        }
    }
}

fn one_each(state: &State) -> Result<(), String> {
    match state.list("secrets").count() {
        0 | 1 => Ok(()),
        more => Err(format!("{more} Secrets of one map")),
    }
}

fn exposed(is_elected: bool) -> Simulation {
    Simulation::system()
        .replicas("operator", 2, move |it| exposes(it, is_elected))
        .always(one_each)
        .create(&config_map("service", &[]))
}

#[test]
fn two_replicas_without_an_election_both_act() {
    let failure = wrong(exposed(false));
    assert_eq!(failure.violations[0].text[0], "2 Secrets of one map", "{failure}");
    assert!(failure.picture.contains("operator-0") && failure.picture.contains("operator-1"));
}

#[test]
fn two_replicas_with_a_lease_act_one_after_the_other() {
    let report = exposed(true).check();
    assert!(report.alone[0] >= 1, "the one that acts dies: {report}");
}

/// Launches a machine for each claim, and writes its name; then, that it is launched. The bug: a second
/// one that begins in between launches another machine.
async fn launch(claim: Arc<ConfigMap>, context: Arc<Context>) -> Result<Action, Error> {
    let (claims, pods): (Api<ConfigMap>, Api<Pod>) = (context.api(), context.api());
    let name = claim.name_any();
    if claim.annotations().contains_key("launched") {
        return Ok(Action::await_change());
    }
    let mut machine = pod(&format!("{name}-machine"), &[("claim", &name)]);
    if !context.is_repaired {
        (machine.metadata.name, machine.metadata.generate_name) = (None, Some(format!("{name}-")));
    }
    let machine = match context.is_repaired {
        true => {
            ensure(&pods, &machine).await?;
            machine.name_any()
        }
        false => pods.create(&PostParams::default(), &machine).await?.name_any(),
    };
    for patch in [
        json!({"data": {"machine": machine}}),
        json!({"metadata": {"annotations": {"launched": "yes"}}}),
    ] {
        claims.patch(&name, &PatchParams::default(), &Patch::Merge(patch)).await?;
    }
    Ok(Action::await_change())
}

/// Enters the machine of a claim as its node, once.
async fn register(context: Context) {
    let mut events = watch(context.api(), watcher::Config::default()).default_backoff().boxed();
    while let Some(event) = events.next().await {
        let Ok(Event::Apply(claim) | Event::InitApply(claim)) = event else { continue };
        let claim: ConfigMap = claim;
        let data = claim.data.clone().unwrap_or_default();
        let Some(machine) = data.get("machine").filter(|_| !data.contains_key("node")) else {
            continue;
        };
        let patch = Patch::Merge(json!({"data": {"node": machine}}));
        let claims: Api<ConfigMap> = context.api();
        while claims.patch(&claim.name_any(), &PatchParams::default(), &patch).await.is_err() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
}

fn launched(is_repaired: bool) -> Simulation {
    Simulation::system()
        .process("launcher", move |it| {
            run(context(it, is_repaired), watcher::Config::default(), launch)
        })
        .process("registrar", move |it| register(context(it, is_repaired)))
        .create(&config_map("claim", &[]))
}

#[test]
fn a_second_machine_is_launched_and_the_first_is_the_node() {
    let test = "systems::a_second_machine_is_launched_and_the_first_is_the_node";
    let failure = convict(test, || launched(false), "crash(launcher,");
    let text = format!("{:?}", failure.violations);
    assert!(text.contains("pods default/claim-"), "{failure}");
}

#[test]
fn a_machine_with_the_name_of_its_claim_is_launched_once() {
    launched(true).check();
}
