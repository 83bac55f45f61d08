//! Candidates that are tasks.

use std::future::pending;
use std::task::{Context, Waker};

use super::*;
use crate::elector::AsyncObjectStore;
use crate::elector::candidate::AsyncWatchCandidate;

impl AsyncWatchCandidate<System> for ManualWatch {
    type Watching = ();

    async fn watch(&self, name: &ObjectName, seen: Seen, token: &CancelToken) -> Option<()> {
        WatchCandidate::watch(self, name, seen, token)
    }
}

fn candidate<S: Send + Sync + 'static>(store: S) -> Candidate<S> {
    let failed = |error: &StoreError| panic!("nothing fails: {error}");
    Candidate::reporting(&System::new(), store, "ns", "candidate", spec(), failed)
}

fn watch(store: &Store) -> ManualWatch {
    ManualWatch { store: Arc::clone(store), seen: Arc::new(WorkQueue::new(&System::new())) }
}

#[test]
fn a_task_creates_its_object_answers_a_ping_and_ends_with_its_token() {
    let system = System::new();
    let store: Store = Arc::new(MemoryStore::new(&system));
    let (candidate, watch) = (candidate(Arc::clone(&store)), watch(&store));
    let token = CancelToken::new(&system);
    let run = {
        let (token, watch, system) = (token.clone(), watch.clone(), system);
        system.spawn("task", move || {
            system.block_on(candidate.run_async(&token, &watch));
        })
    };
    let (_, Handed(seen)) = watch.seen.take().unwrap();
    let mut object = wait_for(&store, |spec| spec.renew_time.is_some());
    let ping = Timestamp::from_micros(system.wall().as_nanos() / 1_000 + 1);
    object.content.ping_time = Some(ping);
    let pinged = ObjectStore::update(&store, &object, Call::default()).unwrap();
    seen(Some(pinged));
    wait_for(&store, |spec| spec.ping_time == Some(ping) && !spec.is_pinged());
    token.cancel();
    system.join(run).unwrap();
}

/// Never answers a write.
struct Hangs;

impl AsyncObjectStore<CandidateSpec> for Hangs {
    async fn get(&self, _: &ObjectName) -> Result<Object<CandidateSpec>, StoreError> {
        Err(StoreError::NotFound)
    }
    async fn create(&self, _: &Object<CandidateSpec>) -> Result<Object<CandidateSpec>, StoreError> {
        pending().await
    }
    async fn update(&self, _: &Object<CandidateSpec>) -> Result<Object<CandidateSpec>, StoreError> {
        pending().await
    }
}

#[test]
fn a_task_whose_call_hangs_ends_with_its_token_and_reports_no_failure() {
    let system = System::new();
    let store: Store = Arc::new(MemoryStore::new(&system));
    let (candidate, watch) = (candidate(Hangs), watch(&store));
    let token = CancelToken::new(&system);
    let mut run = std::pin::pin!(candidate.run_async(&token, &watch));
    assert!(run.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    token.cancel();
    system.block_on(run);
}

#[test]
fn a_task_does_nothing_if_its_token_has_ended() {
    let system = System::new();
    let store: Store = Arc::new(MemoryStore::new(&system));
    let token = CancelToken::new(&system);
    token.cancel();
    system.block_on(candidate(Arc::clone(&store)).run_async(&token, &watch(&store)));
    assert_eq!(
        ObjectStore::get(&store, &name(), Call::default()).err(),
        Some(StoreError::NotFound)
    );
}
