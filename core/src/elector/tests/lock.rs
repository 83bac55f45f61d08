//! Locks over a store in memory.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::elector::{
    ANNOTATION, Call, Config, ConfigMap, ConfigMapLock, Elector, Endpoints, EndpointsLock,
    EventRecorder, Fields, LeaseLock, LeaseSpec, Lock, LockEvent, LockKind, LockKindError,
    MemoryStore, Meta, Name, Object, ObjectName, ObjectStore, PairLock, Record, StoreError, Timing,
    UNKNOWN_HOLDER, Version,
};
use crate::runtime::System;
use crate::runtime::probe::{Probe, Probing};

type Store = Arc<MemoryStore<System, LeaseSpec>>;

fn store() -> Store {
    Arc::new(MemoryStore::new(&System::new()))
}

fn name() -> ObjectName {
    ObjectName::new("ns", "lease")
}

fn record(holder: &str) -> Record {
    Record { holder: holder.into(), duration_seconds: 15, ..Record::default() }
}

#[test]
fn a_store_swaps_only_the_version_that_is_named() {
    let store = store();
    let object = Object { meta: Meta::new(name()), content: LeaseSpec::from_record(&record("a")) };
    let missing = store.update(&object, Call::default());
    assert_eq!(missing.unwrap_err(), StoreError::NotFound);
    let first = store.create(&object, Call::default()).unwrap();
    let again = store.create(&object, Call::default());
    assert_eq!(again.unwrap_err(), StoreError::AlreadyExists);
    let second = store.update(&first, Call::default()).unwrap();
    assert_ne!(first.meta.version, second.meta.version);
    assert_eq!(first.meta.uid, second.meta.uid);
    let mut made_up = second.clone();
    made_up.meta.uid = "made up".into();
    let third = store.update(&made_up, Call::default()).unwrap();
    assert_eq!(third.meta.uid, first.meta.uid, "the store says who it is");
    assert_eq!(store.update(&first, Call::default()).unwrap_err(), StoreError::Conflict);
    let unread = store.update(&object, Call::default());
    assert_eq!(unread.unwrap_err(), StoreError::Conflict, "it names no version");
    assert!(store.delete(&name()) && !store.delete(&name()));
    let reborn = store.create(&object, Call::default()).unwrap();
    assert_ne!(reborn.meta.uid, first.meta.uid);
}

#[test]
fn a_store_drops_objects_without_its_lock() {
    let (store, probe) = (store(), Arc::<Probe>::default());
    let named = |number| -> Arc<dyn std::any::Any + Send + Sync> {
        Arc::new(Probing(number, Arc::clone(&probe)))
    };
    let mut meta = Meta::new(name());
    meta.rest = Some(named(1));
    let object = Object { meta, content: LeaseSpec::from_record(&record("a")) };
    let mut stored = store.create(&object, Call::default()).unwrap();
    drop(object);
    stored.meta.rest = Some(named(2));
    let asked = Arc::clone(&store);
    probe.calls(move || drop(asked.get(&name(), Call::default())));
    store.update(&stored, Call::default()).unwrap();
    drop(stored);
    store.delete(&name());
    assert_eq!(probe.ends(), (2, 2));
}

#[test]
fn a_store_refuses_what_an_api_server_refuses() {
    let invalid = |record: Record| LeaseSpec::from_record(&record).validate().is_err();
    assert!(!invalid(record("a")));
    assert!(invalid(Record { duration_seconds: 0, ..record("a") }));
    assert!(invalid(Record { transitions: -1, ..record("a") }));
    assert!(invalid(Record { preferred_holder: "b".into(), ..record("a") }));
    let chosen = Record { preferred_holder: "b".into(), strategy: "S".into(), ..record("a") };
    assert!(!invalid(chosen));
    let spec = LeaseSpec::from_record(&Record { preferred_holder: "b".into(), ..record("a") });
    assert!(LeaseSpec { strategy: Some(Name::EMPTY), ..spec }.validate().is_err());
    assert!(LeaseSpec::default().validate().is_ok(), "every field is optional");
}

#[test]
fn an_absent_spec_reads_as_an_empty_record() {
    assert_eq!(LeaseSpec::default().to_record(), Record::default());
}

#[test]
fn a_record_survives_the_lease_and_numbers_that_do_not_fit_are_cut() {
    let whole = Record { strategy: "S".into(), transitions: 4, ..record("a") };
    assert_eq!(LeaseSpec::from_record(&whole).to_record(), whole);
    let huge = Record { transitions: i64::MAX, duration_seconds: i64::MIN, ..record("a") };
    let spec = LeaseSpec::from_record(&huge);
    assert_eq!((spec.transitions, spec.duration_seconds), (Some(i32::MAX), Some(i32::MIN)));
    assert_eq!(LeaseSpec::from_record(&record("")).holder, Some(Name::EMPTY), "always written");
    assert_eq!(LeaseSpec::from_record(&record("")).strategy, None);
    assert_eq!(LeaseSpec::from_record(&record("a")).transitions, Some(0), "a number is written");
}

#[test]
fn an_update_needs_a_remembered_object_of_that_version() {
    let mut lock = LeaseLock::new(store(), "ns", "lease");
    let early = lock.update(&record("a"), &Version::Number(1), Call::default());
    assert_eq!(early, Err(StoreError::NotInitialised));
    let none = Version::new("");
    assert!(lock.update(&record("a"), &none, Call::default()).is_err());
    let created = lock.create(&record("a"), Call::default()).unwrap();
    let updated = lock.update(&record("a"), &created.version, Call::default()).unwrap();
    let stale = lock.update(&record("a"), &created.version, Call::default());
    assert_eq!(stale, Err(StoreError::NotInitialised));
    let none = lock.update(&record("a"), &none, Call::default());
    assert_eq!(none, Err(StoreError::NotInitialised));
    assert!(lock.update(&record("b"), &updated.version, Call::default()).is_ok());
    assert_eq!(lock.describe(), "ns/lease");
}

#[test]
fn an_update_keeps_what_others_put_on_the_object_and_adds_configured_labels() {
    let store = store();
    let mut meta = Meta::new(name());
    meta.annotations = Some(BTreeMap::from([("note".to_owned(), "keep".to_owned())]));
    let label = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    meta.labels = Some(BTreeMap::from([label("app", "another"), label("tier", "keep")]));
    meta.rest = Some(Arc::new("owner"));
    let object = Object { meta, content: LeaseSpec::default() };
    store.create(&object, Call::default()).unwrap();

    let labels = BTreeMap::from([label("app", "x")]);
    let mut lock = LeaseLock::new(Arc::clone(&store), "ns", "lease").with_labels(labels);
    let read = lock.get(Call::default()).unwrap();
    lock.update(&record("a"), &read.version, Call::default()).unwrap();

    let meta = store.get(&name(), Call::default()).unwrap().meta;
    let labels = BTreeMap::from([label("app", "x"), label("tier", "keep")]);
    assert_eq!(meta.labels, Some(labels), "LK-15");
    assert_eq!(meta.annotations.unwrap()["note"], "keep", "LK-2");
    assert!(meta.rest.unwrap().is::<&str>());
}

#[test]
fn a_failed_call_leaves_the_remembered_object() {
    let store = store();
    let mut lock = LeaseLock::new(Arc::clone(&store), "ns", "lease");
    let created = lock.create(&record("a"), Call::default()).unwrap();
    store.delete(&name());
    assert_eq!(lock.get(Call::default()), Err(StoreError::NotFound));
    let update = lock.update(&record("a"), &created.version, Call::default());
    assert_eq!(update, Err(StoreError::NotFound), "the call was made (LK-3)");
    let again = lock.update(&record("a"), &created.version, Call::default());
    assert_eq!(again, Err(StoreError::NotFound), "and is made again");
}

/// Counts the events.
#[derive(Default)]
struct Events(AtomicUsize);

impl EventRecorder for Events {
    fn record(&self, event: LockEvent) {
        assert_eq!((event.kind, event.api_version), ("Lease", "coordination.k8s.io/v1"));
        assert_eq!((event.reason, event.object), ("LeaderElection", name()));
        assert_eq!(event.message, "100%_{} became leader", "it is data, not a format");
        let received = usize::from(!event.uid.is_empty());
        self.0.fetch_add(1 + 10 * received, Ordering::Relaxed);
    }
}

#[test]
fn an_event_needs_no_remembered_object() {
    let events = Arc::new(Events::default());
    let mut lock = LeaseLock::new(store(), "ns", "lease")
        .with_recorder(Arc::clone(&events) as Arc<dyn EventRecorder>);
    let who = Name::new("100%_{}");
    lock.record_event(&who, "became leader");
    assert_eq!(events.0.load(Ordering::Relaxed), 1, "LK-16");
    lock.create(&record("a"), Call::default()).unwrap();
    lock.record_event(&who, "became leader");
    assert_eq!(events.0.load(Ordering::Relaxed), 12, "with the uid of what was received");
}

#[test]
fn retired_kinds_are_known_and_refused() {
    assert_eq!(LockKind::current("leases"), Ok(LockKind::Leases));
    for kind in LockKind::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
        if let Some(replacement) = kind.replacement() {
            let error = LockKind::current(kind.name()).unwrap_err();
            assert_eq!(error, LockKindError::Retired { kind, replacement });
            assert!(error.to_string().contains(replacement.name()));
        }
    }
    assert!(LockKind::current("Leases").is_err(), "names are written as they are");
    assert!(LockKind::current("files").unwrap_err().to_string().contains("leases"));
}

type ConfigMaps = Arc<MemoryStore<System, ConfigMap>>;

fn config_maps(annotation: Option<&str>) -> ConfigMaps {
    let store = Arc::new(MemoryStore::new(&System::new()));
    let mut meta = Meta::new(name());
    meta.rest = Some(Arc::new("data"));
    meta.annotations =
        annotation.map(|text| BTreeMap::from([(ANNOTATION.to_owned(), text.to_owned())]));
    store.create(&Object { meta, content: ConfigMap }, Call::default()).unwrap();
    store
}

#[test]
fn an_annotation_holds_the_record_and_the_rest_of_the_object_stays() {
    let store = config_maps(None);
    let mut lock = ConfigMapLock::new(Arc::clone(&store), "ns", "lease");
    let read = lock.get(Call::default()).unwrap();
    assert_eq!(read.record, Record::default(), "LK-19");
    let written = lock.update(&record("a"), &read.version, Call::default()).unwrap();
    assert_eq!(written.record, record("a"));
    let meta = store.get(&name(), Call::default()).unwrap().meta;
    let text = &meta.annotations.unwrap()[ANNOTATION];
    assert!(text.starts_with(r#"{"holderIdentity":"a","#) && !text.contains("strategy"), "{text}");
    assert!(meta.rest.unwrap().is::<&str>(), "LK-18");
}

#[test]
fn a_new_object_with_an_annotation_alone_is_created() {
    let store: Arc<MemoryStore<System, Endpoints>> = Arc::new(MemoryStore::new(&System::new()));
    let mut lock =
        EndpointsLock::new(Arc::clone(&store), "ns", "lease").with_fields(Fields::Current);
    let has_all_fields = || {
        let annotations = store.get(&name(), Call::default()).unwrap().meta.annotations;
        annotations.unwrap()[ANNOTATION].contains("preferredHolder")
    };
    assert_eq!(lock.get(Call::default()), Err(StoreError::NotFound));
    let created = lock.create(&record("a"), Call::default()).unwrap();
    assert!(has_all_fields());
    lock.update(&record("a"), &created.version, Call::default()).unwrap();
    assert!(has_all_fields());
    assert_eq!(lock.get(Call::default()).unwrap().record, record("a"));
}

#[test]
fn a_corrupt_annotation_blocks_the_election() {
    let mut lock = ConfigMapLock::new(config_maps(Some("{")), "ns", "lease");
    assert!(matches!(lock.get(Call::default()), Err(StoreError::Invalid(_))));
    let mut lock = ConfigMapLock::new(config_maps(Some("")), "ns", "lease");
    assert!(matches!(lock.get(Call::default()), Err(StoreError::Invalid(_))));
}

#[test]
fn an_object_without_the_annotation_is_taken_at_once_as_the_first_transition() {
    let config = Config::new("a");
    let lock = ConfigMapLock::new(config_maps(None), "ns", "lease");
    let elector = Elector::new(&System::new(), lock, config).unwrap();
    assert_eq!(elector.attempt(), Ok(true));
    assert_eq!(elector.observed().record.transitions, 1, "LK-21");
    assert_eq!(elector.attempt(), Ok(true));
}

#[test]
fn a_change_of_format_counts_as_a_change() {
    let text = record("other").to_json(Fields::Older);
    let store = config_maps(Some(&text));
    let lock = ConfigMapLock::new(Arc::clone(&store), "ns", "lease");
    let elector = Elector::new(&System::new(), lock, Config::new("a")).unwrap();
    assert_eq!(elector.attempt(), Ok(false));
    let first = elector.observed().at;
    assert_eq!(elector.attempt(), Ok(false));
    assert_eq!(elector.observed().at, first);
    let mut object = store.get(&name(), Call::default()).unwrap();
    object.meta.annotations = Some(BTreeMap::from([(ANNOTATION.to_owned(), format!(" {text}"))]));
    store.update(&object, Call::default()).unwrap();
    assert_eq!(elector.attempt(), Ok(false));
    assert!(elector.observed().at > first, "LK-19");
}

type Pair = PairLock<ConfigMapLock<ConfigMaps>, LeaseLock<Store>>;

fn pair(identity: &str, maps: &ConfigMaps, leases: &Store) -> Pair {
    PairLock::new(
        identity.into(),
        ConfigMapLock::new(Arc::clone(maps), "ns", "lease"),
        LeaseLock::new(Arc::clone(leases), "ns", "lease"),
    )
}

#[test]
fn a_pair_writes_both_and_reads_the_first() {
    let (maps, leases) = (config_maps(None), store());
    let mut lock = pair("a", &maps, &leases);
    let read = lock.get(Call::default()).unwrap();
    let written = lock.update(&record("a"), &read.version, Call::default()).unwrap();
    assert_eq!(written.record.holder.as_str(), "a");
    let second = leases.get(&name(), Call::default()).unwrap();
    assert_eq!(second.content.to_record().holder.as_str(), "a", "created: it was missing");
    let stale = lock.update(&record("a"), &read.version, Call::default());
    assert_eq!(stale, Err(StoreError::NotInitialised));
    let again = lock.update(&record("a"), &written.version, Call::default()).unwrap();
    assert_ne!(again.version, written.version);
    let both = lock.get(Call::default()).unwrap();
    assert_eq!((both.record.holder.as_str(), both.version), ("a", again.version));
}

#[test]
fn a_pair_creates_both_although_the_first_exists() {
    let (maps, leases) = (config_maps(None), store());
    let mut lock = pair("a", &maps, &leases);
    lock.create(&record("a"), Call::default()).unwrap();
    assert!(leases.get(&name(), Call::default()).is_ok());
    let again = lock.create(&record("a"), Call::default());
    assert_eq!(again, Err(StoreError::AlreadyExists), "the second decides");
}

#[test]
fn a_pair_respects_who_knows_the_first_alone() {
    let maps = config_maps(Some(&record("old").to_json(Fields::Older)));
    let leases = store();
    let mut other = pair("a", &maps, &leases);
    assert_eq!(other.get(Call::default()).unwrap().record.holder.as_str(), "old");
    let mut own = pair("old", &maps, &leases);
    assert_eq!(own.get(Call::default()), Err(StoreError::NotFound), "it must create the second");
}

#[test]
fn a_pair_that_disagrees_is_held_by_nobody_known() {
    let maps = config_maps(Some(&record("a").to_json(Fields::Older)));
    let leases = store();
    LeaseLock::new(Arc::clone(&leases), "ns", "lease")
        .create(&record("b"), Call::default())
        .unwrap();
    for identity in ["a", "b", "c"] {
        let mut lock = pair(identity, &maps, &leases);
        let read = lock.get(Call::default()).unwrap();
        assert_eq!(read.record.holder.as_str(), UNKNOWN_HOLDER);
    }
}

#[test]
fn an_election_over_a_pair_leads_and_renews() {
    let (maps, leases) = (config_maps(None), store());
    let config = Config::new("b");
    let lock = pair(config.identity.as_str(), &maps, &leases);
    let elector = Elector::new(&System::new(), lock, config).unwrap();
    assert_eq!(elector.attempt(), Ok(true));
    assert_eq!(elector.attempt(), Ok(true), "renews");
    assert_eq!(elector.release(), Ok(true));
}

#[test]
fn an_own_client_gives_up_after_half_the_renew_deadline() {
    assert_eq!(Timing::seconds(15, 10, 2).request_timeout(), Duration::from_secs(5));
    assert_eq!(Timing::seconds(3, 1, 1).request_timeout(), Duration::from_secs(1), "LK-28");
}

#[test]
fn a_version_is_a_number_only_if_it_is_written_as_one() {
    assert_eq!(Version::new("12"), Version::Number(12));
    for text in ["012", "01", "00", "+12", "", "12 ", "99999999999999999999"] {
        let version = Version::new(text);
        assert_eq!(version.to_string(), text);
        assert_eq!(version.compare(&Version::new("12")), None, "{text}");
    }
}

#[test]
fn the_events_of_a_pair_go_to_both() {
    let events = Arc::new(Events::default());
    let lock = || {
        let recorder = Arc::clone(&events) as Arc<dyn EventRecorder>;
        LeaseLock::new(store(), "ns", "lease").with_recorder(recorder)
    };
    let who = Name::new("100%_{}");
    let pair = PairLock::new(who.clone(), lock(), lock());
    Lock::record_event(&pair, &who, "became leader");
    assert_eq!(events.0.load(Ordering::Relaxed), 2);
}
