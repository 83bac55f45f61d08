//! Wishes that a server completes: who compares what it wants with what is stored, and writes if they
//! differ, writes for ever; and fields that must stay, so that what is wanted is refused for ever.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::runtime::controller::Action;
use kube::runtime::watcher;
use kube::{Error, Resource, ResourceExt as _};
use seatrial_sim::simulation::{Failure, Simulation};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::on_kube::on_kube;
use super::{Context, config_map, ensure, named, run};

fn deployment() -> Value {
    json!({
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "example"}]},
        },
    })
}

fn service() -> Value {
    json!({"selector": {"app": "web"}, "ports": [{"port": 80}]})
}

/// Makes an object as it is wanted, and again until the stored one is equal.
async fn write_if_they_differ<K>(
    context: &Context,
    mut wanted: Value,
    name: &str,
) -> Result<Action, Error>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
        + Clone
        + Debug
        + DeserializeOwned
        + Serialize,
{
    let api: Api<K> = context.api();
    wanted["apiVersion"] = K::api_version(&()).into();
    wanted["kind"] = K::kind(&()).into();
    wanted["metadata"] = json!({"name": name});
    if context.is_repaired {
        let manager = PatchParams::apply("operator").force();
        api.patch(name, &manager, &Patch::Apply(&wanted)).await?;
        return Ok(Action::await_change());
    }
    let mut object: K = serde_json::from_value(wanted.clone()).expect("it is of its kind");
    let Some(found) = api.get_opt(name).await? else {
        ensure(&api, &object).await?;
        return Ok(Action::requeue(Duration::from_secs(1)));
    };
    // The bug: the server has filled in what was left out, so they always differ.
    let stored = serde_json::to_value(&found).expect("it is JSON");
    if stored["spec"] == wanted["spec"] {
        return Ok(Action::await_change());
    }
    object.meta_mut().resource_version = found.resource_version();
    api.replace(name, &PostParams::default(), &object).await?;
    // To see whether it is as wanted now.
    Ok(Action::requeue(Duration::from_secs(1)))
}

async fn deploy(parent: Arc<ConfigMap>, context: Arc<Context>) -> Result<Action, Error> {
    let wanted = json!({"spec": deployment()});
    write_if_they_differ::<Deployment>(&context, wanted, &parent.name_any()).await
}

async fn serve(parent: Arc<ConfigMap>, context: Arc<Context>) -> Result<Action, Error> {
    let wanted = json!({"spec": service()});
    write_if_they_differ::<Service>(&context, wanted, &parent.name_any()).await
}

fn deployments(is_repaired: bool) -> Simulation {
    on_kube(move |client| run(Context { client, is_repaired }, watcher::Config::default(), deploy))
        .create(&config_map("web", &[]))
}

fn services(is_repaired: bool) -> Simulation {
    on_kube(move |client| run(Context { client, is_repaired }, watcher::Config::default(), serve))
        .create(&config_map("web", &[]))
}

/// Runs a job with the image of its parent.
async fn migrate(parent: Arc<ConfigMap>, context: Arc<Context>) -> Result<Action, Error> {
    let jobs: Api<Job> = context.api();
    let image = parent.data.as_ref().and_then(|it| it.get("image")).cloned().unwrap_or_default();
    // The bug: the template of a job must stay. The repaired one makes a job for each image.
    let name = if context.is_repaired { format!("migrate-{image}") } else { "migrate".to_owned() };
    let pod = json!({"restartPolicy": "Never", "containers": [{"name": "m", "image": image}]});
    let spec = json!({"template": {"spec": pod}});
    let Some(found) = jobs.get_opt(&name).await? else {
        let spec = serde_json::from_value(spec).expect("it is the specification of a job");
        ensure(&jobs, &Job { metadata: named(&name, &[]), spec: Some(spec), status: None }).await?;
        return Ok(Action::await_change());
    };
    let template = found.spec.and_then(|it| it.template.spec);
    if template.and_then(|it| it.containers[0].image.clone()) != Some(image) {
        jobs.patch(&name, &PatchParams::default(), &Patch::Strategic(json!({"spec": spec})))
            .await?;
    }
    Ok(Action::await_change())
}

fn migrations(is_repaired: bool) -> Simulation {
    on_kube(move |client| run(Context { client, is_repaired }, watcher::Config::default(), migrate))
        .create(&config_map("app", &[("image", "one")]))
        .patch("ConfigMap", "app", json!({"data": {"image": "two"}}))
}

/// It is convicted without any fault.
fn convict(simulation: Simulation) -> Box<Failure> {
    let failure = simulation.try_check().expect_err("it never comes to an end");
    println!("{failure}");
    assert_eq!(failure.plan.faults.len(), 0, "{}", failure.plan);
    failure
}

#[test]
fn who_writes_a_deployment_that_differs_from_the_wanted_one_writes_for_ever() {
    convict(deployments(false));
}

#[test]
fn who_writes_a_service_that_differs_from_the_wanted_one_writes_for_ever() {
    convict(services(false));
}

#[test]
fn who_applies_what_is_wanted_comes_to_rest() {
    deployments(true).check();
    services(true).check();
}

#[test]
fn a_changed_image_of_a_job_is_refused_for_ever() {
    let failure = convict(migrations(false));
    assert!(failure.to_string().contains("422"), "{failure}");
}

#[test]
fn a_job_for_each_image_is_made() {
    migrations(true).check();
}
