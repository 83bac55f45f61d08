//! Stale: a controller begins anew on a replica that lags, and deletes what is needed.
//!
//! In the manner of zookeeper-operator 314 and rabbitmq cluster-operator 648 (deletion by an old
//! timestamp), and of cass-operator 559 and casskop 316 (deletion by an old scale).

use std::fmt::Debug;
use std::sync::Arc;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim};
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::runtime::controller::Action;
use kube::runtime::watcher;
use kube::{Error, Resource, ResourceExt as _};
use seatrial_sim::simulation::Simulation;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::on_kube::on_kube;
use super::{Context, claim, config_map, convict, ensure, label, remove, run, typed};

const FINALIZER: &str = "museum.example/claim";

/// The present object, if the reconciler is repaired: a decision to lose something for ever needs
/// the newest state, not a cache. The bug is to trust the cache.
async fn newest<K>(cached: Arc<K>, context: &Context) -> Result<Option<Arc<K>>, Error>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
        + Clone
        + Debug
        + DeserializeOwned,
{
    if context.is_repaired {
        let found = context.api::<K>().get_opt(&cached.name_any()).await?;
        return Ok(found.map(Arc::new));
    }
    Ok(Some(cached))
}

/// Keeps a claim for each parent, and deletes it with its parent.
async fn by_timestamp(parent: Arc<ConfigMap>, context: Arc<Context>) -> Result<Action, Error> {
    let Some(parent) = newest(parent, &context).await? else { return Ok(Action::await_change()) };
    let claims: Api<PersistentVolumeClaim> = context.api();
    let (name, uid) = (parent.name_any(), parent.uid().unwrap_or_default());
    let parents: Api<ConfigMap> = context.api();
    let is_going = parent.metadata.deletion_timestamp.is_some();
    if let Some(claim) = claims.get_opt(&name).await? {
        let is_its_own = label(&claim, "parent") == uid;
        let is_over = if context.is_repaired { is_its_own == is_going } else { is_going };
        if is_over {
            remove(&claims, &claim).await?;
        }
    }
    let mut metadata = json!({"finalizers": if is_going { vec![] } else { vec![FINALIZER] }});
    if context.is_repaired {
        metadata["uid"] = uid.as_str().into();
    }
    let patch = Patch::Merge(json!({"metadata": metadata}));
    if parent.finalizers().is_empty() != is_going {
        match parents.patch(&name, &PatchParams::default(), &patch).await {
            Err(Error::Api(status)) if status.code == 404 => return Ok(Action::await_change()),
            other => other.map(drop)?,
        }
    }
    if !is_going {
        ensure(&claims, &claim(&name, &[("parent", &uid)])).await?;
    }
    Ok(Action::await_change())
}

fn timestamps(is_repaired: bool) -> Simulation {
    let zoo = config_map("zoo", &[]);
    on_kube(move |client| {
        // With pages, kube leaves the version out, and gets the newest.
        let config = watcher::Config { page_size: None, ..watcher::Config::default() };
        run(Context { client, is_repaired }, config.any_semantic(), by_timestamp)
    })
    .create(&zoo)
    .delete("ConfigMap", "zoo")
    .create(&zoo)
}

/// Keeps a claim for each replica, and deletes those of replicas that are not wanted any more.
async fn by_scale(set: Arc<StatefulSet>, context: Arc<Context>) -> Result<Action, Error> {
    let Some(set) = newest(set, &context).await? else { return Ok(Action::await_change()) };
    let claims: Api<PersistentVolumeClaim> = context.api();
    let (name, wanted) = (set.name_any(), set.spec.replicas.unwrap_or(1));
    for number in 0..wanted {
        let ordinal = number.to_string();
        let labels = [("set", name.as_str()), ("ordinal", ordinal.as_str())];
        ensure(&claims, &claim(&format!("{name}-{number}"), &labels)).await?;
    }
    let all = claims.list(&ListParams::default().labels(&format!("set={name}"))).await?;
    for claim in all.items {
        let ordinal: i32 = label(&claim, "ordinal").parse().unwrap_or(0);
        if ordinal >= wanted {
            remove(&claims, &claim).await?;
        }
    }
    Ok(Action::await_change())
}

fn scales(is_repaired: bool) -> Simulation {
    let template = json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": "example"}]},
    });
    let mut web: StatefulSet = typed(json!({"spec": {
        "replicas": 3, "serviceName": "web",
        "selector": {"matchLabels": {"app": "web"}}, "template": template,
    }}));
    web.metadata = super::named("web", &[]);
    on_kube(move |client| {
        // The initial list as a stream accepts any version.
        run(Context { client, is_repaired }, watcher::Config::default().streaming_lists(), by_scale)
    })
    .create(&web)
    .patch("StatefulSet", "web", json!({"spec": {"replicas": 1}}))
    .patch("StatefulSet", "web", json!({"spec": {"replicas": 3}}))
}

#[test]
fn a_claim_is_deleted_by_an_old_timestamp() {
    let failure = convict(
        "stale::a_claim_is_deleted_by_an_old_timestamp",
        || timestamps(false),
        "stale(configmaps,",
    );
    let rule = failure.violations[0].rule;
    assert_eq!(rule, "nothing is deleted or made anew that the run without faults keeps");
}

#[test]
fn a_claim_that_knows_its_parent_is_kept() {
    timestamps(true).check();
}

#[test]
fn claims_are_deleted_by_an_old_scale() {
    let failure = convict(
        "stale::claims_are_deleted_by_an_old_scale",
        || scales(false),
        "stale(statefulsets.apps,",
    );
    assert_eq!(failure.violations[0].text.len(), 2, "two claims are lost");
}

#[test]
fn claims_are_kept_if_the_newest_scale_decides() {
    scales(true).check();
}
