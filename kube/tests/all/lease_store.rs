//! The store of Leases: the meaning of each answer of a server, and the fields that an update
//! keeps.

use std::time::Duration;

use crate::common::{Network, client, serve};
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Api, Patch, PatchParams};
use seatrial_core::elector::{
    AsyncObjectStore, LeaseSpec, Meta, Name, Object, ObjectName, StoreError, Timestamp,
};
use seatrial_kube::election::LeaseStore;
use seatrial_sim::apiserver::{Fault, Point, Trouble};
use serde_json::json;

const PATIENCE: Duration = Duration::from_secs(5);

fn held_by(who: &str) -> LeaseSpec {
    let at = Timestamp::parse("2026-01-02T03:04:05.678901Z");
    LeaseSpec::default()
        .holder(Some(Name::new(who)))
        .duration_seconds(Some(15))
        .acquire_time(at)
        .renew_time(at)
        .transitions(Some(3))
}

fn new(who: &str) -> Object<LeaseSpec> {
    Object::new(Meta::new(ObjectName::new("default", "operator")), held_by(who))
}

#[tokio::test]
async fn of_two_who_replace_the_same_state_one_is_refused() {
    let face = serve();
    let store = LeaseStore::new(client(face.address()), PATIENCE);
    let name = ObjectName::new("default", "operator");
    assert_eq!(store.get(&name).await.unwrap_err(), StoreError::NotFound);
    let unsaved = store.update(&new("a")).await.unwrap_err();
    assert_eq!(unsaved, StoreError::NotInitialised, "an update names a version");
    let created = store.create(&new("a")).await.unwrap();
    assert_eq!(created.content, held_by("a"));
    assert_eq!(store.create(&new("b")).await.unwrap_err(), StoreError::AlreadyExists);
    let (mut one, mut other) = (store.get(&name).await.unwrap(), store.get(&name).await.unwrap());
    one.content.holder = Some(Name::new("one"));
    other.content.holder = Some(Name::new("other"));
    let written = store.update(&one).await.unwrap();
    assert_ne!(written.meta.version, created.meta.version);
    assert_eq!(written.meta.uid, created.meta.uid);
    assert_eq!(store.update(&other).await.unwrap_err(), StoreError::Conflict);
    assert_eq!(store.get(&name).await.unwrap().content.holder, Some(Name::new("one")));
}

#[tokio::test]
async fn an_update_keeps_what_is_not_of_the_election() {
    let face = serve();
    let client = client(face.address());
    let store = LeaseStore::new(client.clone(), PATIENCE);
    let created = store.create(&new("a")).await.unwrap();
    let leases: Api<Lease> = Api::namespaced(client, "default");
    let foreign = json!({"metadata": {
        "labels": {"team": "storage"}, "annotations": {"note": "keep"}, "finalizers": ["x.y/z"],
    }});
    leases.patch("operator", &PatchParams::default(), &Patch::Merge(foreign)).await.unwrap();
    let mut read = store.get(&created.meta.name).await.unwrap();
    read.content = held_by("b").renew_time(None);
    store.update(&read).await.unwrap();
    let lease = leases.get("operator").await.unwrap();
    let (metadata, spec) = (lease.metadata, lease.spec.unwrap());
    assert_eq!(metadata.labels.unwrap()["team"], "storage");
    assert_eq!(metadata.annotations.unwrap()["note"], "keep");
    assert_eq!(metadata.finalizers.unwrap(), ["x.y/z"]);
    assert_eq!(spec.holder_identity.as_deref(), Some("b"));
    assert_eq!((spec.renew_time, spec.lease_transitions), (None, Some(3)));
}

#[tokio::test]
async fn a_write_whose_fate_is_unknown_is_no_refusal() {
    let face = serve();
    let network = Network::to(face.address()).await;
    let far = client(network.address);
    let store = LeaseStore::new(far.clone(), PATIENCE);
    let created = store.create(&new("a")).await.unwrap();
    for status in [500, 403] {
        let at = Point::of("PUT", "leases");
        let what = Trouble::Refuse { status, retry_after: None };
        face.with(|server| server.inject(Fault { at, after: 0, times: 1, what }));
        let error = store.update(&created).await.unwrap_err();
        assert!(matches!(error, StoreError::Other(_)), "{error:?}");
        assert!(error.may_have_been_applied());
    }
    let store = LeaseStore::new(far, Duration::from_millis(300));
    network.cut();
    assert_eq!(store.update(&created).await.unwrap_err(), StoreError::Timeout);
}

#[tokio::test]
async fn a_lease_that_breaks_a_rule_of_the_server_is_invalid() {
    let face = serve();
    let store = LeaseStore::new(client(face.address()), PATIENCE);
    let mut lease = new("a");
    lease.content.duration_seconds = Some(-1);
    let refused = store.create(&lease).await.unwrap_err();
    assert!(matches!(refused, StoreError::Invalid(_)), "{refused:?}");
}
