//! Leases as locks, and elections over them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use seatrial_core::cancel::CancelToken;
use seatrial_core::elector::{
    AsyncLock, Bounds, Call, Callbacks, Config, Elector, Leadership, LeaseLock, LeaseSpec, Lock,
    Name, ObjectName, ObjectStore, Record, StoreError, Stored, Timestamp, Timing,
};
use seatrial_core::request::Leases;
use seatrial_core::request::http::HttpTransport;
use seatrial_core::runtime::{Ambient, Runtime, System};
use seatrial_sim::apiserver::{Request, Trouble};
use serde_json::json;

use crate::bed::Cluster;

type Locked = LeaseLock<Leases<System, HttpTransport>>;

const PATH: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

const TIMING: Timing = Timing {
    lease: Duration::from_secs(3),
    renew: Duration::from_secs(1),
    retry: Duration::from_millis(50),
};

fn leases(cluster: &Cluster) -> Leases<System, HttpTransport> {
    Leases::new(cluster.client(), &TIMING)
}

fn lock(cluster: &Cluster) -> Locked {
    LeaseLock::new(leases(cluster), "default", "controller")
}

fn record(holder: &str, micros: i64) -> Record {
    let mut record = Record::default();
    record.holder = Name::new(holder);
    record.duration_seconds = 15;
    record.acquire_time = Some(Timestamp::from_micros(1));
    record.renew_time = Some(Timestamp::from_micros(micros));
    record
}

/// Of the two ways to call a lock, the one that blocks.
fn get(lock: &mut Locked) -> Result<Stored, StoreError> {
    Lock::get(lock, Call::default())
}

fn create(lock: &mut Locked, record: &Record) -> Result<Stored, StoreError> {
    Lock::create(lock, record, Call::default())
}

fn update(lock: &mut Locked, record: &Record, over: &Stored) -> Result<Stored, StoreError> {
    Lock::update(lock, record, &over.version, Call::default())
}

#[test]
fn a_record_is_written_as_a_lease_and_comes_back() {
    let cluster = Cluster::start();
    let labels = BTreeMap::from([("app".to_owned(), "web".to_owned())]);
    let mut lock = lock(&cluster).with_labels(labels);
    let written = record("a", 1_700_000_000_000_120);
    let stored = create(&mut lock, &written).unwrap();
    assert_eq!(stored.record, written);
    let lease = cluster.get(&format!("{PATH}/controller"));
    let spec = json!({
        "holderIdentity": "a", "leaseDurationSeconds": 15, "leaseTransitions": 0,
        "acquireTime": "1970-01-01T00:00:00.000001Z", "renewTime": "2023-11-14T22:13:20.000120Z",
    });
    for (field, value) in spec.as_object().unwrap() {
        assert_eq!(lease["spec"][field], *value, "{field}");
    }
    assert_eq!(lease["metadata"]["labels"]["app"], "web");
    assert_eq!(get(&mut lock).unwrap(), stored);
    assert_eq!(stored.version.to_string(), lease["metadata"]["resourceVersion"]);
}

#[test]
fn what_others_wrote_on_a_lease_stays() {
    let cluster = Cluster::start();
    let mut lock = lock(&cluster);
    create(&mut lock, &record("a", 1)).unwrap();
    let mut lease = cluster.get(&format!("{PATH}/controller"));
    lease["metadata"]["finalizers"] = json!(["example.com/keep"]);
    lease["metadata"]["annotations"] = json!({ "note": "theirs" });
    lease["spec"]["strategy"] = "OldestEmulationVersion".into();
    cluster.ask(&Request::new("PUT", &format!("{PATH}/controller")).json(&lease));
    let seen = get(&mut lock).unwrap();
    update(&mut lock, &record("b", 2), &seen).unwrap();
    let lease = cluster.get(&format!("{PATH}/controller"));
    assert_eq!(lease["metadata"]["finalizers"], json!(["example.com/keep"]));
    assert_eq!(lease["metadata"]["annotations"]["note"], "theirs");
    assert_eq!(lease["spec"]["holderIdentity"], "b");
    assert!(lease["spec"]["strategy"].is_null(), "the record has none");
}

#[test]
fn refusals_have_their_names() {
    let cluster = Cluster::start();
    let (mut first, mut second) = (lock(&cluster), lock(&cluster));
    assert_eq!(get(&mut first), Err(StoreError::NotFound));
    let mut timeless = record("a", 1);
    timeless.duration_seconds = 0;
    assert!(matches!(create(&mut first, &timeless), Err(StoreError::Invalid(_))));
    let created = create(&mut first, &record("a", 1)).unwrap();
    assert_eq!(create(&mut second, &record("b", 1)), Err(StoreError::AlreadyExists));
    let seen = get(&mut second).unwrap();
    update(&mut second, &record("b", 2), &seen).unwrap();
    assert_eq!(update(&mut first, &record("a", 3), &created), Err(StoreError::Conflict));
    let holder = cluster.get(&format!("{PATH}/controller"))["spec"]["holderIdentity"].clone();
    assert_eq!(holder, "b", "an update of an old version writes nothing");
    cluster.ask(&Request::new("DELETE", &format!("{PATH}/controller")));
    assert_eq!(update(&mut second, &record("b", 4), &seen), Err(StoreError::NotInitialised));
    let store = leases(&cluster);
    let name = ObjectName::new("default", "controller");
    let unversioned = seatrial_core::elector::Object::new(
        seatrial_core::elector::Meta::new(name),
        LeaseSpec::default(),
    );
    let result = ObjectStore::update(&store, &unversioned, Call::default());
    assert_eq!(result.map(drop), Err(StoreError::NotInitialised), "it would overwrite anything");
}

#[test]
fn nobody_knows_of_a_write_whose_answer_is_lost_and_it_is_not_sent_twice() {
    let cluster = Cluster::start();
    let mut lock = lock(&cluster);
    let stored = create(&mut lock, &record("a", 1)).unwrap();
    let before = cluster.revision();
    cluster.strike("PUT", "leases", Trouble::LoseAnswer);
    let lost = update(&mut lock, &record("a", 2), &stored).unwrap_err();
    assert!(lost.may_have_been_applied(), "{lost:?}");
    assert_eq!(cluster.revision(), before + 1);
    // A write that is sent again, though it is 30 s later, would be accepted.
    for status in [429, 500, 503] {
        let stored = get(&mut lock).unwrap();
        cluster.strike("PUT", "leases", Trouble::Refuse { status, retry_after: Some(30) });
        let refused = update(&mut lock, &record("a", 3), &stored).unwrap_err();
        assert!(refused.may_have_been_applied(), "{refused:?}");
    }
    assert_eq!(cluster.revision(), before + 1, "the elector decides when to ask again");
}

#[test]
fn a_call_that_hangs_ends_with_its_deadline_its_token_or_its_patience() {
    let cluster = Cluster::start();
    let system = System::new();
    let mut lock = lock(&cluster);
    create(&mut lock, &record("a", 1)).unwrap();
    // A call that does not end by itself has the answer in the end, which is no error.
    let hang = || cluster.strike("GET", "leases", Trouble::Delay(Duration::from_secs(20)));
    hang();
    let hour = Duration::from_secs(3_600);
    let patience = Timing { lease: 3 * hour, renew: 2 * hour, retry: hour };
    let leases = Leases::new(cluster.client(), &patience);
    let mut patient = LeaseLock::new(leases, "default", "controller");
    let mut call = Call::default();
    call.deadline = Some(system.now() + Duration::from_millis(100));
    assert_eq!(Lock::get(&mut patient, call), Err(StoreError::Timeout));
    hang();
    let token = CancelToken::with_deadline(&system, system.now() + Duration::from_millis(100));
    let mut call = Call::default();
    call.token = Some(&token);
    assert_eq!(Lock::get(&mut patient, call), Err(StoreError::Cancelled));
    hang();
    assert_eq!(get(&mut lock), Err(StoreError::Timeout));
    hang();
    assert_eq!(system.block_on(AsyncLock::get(&mut lock)), Err(StoreError::Timeout));
    assert_eq!(get(&mut lock).unwrap().record, record("a", 1));
}

/// Leads until its run is cancelled; counts who leads.
struct Candidate {
    leads: CancelToken,
    leaders: Arc<AtomicU32>,
}

impl Callbacks<System> for Candidate {
    fn started_leading(&self, leadership: &Leadership<System>) {
        assert_eq!(self.leaders.fetch_add(1, Ordering::SeqCst), 0, "another one leads");
        self.leads.cancel();
        leadership.wait();
        self.leaders.fetch_sub(1, Ordering::SeqCst);
    }

    fn stopped_leading(&self) {}
}

#[test]
fn when_a_leader_stops_without_a_word_another_leads_in_time() {
    let (cluster, system) = (Cluster::start(), System::new());
    let leaders = Arc::new(AtomicU32::new(0));
    let start = |identity: &'static str| {
        let bounds = Bounds::default().work(Duration::from_millis(100));
        let config = Config::new(identity).timing(TIMING).bounds(bounds);
        let elector = Elector::new(&system, lock(&cluster), config).expect("these times are safe");
        let (stop, leads) = (CancelToken::new(&system), CancelToken::new(&system));
        let leaders = Arc::clone(&leaders);
        let candidate = Arc::new(Candidate { leads: leads.clone(), leaders });
        let token = stop.clone();
        let run = move || elector.run(&token, &candidate).expect("it runs once");
        (system.spawn(identity, run), stop, leads)
    };
    let (first, stop, leads) = start("first");
    leads.wait();
    let (second, stop_second, leads) = start("second");
    // Renewals of more than the whole lease, while the other looks on.
    let (mut versions, all) = (BTreeSet::new(), TIMING.lease.div_duration_f64(TIMING.retry));
    cluster.wait_for(&Request::new("GET", &format!("{PATH}/controller")), |lease| {
        versions.insert(lease["metadata"]["resourceVersion"].to_string());
        versions.len() as f64 > all + 10.0
    });
    assert!(!leads.is_cancelled(), "a lease that is renewed is nobody else's");
    let stopped = Instant::now();
    stop.cancel();
    assert!(system.join(first).expect("a run ends"));
    leads.wait();
    let waited = stopped.elapsed();
    assert!(waited > TIMING.lease / 2, "the lease was not released: {waited:?}");
    let lease = cluster.get(&format!("{PATH}/controller"));
    assert_eq!(lease["spec"]["holderIdentity"], "second");
    assert_eq!(lease["spec"]["leaseTransitions"], 1);
    stop_second.cancel();
    assert!(system.join(second).expect("a run ends"));
}
