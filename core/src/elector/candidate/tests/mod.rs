//! Candidates over a store in memory, and how the server chooses.

mod awaited;
mod renewals;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::{
    Applicant, Candidate, CandidateSpec, Seen, WatchCandidate, nominate, oldest_emulation_version,
};
use crate::cancel::CancelToken;
use crate::elector::{
    Call, Config, Elector, LeaseLock, LeaseSpec, MemoryStore, Meta, Object, ObjectName,
    ObjectStore, Record, StoreError, Timestamp,
};
use crate::queue::WorkQueue;
use crate::runtime::{Ambient, Runtime, System};

type Store = Arc<MemoryStore<System, CandidateSpec>>;

fn spec() -> CandidateSpec {
    CandidateSpec {
        lease: "controller".into(),
        binary_version: "1.33.0".into(),
        emulation_version: "1.32.0".into(),
        ..CandidateSpec::default()
    }
}

fn name() -> ObjectName {
    ObjectName::new("ns", "candidate")
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

/// A watch that a test moves by hand: it passes on the state of the store on request.
#[derive(Clone)]
struct ManualWatch {
    store: Store,
    /// Receives the function for later states when the watch begins.
    seen: Arc<WorkQueue<Handed>>,
}

/// The function for later states; each value is different.
#[derive(Clone)]
struct Handed(Seen);

impl PartialEq for Handed {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
impl Eq for Handed {}
impl std::hash::Hash for Handed {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}
impl std::fmt::Debug for Handed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Handed")
    }
}

impl WatchCandidate<System> for ManualWatch {
    type Watching = ();

    fn watch(&self, name: &ObjectName, seen: Seen, token: &CancelToken) -> Option<()> {
        if token.is_cancelled() {
            return None;
        }
        seen(self.store.get(name, Call::default()).ok());
        self.seen.add(Handed(seen));
        Some(())
    }
}

/// Waits until the stored object meets a condition.
fn wait_for(store: &Store, says: impl Fn(&CandidateSpec) -> bool) -> Object<CandidateSpec> {
    let system = System::new();
    for _ in 0..5_000 {
        if let Ok(object) = store.get(&name(), Call::default())
            && says(&object.content)
        {
            return object;
        }
        system.sleep_until(system.now() + Duration::from_millis(1));
    }
    panic!("the candidate's object never says it");
}

#[test]
fn a_candidate_creates_its_object_answers_pings_and_ends_with_its_token() {
    let system = System::new();
    let store: Store = Arc::new(MemoryStore::new(&system));
    let failures = Arc::new(AtomicUsize::new(0));
    let candidate = {
        let failures = Arc::clone(&failures);
        let failed = move |error: &StoreError| {
            assert!(matches!(error, StoreError::Conflict | StoreError::AlreadyExists));
            failures.fetch_add(1, Ordering::Relaxed);
        };
        Candidate::reporting(&system, Arc::clone(&store), "ns", "candidate", spec(), failed)
    };
    let token = CancelToken::new(&system);
    let watch = ManualWatch { store: Arc::clone(&store), seen: Arc::new(WorkQueue::new(&system)) };
    let run = {
        let (token, watch) = (token.clone(), watch.clone());
        system.spawn("candidate", move || candidate.run(&token, &watch))
    };
    let (_, Handed(seen)) = watch.seen.take().unwrap();
    let mut object = wait_for(&store, |spec| spec.renew_time.is_some());
    assert_eq!(object.content.emulation_version.as_str(), "1.32.0");

    // The server pings; the candidate sees it and answers.
    let ping = Timestamp::from_micros(system.wall().as_nanos() / 1_000 + 1);
    object.content.ping_time = Some(ping);
    let pinged = store.update(&object, Call::default()).unwrap();
    assert!(pinged.content.is_pinged());
    // A cache that lags gives a conflict, which is retried with a later state of the watch.
    seen(Some(object));
    seen(Some(pinged));
    let answered = wait_for(&store, |spec| !spec.is_pinged());
    assert_eq!(answered.content.ping_time, Some(ping), "it is not cleared (LC-7)");

    token.cancel();
    system.join(run).unwrap();
}

#[test]
fn a_candidate_whose_token_has_ended_does_nothing() {
    let system = System::new();
    let store: Store = Arc::new(MemoryStore::new(&system));
    let candidate = Candidate::new(&system, Arc::clone(&store), "ns", "candidate", spec());
    let token = CancelToken::new(&system);
    token.cancel();
    let watch = ManualWatch { store: Arc::clone(&store), seen: Arc::new(WorkQueue::new(&system)) };
    candidate.run(&token, &watch);
    assert_eq!(store.get(&name(), Call::default()).unwrap_err(), StoreError::NotFound);
}

#[test]
fn a_ping_counts_until_a_later_renewal_and_an_absent_one_is_older_than_any() {
    let with = |ping: Option<i64>, renewed: Option<i64>| {
        let (ping_time, renew_time) = (ping.map(at), renewed.map(at));
        CandidateSpec { ping_time, renew_time, ..spec() }.is_pinged()
    };
    assert!(with(Some(2), Some(1)) && with(Some(2), None));
    assert!(!with(Some(2), Some(2)) && !with(Some(2), Some(3)));
    assert!(!with(None, Some(1)) && !with(None, None));
}

#[test]
fn an_object_without_a_lease_is_refused() {
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    let object = Object { meta: Meta::new(name()), content: CandidateSpec::default() };
    let refused = store.create(&object, Call::default()).unwrap_err();
    assert!(matches!(refused, StoreError::Invalid(_)));
}

fn applicant(identity: &str, emulation: &str, binary: &str, created: i64) -> Applicant {
    let spec = CandidateSpec {
        emulation_version: emulation.into(),
        binary_version: binary.into(),
        ..spec()
    };
    Applicant { identity: identity.into(), created: at(created), spec }
}

#[test]
fn the_lowest_versions_win_and_then_the_oldest_object() {
    let chosen = |applicants: &[Applicant]| {
        oldest_emulation_version(applicants).map(|applicant| applicant.identity.to_string())
    };
    assert_eq!(chosen(&[]), None);
    let mut applicants = vec![
        applicant("newer", "1.10", "1.10", 1),
        applicant("binary", "1.9", "1.11", 2),
        applicant("late", "1.9.0", "v1.10", 9),
        applicant("early", "1.9", "1.10", 3),
        applicant("odd", "latest", "1.1", 0),
    ];
    assert_eq!(chosen(&applicants).as_deref(), Some("early"));
    applicants[3].spec.ping_time = Some(at(50));
    assert_eq!(chosen(&applicants).as_deref(), Some("late"), "who does not answer is passed over");
}

#[test]
fn a_chosen_elector_renews_and_makes_room_for_the_preferred_one() {
    let system = System::new();
    let store: Arc<MemoryStore<System, LeaseSpec>> = Arc::new(MemoryStore::new(&system));
    let [a, b] = ["a", "b"].map(|identity| {
        let config = Config { coordinated: true, ..Config::new(identity) };
        let lock = LeaseLock::new(Arc::clone(&store), "ns", "controller");
        Elector::new(&system, lock, config).unwrap()
    });
    assert_eq!(a.attempt(), Ok(false), "nobody is chosen");

    let now = Timestamp::from(system.wall());
    let lease = ObjectName::new("ns", "controller");
    let chosen = nominate(&Record::default(), true, &"a".into(), 15, now).unwrap();
    let content = LeaseSpec::from_record(&chosen);
    store.create(&Object { meta: Meta::new(lease.clone()), content }, Call::default()).unwrap();
    assert_eq!((a.attempt(), b.attempt()), (Ok(true), Ok(false)));

    // The server wants another holder: this one stops renewing, and waits for its lease to end.
    let mut object = store.get(&lease, Call::default()).unwrap();
    let held = object.content.to_record();
    let wish = nominate(&held, false, &"b".into(), 15, now).unwrap();
    assert_eq!((wish.holder.as_str(), wish.preferred_holder.as_str()), ("a", "b"));
    assert_eq!(nominate(&wish, false, &"b".into(), 15, now), None, "it is said already");
    assert_eq!(nominate(&held, false, &"a".into(), 15, now), None, "it holds the lease already");
    object.content = LeaseSpec::from_record(&wish);
    store.update(&object, Call::default()).unwrap();
    assert_eq!((a.attempt(), b.attempt()), (Ok(false), Ok(false)), "LC-9");

    let mut object = store.get(&lease, Call::default()).unwrap();
    let moved = nominate(&object.content.to_record(), true, &"b".into(), 15, now).unwrap();
    assert!(moved.preferred_holder.is_empty() && moved.transitions > wish.transitions);
    object.content = LeaseSpec::from_record(&moved);
    store.update(&object, Call::default()).unwrap();
    assert_eq!((a.attempt(), b.attempt()), (Ok(false), Ok(true)));
}

/// Refuses the first writes.
struct Refuses(Store, AtomicUsize);

impl ObjectStore<CandidateSpec> for Refuses {
    fn get(&self, name: &ObjectName, call: Call<'_>) -> Result<Object<CandidateSpec>, StoreError> {
        self.0.get(name, call)
    }
    fn create(
        &self,
        object: &Object<CandidateSpec>,
        call: Call<'_>,
    ) -> Result<Object<CandidateSpec>, StoreError> {
        if self.1.fetch_add(1, Ordering::Relaxed) < 3 {
            return Err(StoreError::Timeout);
        }
        self.0.create(object, call)
    }
    fn update(
        &self,
        object: &Object<CandidateSpec>,
        call: Call<'_>,
    ) -> Result<Object<CandidateSpec>, StoreError> {
        self.0.update(object, call)
    }
}

#[test]
fn a_candidate_whose_write_fails_tries_again() {
    let system = System::new();
    let store: Store = Arc::new(MemoryStore::new(&system));
    let refuses = Refuses(Arc::clone(&store), AtomicUsize::new(0));
    let candidate = Candidate::new(&system, refuses, "ns", "candidate", spec());
    let token = CancelToken::new(&system);
    let watch = ManualWatch { store: Arc::clone(&store), seen: Arc::new(WorkQueue::new(&system)) };
    let run = {
        let token = token.clone();
        system.spawn("candidate", move || candidate.run(&token, &watch))
    };
    wait_for(&store, |spec| spec.renew_time.is_some());
    token.cancel();
    system.join(run).unwrap();
}
